/** People who sign in at an identity provider: who they are, what they may do, and whether they still may. */
import type { Oidc } from '../../config/read-config.ts'
import type { Engine } from '../../engine/engine.ts'
import { DomainError } from '../../foundation/errors.ts'
import { nameIn } from '../../foundation/invisible-characters.ts'
import { type Claims, grantsFor, readRules } from './mapping.ts'
import { type Known, openProvider, type Started } from './provider.ts'

export const CALLBACK = '/sign-in/callback'
/** A tab, or a client by its refresh token. */
type Renewed = { tokenId?: string; refreshToken?: string }
const ENDS: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'FORBIDDEN'])
const NAMES = ['name', 'preferred_username', 'email']

export function openPeople({ authorizations }: Pick<Engine, 'authorizations'>, oidc: Oidc) {
  const rules = readRules(oidc.mapping)
  const wanted = rules.map(({ claim }) => claim)
  const provider = openProvider(oidc, (origin) => `${origin}${CALLBACK}`, wanted)
  const identityOf = ({ claims, subject, refreshToken }: Known) => ({
    ...{ issuer: oidc.issuer, subject, refreshToken },
    name: nameOf(claims, subject),
    grants: grantsFor(rules, claims),
  })
  const settling = new Map<string, Promise<boolean>>()

  const renew = async (by: Renewed, requestId: string): Promise<boolean> => {
    const due = await authorizations.takeDue(requestId, by)
    if (due?.refreshToken == null) return true
    try {
      const found = identityOf(await provider.renew(due.subject, due.refreshToken))
      await authorizations.settleDue(requestId, due, found)
      return true
    } catch (thrown) {
      const isOver = thrown instanceof DomainError && ENDS.has(thrown.code)
      await authorizations.settleDue(requestId, due, isOver ? 'ended' : 'unreachable')
      if (!isOver) throw thrown
      return false
    }
  }
  return {
    /** The host that people know their provider by. */
    host: new URL(oidc.issuer).host,
    start: provider.start,
    /** Returns the one-time code of a browser. */
    finish: async (origin: string, sent: URLSearchParams, started: Started, requestId: string) =>
      authorizations.enter(requestId, identityOf(await provider.finish(origin, sent, started))),
    /**
     * Asks the provider again, if the last answer is some minutes old. Requests at the same time wait for one. False for a person who
     * may no longer.
     * @throws INTERNAL_ERROR while it cannot be reached
     */
    renew: (by: Renewed, requestId: string): Promise<boolean> => {
      const key = by.tokenId ?? by.refreshToken ?? ''
      const running = settling.get(key) ?? renew(by, requestId).finally(() => settling.delete(key))
      settling.set(key, running)
      return running
    },
  }
}
export type People = ReturnType<typeof openPeople>

function nameOf(claims: Claims, subject: string): string {
  const found = NAMES.map((name) => claims[name]).find((each) => typeof each === 'string' && each !== '')
  return nameIn(String(found ?? subject), 100) || 'unnamed'
}
