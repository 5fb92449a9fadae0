import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Config, OAuth } from '../config/read-config.ts'
import { isBaseId, isTypeId } from '../contract/ids.ts'
import type { Engine, TokenSession } from '../engine/engine.ts'
import type { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { openContext, type SentToken } from '../graphql/context.ts'
import type { Authenticate } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { openIssuer } from './issuer.ts'

type Hook = (request: FastifyRequest, reply: unknown, done: () => void) => void
/** Authentication of `/mcp`. */
export type Authenticator = {
  authenticate: Authenticate
  tokenChars: number
  challenge: Challenge
  /** Serves the metadata for issuer discovery. */
  metadata(addressCheck: Hook): (app: FastifyInstance) => Promise<void>
}

/** Creates the authenticator for Plinth tokens and, if an issuer is configured, for its tokens. */
export function openAuthenticator(
  { oauth, publicUrl }: Config,
  engine: Engine,
  authenticate: Authenticate,
): Authenticator {
  if (!oauth)
    return {
      authenticate,
      tokenChars: LIMITS.tokenChars,
      challenge: plainChallenge,
      metadata: () => async () => {},
    }
  const issuer = openIssuer(oauth)
  // Cache validated tokens: a signature check costs as much as a request.
  const known = new LRUCache<string, TokenSession>({
    max: LIMITS.issuedTokensKept,
    ttl: LIMITS.issuedTokenCacheMs,
  })
  const sessionOf = async ({ text, key }: SentToken): Promise<TokenSession | undefined> => {
    const found = known.get(key)
    if (found?.expiresAt && found.expiresAt > new Date()) return found
    if (!issuer.isNamedBy(text)) return undefined
    const session = engine.issuedSession(await issuer.principal(text))
    known.set(key, session)
    return session
  }
  return {
    authenticate: async (token, via, requestId, closed, reserveBytes) => {
      const session = await sessionOf(token)
      if (!session) return authenticate(token, via, requestId, closed, reserveBytes)
      return openContext(engine, session, via, requestId, closed, reserveBytes)
    },
    tokenChars: LIMITS.issuedTokenChars,
    challenge: issuerChallenge(oauth, publicUrl),
    metadata: (addressCheck) => async (app) => {
      app.addHook('onRequest', addressCheck)
      protectedResource(app, oauth, publicUrl)
    },
  }
}

/** Returns the `WWW-Authenticate` value of a refusal on `/mcp`; undefined if it has none. */
type Challenge = (request: FastifyRequest, error: DomainError) => string | undefined
type Names = { base_id?: string; endpoint_id?: string }

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * The challenge without an issuer. It has no metadata link, because there is no authorization server to
 * discover.
 */
const plainChallenge: Challenge = (_request, { code }) =>
  code === 'UNAUTHORIZED' ? 'Bearer realm="plinth", error="invalid_token"' : undefined

/**
 * The challenge with an issuer (RFC 6750, section 3, and RFC 9728, section 5.1): the error, and the metadata
 * URL for discovery.
 */
function issuerChallenge({ scopes }: OAuth, publicUrl: string | undefined): Challenge {
  return (request, error) => {
    const fault = faultOf(request, error)
    if (fault === undefined) return undefined
    const path = pathOf(request.params as Names) ?? '/mcp'
    return [
      'Bearer realm="plinth"',
      ...fault,
      `resource_metadata="${originOf(request, publicUrl)}${WELL_KNOWN}${path}"`,
      ...(scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : []),
    ].join(', ')
  }
}

/**
 * A request without a token gets no error code. FORBIDDEN for a Plinth token gets no challenge, because the
 * issuer cannot widen its grants.
 */
function faultOf({ headers, caller }: FastifyRequest, { code, message, details }: DomainError) {
  const isAboutToken = details[0]?.path.startsWith('header/Authorization') ?? false
  if (code === 'UNAUTHORIZED')
    return headers.authorization === undefined
      ? []
      : ['error="invalid_token"', `error_description="${quotable(message)}"`]
  if (code === 'FORBIDDEN' && (caller ? caller.scope.actor.issuedUntil !== undefined : isAboutToken))
    return ['error="insufficient_scope"', `error_description="${quotable(message)}"`]
  return undefined
}

/** RFC 6750 forbids quotes and backslashes in these values. */
const quotable = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '')

/** Serves the protected resource metadata (RFC 9728) of every `/mcp` address. */
function protectedResource(app: FastifyInstance, oauth: OAuth, publicUrl: string | undefined): void {
  for (const suffix of ['', '/mcp', '/mcp/:base_id', '/mcp/:base_id/e/:endpoint_id'])
    app.get(`${WELL_KNOWN}${suffix}`, async (request) => {
      const path = pathOf(request.params as Names)
      if (path === undefined) throw notFound(request)
      return {
        resource: `${originOf(request, publicUrl)}${path}`,
        resource_name: 'Plinth',
        authorization_servers: [oauth.issuer],
        ...(oauth.scopes.length > 0 && { scopes_supported: oauth.scopes }),
        bearer_methods_supported: ['header'],
      }
    })
}

/** The address of the path parameters, whether or not it exists; undefined for invalid ids. */
function pathOf({ base_id: base, endpoint_id: endpoint }: Names): string | undefined {
  if (base === undefined) return '/mcp'
  if (!isBaseId(base) || (endpoint !== undefined && !isTypeId(endpoint))) return undefined
  return endpoint === undefined ? `/mcp/${base}` : `/mcp/${base}/e/${endpoint}`
}

/** Public origin of this server. The Host header is validated before. */
const originOf = ({ headers }: FastifyRequest, publicUrl: string | undefined) =>
  publicUrl ?? `http://${headers.host ?? 'localhost'}`
