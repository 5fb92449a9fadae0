import type { z } from 'zod'
import { ALL_BASES, SecretBody } from '../../../contract/secret-shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import { outside, requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import { existingBases } from '../../core/existing-base.ts'
import { checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Secret as Row } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { lastVersions } from '../lifecycle/version-history.ts'
import { administersReach, managesSecret, placeOf, type Secret, toSecret } from './secret.ts'

type Input = z.output<typeof SecretBody>

// Concurrent writes of one name wait for each other, also while it is absent.
export const LOCK_NAME = statement(
  'lock_secret_name',
  `SELECT pg_advisory_xact_lock(hashtextextended('secret:' || $1, 0))::text`,
)

/**
 * Creates a secret, or changes it: what is left out stays as it is. A new one needs a value, and is open to all
 * production bases unless it names others.
 * @throws FORBIDDEN outside the bases that the caller administers; VALIDATION_ERROR; CONFLICT
 */
export async function putSecret(
  scope: WriteScope,
  name: string,
  sent: object,
  expected: Expectation,
): Promise<Secret> {
  requireAnyAdmin(scope, 'secrets')
  const input = check(SecretBody, sent, inBody())
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    await lockCreator(tx, scope)
    await tx.query(LOCK_NAME, [name])
    const current = await tx.orm.secret.findUnique({ where: { id: name } })
    if (current && !(await managesSecret(scope.access, current.bases))) throw isTaken()
    const bases = [...new Set(input.bases ?? current?.bases ?? [ALL_BASES])]
    if (!current || input.bases) await checkBases(within, bases, input.bases === undefined)
    checkVersion(expected, current?.version, `secret "${name}"`)
    return store(within, name, { current, input, bases })
  })
}

/** @throws FORBIDDEN for a base that the caller does not administer; VALIDATION_ERROR for one that is absent */
async function checkBases(scope: WriteScope, bases: readonly string[], isDefault: boolean): Promise<void> {
  const at = bases.findIndex((reach) => !administersReach(scope.access, reach))
  if (at >= 0) throw outsideBase(isDefault ? '/bases' : `/bases/${at}`)
  const named = bases.filter((reach) => reach !== ALL_BASES).map((reach) => reach.replace(/--\*$/, ''))
  const present = await existingBases(scope.db, named)
  const [first, ...more] = bases.flatMap((reach, n) =>
    reach === ALL_BASES || present.has(reach.replace(/--\*$/, '')) ? [] : [absentBase(n)],
  )
  if (first) throw invalid(first, ...more)
}

type Change = { current: Row | null; input: Input; bases: string[] }

async function store(scope: WriteScope, name: string, { current, input, bases }: Change): Promise<Secret> {
  const { vault, db } = scope
  if (!current && input.value === undefined) throw needsValue()
  const description = input.description === undefined ? (current?.description ?? null) : input.description
  const value =
    current && (input.value === undefined || vault.open(placeOf(name), current.value) === input.value)
      ? current.value
      : vault.seal(placeOf(name), input.value ?? '')
  const isSame =
    current !== null &&
    value === current.value &&
    description === current.description &&
    bases.join() === current.bases.join()
  if (isSame) return { ...toSecret(current), operation: 'unchanged' }
  const data = { description, bases, value, updatedAt: new Date() }
  const row = current
    ? await db.orm.secret.update({ where: { id: name }, data: { ...data, version: { increment: 1 } } })
    : await db.orm.secret.create({ data: { ...data, ...(await origin(scope, name)) } })
  const operation = current ? 'update' : 'create'
  await log(scope, operation, row)
  return { ...toSecret(row), operation: current ? 'updated' : 'created' }
}

/** What a new secret is created with. Versions go on from those of a former one of the name. */
async function origin({ db, actor }: WriteScope, id: string) {
  const last = (await lastVersions(db, { name: 'secret' }, ACCOUNT, [id])).get(id) ?? 0
  const createdAt = new Date()
  return { id, version: last + 1, createdBy: actor.tokenId, createdAt, updatedAt: createdAt }
}

/** Appends to the log of the account, without the value. */
export function log(
  scope: WriteScope & { readonly db: Db },
  operation: 'create' | 'update' | 'delete',
  row: Omit<Row, 'value'>,
  version = row.version,
): Promise<void> {
  const { description, bases } = row
  const state = { id: row.id, description, bases }
  return appendChange(scope, { baseId: ACCOUNT, kind: 'secret', id: row.id, operation, version, state })
}

const isTaken = () =>
  outside('/name', 'A secret of this name is outside the bases you administer. Use another name.')

const outsideBase = (path: string) =>
  outside(
    path,
    'The token must have "admin" on each base that the secret is open to. Name such bases in "bases".',
  )

const absentBase = (n: number) => ({
  path: `/bases/${n}`,
  code: 'base_not_found',
  message: 'There is no such base. Create it first, or name one that exists.',
})

const needsValue = () =>
  invalid({
    path: '/value',
    code: 'required',
    message: '"value" is required for a new secret.',
    expected: 'string',
  })
