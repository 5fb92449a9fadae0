import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { MINUTE_MS } from '../foundation/units.ts'

/**
 * Token bucket for each key: `burst` at once, refilled at `perMinute`. Stored as the time when the bucket is
 * full.
 */
export function buckets(perMinute: number, burst: number) {
  // Created with the first key: it allocates room for all.
  let fullAt: LRUCache<string, number> | undefined
  const interval = MINUTE_MS / perMinute
  return {
    /** Takes `count` tokens, all or none. A negative `left` means that there were too few. */
    take(key: string, now: number, count = 1) {
      fullAt ??= new LRUCache<string, number>({ max: LIMITS.ratedCallers })
      const full = Math.max(fullAt.get(key) ?? 0, now) + interval * count
      const left = Math.floor(burst - (full - now) / interval + 1e-9)
      if (left >= 0) fullAt.set(key, full)
      const waitMs = left >= 0 ? 0 : full - now - burst * interval
      return { left, waitMs, fullInMs: (left >= 0 ? full : full - interval * count) - now }
    },
  }
}

export type RateLimiter = {
  /** Refused requests: of tokens, of addresses without one, and of addresses whose authentications failed. */
  readonly refused: Readonly<Record<'token' | 'address' | 'authentication', number>>
  /**
   * Counts one or more requests of a token and sets the rate limit headers. A count above the burst counts as
   * the burst.
   * @throws RATE_LIMITED
   */
  take(tokenId: string, reply: FastifyReply, count?: number): void
  /**
   * Counts a failed authentication of an address.
   * @throws RATE_LIMITED
   */
  fail(address: string): void
  /**
   * Refuses an address whose authentications failed too often.
   * @throws RATE_LIMITED
   */
  admit(address: string): void
  /**
   * Counts a request without a token.
   * @throws RATE_LIMITED
   */
  visit(address: string): void
}

/** Rate limiter of this process. 0 requests a minute disables it. */
export function rateLimiter(perMinute: number): RateLimiter {
  const burst = Math.min(LIMITS.requestBurst, perMinute)
  const requests = perMinute > 0 ? buckets(perMinute, burst) : null
  const visits = buckets(LIMITS.visitsPerMinute, LIMITS.visitBurst)
  const failures = buckets(LIMITS.authFailuresPerMinute, LIMITS.authFailuresPerMinute)
  const refused = { token: 0, address: 0, authentication: 0 }
  const tooMany = (reason: keyof typeof refused, waitMs: number) => {
    refused[reason]++
    return tooManyRequests(waitMs)
  }
  return {
    refused,
    take(tokenId, reply, count = 1) {
      if (!requests) return
      const { left, waitMs, fullInMs } = requests.take(tokenId, performance.now(), Math.min(count, burst))
      const remaining = Math.max(0, left)
      const reset = Math.ceil(fullInMs / 1000)
      reply.headers({
        'ratelimit-policy': `"token";q=${perMinute};w=60`,
        ratelimit: `"token";r=${remaining};t=${reset}`,
        'x-ratelimit-limit': perMinute,
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset': reset,
      })
      if (left >= 0) return
      const refusal = tooMany('token', waitMs)
      reply.header('retry-after', String(refusal.retryAfterSeconds))
      throw refusal
    },
    fail(address) {
      const { left, waitMs } = failures.take(address, performance.now())
      if (perMinute > 0 && left < 0) throw tooMany('authentication', waitMs)
    },
    admit(address) {
      const { left, fullInMs } = failures.take(address, performance.now(), 0)
      if (perMinute > 0 && left < 1)
        throw tooMany('authentication', fullInMs - MINUTE_MS + MINUTE_MS / LIMITS.authFailuresPerMinute)
    },
    visit(address) {
      const { left, waitMs } = visits.take(address, performance.now())
      if (perMinute > 0 && left < 0) throw tooMany('address', waitMs)
    },
  }
}

function tooManyRequests(waitMs: number): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new DomainError('RATE_LIMITED', `Too many requests. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
    details: [{ path: '', code: 'rate_limited', message: 'Wait for Retry-After.' }],
  })
}

/**
 * Counts the further operations of a request; the first was counted on arrival.
 * @throws RATE_LIMITED
 */
export type Charge = (request: FastifyRequest, reply: FastifyReply, parts: number) => void

export const chargeOf =
  (limiter: RateLimiter): Charge =>
  ({ caller }, reply, parts) => {
    if (parts > 1) limiter.take(caller.scope.actor.tokenId ?? '', reply, parts - 1)
  }
