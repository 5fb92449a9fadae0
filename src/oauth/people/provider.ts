/** A client of the identity provider (OpenID Connect): one flow, with PKCE and a nonce, and the renewal of what it said. */
import { createHash } from 'node:crypto'
import { errors, type JSONWebKeySet, type JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Oidc } from '../../config/read-config.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { isSoundText } from '../../json/parse.ts'
import { ALGORITHMS } from '../issuer.ts'
import { fetchJson, keyRing, objectOf, verify } from '../keys.ts'
import type { Claims } from './mapping.ts'

/** Whether a `sub` names somebody (OpenID Connect Core 1.0, section 2), and can be kept. */
const isSubject = (sub: unknown): sub is string =>
  typeof sub === 'string' && sub !== '' && sub.length <= LIMITS.subjectChars && isSoundText(sub)

/** What a browser carries from the start to the answer. */
export type Started = { state: string; nonce: string; verifier: string }
export type Known = { claims: Claims; subject: string; refreshToken: string | null }
type Own = JWTPayload & { sub: string }

const address = z.url({ protocol: /^https?$/ })
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
})
type Metadata = z.output<typeof Metadata>
/** What is of another type is not there. */
const text = z.string().optional().catch(undefined)
const Answer = z.object({ id_token: text, access_token: text, refresh_token: text, error: text })
type Answer = z.output<typeof Answer>

/** The provider does not know the person any more, or refuses the answer that the browser brought. */
export const ended = (message: string, cause?: unknown) =>
  new DomainError('UNAUTHORIZED', message, {
    cause,
    details: [{ path: '', code: 'sign_in_refused', message: 'Sign in again.' }],
  })
/** An answer that is cut says nothing of the person. */
const whole = (answer: Response, url: string) => objectOf(answer, url).catch(unreachable)

const unreachable = (cause: unknown): never => {
  const message = 'Try again. A token of Plinth works meanwhile.'
  throw new DomainError('INTERNAL_ERROR', 'The identity provider is not reachable.', {
    ...{ cause, isUpstream: true, retryAfterSeconds: LIMITS.issuerRetrySeconds },
    details: [{ path: '', code: 'issuer_unreachable', message }],
  })
}

/** It has just come from the provider, so it is no fault of the person, who stays. */
const clocksDiffer = (cause: unknown) =>
  new DomainError('INTERNAL_ERROR', 'The clocks of this server and of the identity provider differ.', {
    ...{ cause, isUpstream: true, retryAfterSeconds: LIMITS.issuerRetrySeconds },
    details: [
      { path: '', code: 'clocks_differ', message: 'The operator has to set the clock. Try again then.' },
    ],
  })
const KEYS_DIFFER = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JWSSignatureVerificationFailed,
]
const isOfAnotherTime = (error: unknown): boolean =>
  error instanceof errors.JWTExpired ||
  (error instanceof errors.JWTClaimValidationFailed &&
    error.claim === 'nbf' &&
    error.reason === 'check_failed')

const timeout = () => AbortSignal.timeout(LIMITS.issuerTimeoutMs)
const reach = (url: string, init: RequestInit) =>
  fetch(url, { redirect: 'error', signal: timeout(), ...init }).catch(unreachable)

