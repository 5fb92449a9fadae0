import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
  type LocalJWKSet,
} from 'jose'
import { firstBytes } from '../foundation/egress/dispatcher.ts'
import { DomainError } from '../foundation/errors.ts'
import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { buckets } from '../http/rate-limit.ts'

type Clock = () => number
type CachedKeys = { keyOf: LocalJWKSet; at: number }

/**
 * Key cache of an issuer. An unknown key id triggers a reload, so key rotation needs no restart. Reloads are
 * rate-limited, independent of the tokens that arrive. If the issuer is unreachable, known keys stay valid for a while.
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

/**
 * Verifies a token by the keys of its issuer.
 * @throws JOSEError for the token; INTERNAL_ERROR for a key that nobody can use, which is no fault of the token
 */
export async function verify(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    throw error instanceof errors.JOSEError || error instanceof DomainError
      ? error
      : unreachable(error, undefined)
  }
}

const unreachable = (cause: unknown, waitMs: number | undefined) =>
  new DomainError('INTERNAL_ERROR', 'The token cannot be checked: its issuer is not reachable.', {
    cause,
    retryAfterSeconds:
      waitMs === undefined ? LIMITS.issuerRetrySeconds : Math.max(1, Math.ceil(waitMs / 1000)),
    details: [
      {
        path: 'header/Authorization',
        code: 'issuer_unreachable',
        message: 'Wait for Retry-After. Tokens made by this server work meanwhile.',
      },
    ],
  })

/**
 * Loads the keys of an issuer through its metadata. Requests only the issuer's own origin, follows no
 * redirects, and limits time and size (SSRF protection).
 * @throws an Error that describes the invalid response
 */
export async function discoverKeys(issuer: string): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(LIMITS.issuerTimeoutMs)
  const { origin } = new URL(issuer)
  const jwksUri = await findKeys(issuer, signal)
  if (!URL.canParse(jwksUri) || new URL(jwksUri).origin !== origin)
    throw new Error(`The keys of the issuer are not at ${origin}`)
  return (await fetchJson(jwksUri, signal)) as unknown as JSONWebKeySet
}

async function findKeys(issuer: string, signal: AbortSignal): Promise<string> {
  const faults: string[] = []
  for (const url of metadataOf(issuer)) {
    try {
      const { issuer: named, jwks_uri: found } = await fetchJson(url, signal)
      if (named !== issuer) faults.push(`${url} is the metadata of another issuer`)
      else if (typeof found !== 'string') faults.push(`${url} names no jwks_uri`)
      else return found
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
      if (signal.aborted) break
    }
  }
  throw new Error(`The issuer's metadata cannot be read: ${faults.join('; ')}`)
}

/** Metadata URLs of an issuer: RFC 8414, section 3.1; OpenID Connect Discovery 1.0, section 4. */
function metadataOf(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

export async function fetchJson(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${url} answers ${response.status}`)
  }
  return objectOf(response, url)
}

/** @throws for an answer that is cut, too large, or no JSON object */
export async function objectOf({ body }: Response, url: string): Promise<Record<string, unknown>> {
  const { body: text, isCut } = await firstBytes(body ?? [], LIMITS.issuerAnswerBytes)
  if (isCut) throw new Error(`the response of ${url} is too large`)
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new Error(`${url} is not a JSON object`)
  return value
}
