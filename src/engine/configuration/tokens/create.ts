/** API tokens: a token makes only tokens with rights inside its own. */
import { TokenBody } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { newToken, type Token, toToken } from '../../core/authentication/authenticate.ts'
import { administers, basesOf, outside, requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import { existingBases } from '../../core/existing-base.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { parseChangeCondition } from '../../data/filter/change-condition.ts'
import { type Grant, rulesOf } from '../../storage/access/grants.ts'
import type { Db } from '../../storage/database/client.ts'
import { storeToken } from './store.ts'

export type TokenInput = {
  name: string
  kind?: string | null | undefined
  grants: unknown
  expiresAt?: string | null
}

/**
 * Creates a token. Each grant must be covered by one of the creator's grants, and the token cannot outlive
 * the creator's.
 */
export async function createToken(scope: WriteScope, input: TokenInput): Promise<Token> {
  requireAnyAdmin(scope)
  const sent = { name: input.name, kind: input.kind ?? undefined, grants: input.grants }
  const { name, kind = 'program', grants } = check(TokenBody, sent, inBody())
  const expiresAt = input.expiresAt ? new Date(input.expiresAt) : null
  for (const [index, grant] of grants.entries()) {
    if (turnIsOver()) await nextTurn()
    if (!administers(scope.access, grant)) throw outsideGrant(index)
    for (const [n, { filter }] of rulesOf(grant).entries())
      if (filter !== undefined) parseChangeCondition(filter, `/grants/${index}/writes/auto/${n}/filter`)
  }
  const token = newToken()
  return scope.db.transaction(async (tx) => {
    const end = await lockCreator(tx, scope)
    if (end && (!expiresAt || expiresAt > end)) throw outlives(end)
    const faults = [...checkExpiry(expiresAt), ...(await missingBases(tx, grants))]
    const [first, ...rest] = faults
    if (first) throw invalid(first, ...rest)
    const row = await storeToken({ ...scope, db: tx }, token, {
      ...{ name, kind, expiresAt },
      grants: grants as object[],
      createdBy: scope.actor.tokenId,
    })
    return { ...toToken(row), token }
  })
}

async function missingBases(db: Db, grants: readonly Grant[]): Promise<Detail[]> {
  const named = [...new Set(grants.flatMap((grant) => basesOf(grant)))].filter((id) => id !== '*')
  const existing = await existingBases(db, named)
  return grants.flatMap((grant, index) =>
    basesOf(grant).some((id) => id !== '*' && !existing.has(id))
      ? [
          {
            path: `/grants/${index}/base`,
            code: 'base_not_found',
            message: 'There is no such base. Create it first, or name one that exists.',
          },
        ]
      : [],
  )
}

function checkExpiry(expiresAt: Date | null): Detail[] {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return []
  return [{ path: '/expires_at', code: 'in_the_past', message: 'expires_at must be in the future.' }]
}

const outsideGrant = (index: number) =>
  outside(
    `/grants/${index}`,
    'Each grant of a new token must be covered by a grant of the token that creates it.',
  )
const outlives = (end: Date) =>
  outside('/expires_at', `A new token cannot expire after the token that creates it: ${end.toISOString()}.`)