/** @param wanted claims that are asked for at the provider if the token of identity has none of them */
export function openProvider(oidc: Oidc, redirectUri: (origin: string) => string, wanted: readonly string[]) {
  const { issuer, clientId, clientSecret, scopes } = oidc
  const known = new LRUCache<string, Metadata>({
    max: 1,
    ttl: LIMITS.issuerKeysMs,
    fetchMethod: async (url) => {
      const found = Metadata.parse(await fetchJson(url, timeout()))
      if (found.issuer !== issuer) throw new Error(`${url} is the metadata of another issuer`)
      return found
    },
  })
  const metadata = () =>
    known.forceFetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`).catch(unreachable)
  const keys = keyRing(
    async () => (await fetchJson((await metadata()).jwks_uri, timeout())) as unknown as JSONWebKeySet,
  )

  const ask = async (form: Record<string, string>): Promise<Answer> => {
    const { token_endpoint: url, token_endpoint_auth_methods_supported: methods } = await metadata()
    const isPost = methods !== undefined && !methods.includes('client_secret_basic')
    const secret = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    const body = new URLSearchParams({
      ...form,
      ...(isPost && { client_id: clientId, client_secret: clientSecret }),
    })
    const basic = { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
    const headers = { accept: 'application/json', ...(!isPost && basic) }
    const answer = await reach(url, { method: 'POST', body, headers })
    if (answer.ok) return Answer.parse(await whole(answer, url))
    const { error } = Answer.parse(await whole(answer, url).catch(() => ({})))
    if (error === 'invalid_grant') throw ended('The identity provider does not know this sign-in any more.')
    return unreachable(new Error(`${url} answers ${answer.status} ${error}`))
  }

  const verified = async (idToken: string, nonce: string | undefined): Promise<Own> => {
    try {
      const { payload } = await verify(idToken, keys, {
        ...{ issuer, audience: clientId, algorithms: ALGORITHMS },
        ...{ clockTolerance: LIMITS.clockToleranceSeconds, requiredClaims: ['sub', 'exp', 'iat'] },
      })
      const isForUs = payload['azp'] === undefined || payload['azp'] === clientId
      if (!isForUs || (nonce !== undefined && payload['nonce'] !== nonce))
        throw ended('The answer of the identity provider is for another sign-in.')
      const { sub } = payload
      if (!isSubject(sub)) throw ended('The answer of the identity provider names nobody.')
      return { ...payload, sub }
    } catch (error) {
      if (isOfAnotherTime(error)) throw clocksDiffer(error)
      // Its new keys are not everywhere yet: no fault of the person either.
      if (KEYS_DIFFER.some((kind) => error instanceof kind)) return unreachable(error)
      if (error instanceof errors.JOSEError)
        throw ended('The answer of the identity provider is not valid.', error)
      throw error
    }
  }

  /** Claims that the token of identity leaves out are at an address of their own. */
  const wholeClaims = async (own: Own, accessToken: string | undefined): Promise<Claims> => {
    const { userinfo_endpoint: url } = await metadata()
    if (url === undefined || wanted.some((name) => own[name] !== undefined)) return own
    const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
    const answer = await reach(url, { headers })
    if (answer.ok) {
      const more: Claims = await whole(answer, url)
      return more['sub'] === own.sub ? { ...more, ...own } : own
    }
    await answer.body?.cancel()
    if (answer.status === 401) throw ended('The identity provider does not know this person any more.')
    // What it cannot say now is no answer: the person may have grants.
    if (answer.status === 429 || answer.status >= 500)
      return unreachable(new Error(`${url} answers ${answer.status}`))
    return own
  }

  return {
    start: async (origin: string, { state, nonce, verifier }: Started): Promise<string> => {
      const url = new URL((await metadata()).authorization_endpoint)
      const asked = {
        ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri(origin), scope: scopes },
        ...{ state, nonce, code_challenge_method: 'S256' },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      }
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
      return url.href
    },
    /** @throws UNAUTHORIZED for an answer of another sign-in, person or provider */
    finish: async (origin: string, sent: URLSearchParams, { state, nonce, verifier }: Started) => {
      const isOurs = sent.get('state') === state && (sent.get('iss') ?? issuer) === issuer
      const code = sent.get('code')
      if (!isOurs || code === null) throw ended('The identity provider did not sign you in.')
      const grant = { grant_type: 'authorization_code', code, code_verifier: verifier }
      const answer = await ask({ ...grant, redirect_uri: redirectUri(origin) })
      return knownOf(answer, await verified(answer.id_token ?? '', nonce))
    },
    /** @throws UNAUTHORIZED if the provider does not know the person any more */
    renew: async (subject: string, refreshToken: string): Promise<Known> => {
      const answer = await ask({ grant_type: 'refresh_token', refresh_token: refreshToken })
      if (answer.id_token === undefined) throw ended('The identity provider renews without saying who it is.')
      const claims = await verified(answer.id_token, undefined)
      if (claims.sub !== subject) throw ended('The identity provider answers for another person.')
      const renewed = await knownOf(answer, claims)
      return { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken }
    },
  }

  async function knownOf({ access_token, refresh_token }: Answer, own: Own): Promise<Known> {
    const claims = await wholeClaims(own, access_token)
    return { claims, subject: own.sub, refreshToken: refresh_token ?? null }
  }
}
