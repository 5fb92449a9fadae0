import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config/read-config.ts'
import type { Engine, TokenSession } from '../engine/engine.ts'
import type { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { openContext, type SentToken } from '../graphql/context.ts'
import type { Authenticate } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { type Names, originOf, pathOf } from './addresses.ts'
import { openIssuer } from './issuer.ts'
import { quotable } from './server/failures.ts'

type Hook = (request: FastifyRequest, reply: unknown, done: () => void) => void
/** Authentication of `/mcp`. */
export type Authenticator = {
  authenticate: Authenticate
  tokenChars: number
  challenge: Challenge
  /** Serves the metadata for issuer discovery. */
  metadata(addressCheck: Hook): (app: FastifyInstance) => Promise<void>
}

/** Where clients get tokens: the issuer by the request, and the scopes to ask it for. */
type Server = { issuerOf: (request: FastifyRequest) => string; scopes: readonly string[] }

/** Creates the authenticator for Plinth tokens and, if an issuer is configured, for its tokens. */
export function openAuthenticator(
  { oauth, oauthServer, publicUrl }: Config,
  engine: Engine,
  authenticate: Authenticate,
): Authenticator {
  const discovery = (server: Server) => ({
    challenge: issuerChallenge(server, publicUrl),
    metadata: protectedResource(server, publicUrl),
  })
  // The tokens of the server's own authorization server are those of Plinth.
  const plain = { authenticate, tokenChars: LIMITS.tokenChars }
  if (oauthServer)
    return { ...plain, ...discovery({ issuerOf: (request) => originOf(request, publicUrl), scopes: [] }) }
  if (!oauth) return { ...plain, challenge: plainChallenge, metadata: () => async () => {} }
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
    ...discovery({ issuerOf: () => oauth.issuer, scopes: oauth.scopes }),
  }
}

/** Returns the `WWW-Authenticate` value of a refusal on `/mcp`; undefined if it has none. */
type Challenge = (request: FastifyRequest, error: DomainError) => string | undefined

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
function issuerChallenge({ scopes }: Server, publicUrl: string | undefined): Challenge {
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

/** Serves the protected resource metadata (RFC 9728) of every `/mcp` address. */
const protectedResource =
  ({ issuerOf, scopes }: Server, publicUrl: string | undefined) =>
  (addressCheck: Hook) =>
  async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', addressCheck)
    for (const suffix of ['', '/mcp', '/mcp/:base_id', '/mcp/:base_id/e/:endpoint_id'])
      app.get(`${WELL_KNOWN}${suffix}`, async (request) => {
        const path = pathOf(request.params as Names)
        if (path === undefined) throw notFound(request)
        return {
          resource: `${originOf(request, publicUrl)}${path}`,
          resource_name: 'Plinth',
          authorization_servers: [issuerOf(request)],
          ...(scopes.length > 0 && { scopes_supported: scopes }),
          bearer_methods_supported: ['header'],
        }
      })
  }
