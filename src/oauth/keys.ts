import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from 'jose'
import { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { buckets } from '../http/rate-limit.ts'

type Clock = () => number
type Held = { keyOf: LocalJWKSet; at: number }

/**
 * The keys an issuer signs with. A key that is not known is looked for again, so a rotation needs no restart; how often
 * the issuer is asked is bounded, whatever tokens are shown. While it cannot be asked, the keys that are known serve on.
 * @param now milliseconds that never go back
 * @throws INTERNAL_ERROR with a time to wait while there is no key to decide by
 */
export function keyRing(
  load: () => Promise<JSONWebKeySet>,
  now: Clock = () => performance.now(),
): JWTVerifyGetKey {
  const budget = buckets(LIMITS.issuerLoadsPerMinute, LIMITS.issuerLoadBurst)
  let held: Held | undefined
  let failure: unknown
  let pending: Promise<void> | undefined

  const ask = async (): Promise<void> => {
    try {
      held = { keyOf: createLocalJWKSet(await load()), at: now() }
      failure = undefined
    } catch (error) {
      failure = error
    }
  }
  /** Loads the keys, together with all who want them now; undefined, or how long to wait until that may be. */
  const refresh = async (): Promise<number | undefined> => {
    if (!pending) {
      const { left, waitMs } = budget.take('', now())
      if (left < 0) return waitMs
      pending = ask().finally(() => {
        pending = undefined
      })
    }
    await pending
    return undefined
  }
  const age = () => (held ? now() - held.at : Number.POSITIVE_INFINITY)

  return async (header, token) => {
    let waitMs = age() > LIMITS.issuerKeysMs ? await refresh() : undefined
    if (!held || age() > LIMITS.issuerKeysStaleMs) throw unreachable(failure, waitMs)
    try {
      return await held.keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      waitMs = await refresh()
      // The key may be a new one: as long as that cannot be known, the token is not said to be false.
      if (failure !== undefined) throw unreachable(failure, waitMs)
      if (waitMs !== undefined) throw error
      return held.keyOf(header, token)
    }
  }
}

const RETRY_SECONDS = 5

const unreachable = (cause: unknown, waitMs: number | undefined) =>
  new DomainError('INTERNAL_ERROR', 'The token cannot be checked: its issuer is not reachable.', {
    cause,
    retryAfterSeconds: waitMs === undefined ? RETRY_SECONDS : Math.max(1, Math.ceil(waitMs / 1000)),
    details: [
      {
        path: 'header/Authorization',
        code: 'issuer_unreachable',
        message: 'Wait for Retry-After. Tokens made by this server work meanwhile.',
      },
    ],
  })
