import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from 'jose'
import { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { buckets } from '../http/rate-limit.ts'

type Clock = () => number
type CachedKeys = { keyOf: LocalJWKSet; at: number }

/**
 * Key cache of an issuer. An unknown key id triggers a reload, so key rotation needs no restart. Reloads are
 * rate-limited, whatever tokens arrive. If the issuer is unreachable, known keys stay valid for a while.
 * @param now a monotonic clock in milliseconds
 * @throws INTERNAL_ERROR with a retry time if no key is available
 */
export function keyRing(
  load: () => Promise<JSONWebKeySet>,
  now: Clock = () => performance.now(),
): JWTVerifyGetKey {
  const budget = buckets(LIMITS.issuerLoadsPerMinute, LIMITS.issuerLoadBurst)
  let cached: CachedKeys | undefined
  let failure: unknown
  let pending: Promise<void> | undefined

  const ask = async (): Promise<void> => {
    try {
      cached = { keyOf: createLocalJWKSet(await load()), at: now() }
      failure = undefined
    } catch (error) {
      failure = error
    }
  }
  /** Reloads the keys, shared by concurrent callers. Returns the wait time if the rate limit forbids it. */
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
  const age = () => (cached ? now() - cached.at : Number.POSITIVE_INFINITY)

  return async (header, token) => {
    let waitMs = age() > LIMITS.issuerKeysMs ? await refresh() : undefined
    if (!cached || age() > LIMITS.issuerKeysStaleMs) throw unreachable(failure, waitMs)
    try {
      return await cached.keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      waitMs = await refresh()
      // The key may be new. Until a reload succeeds, report a server error instead of an invalid token.
      if (failure !== undefined) throw unreachable(failure, waitMs)
      if (waitMs !== undefined) throw error
      return cached.keyOf(header, token)
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
