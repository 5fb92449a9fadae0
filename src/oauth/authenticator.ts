import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config/read-config.ts'
import type { Engine, TokenSession } from '../engine/engine.ts'
import { LIMITS } from '../foundation/limits.ts'
import { openContext } from '../graphql/context.ts'
import type { Authenticate } from '../http/caller.ts'
import { type Challenge, issuerChallenge, plainChallenge, protectedResource } from './challenge.ts'
import { openIssuer } from './issuer.ts'

const MAX_KNOWN = 1000

type Hook = (request: FastifyRequest) => Promise<void>
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
  const known = new LRUCache<string, TokenSession>({ max: MAX_KNOWN, ttl: LIMITS.issuedTokenCacheMs })
  const sessionOf = async (token: string): Promise<TokenSession | undefined> => {
    const name = createHash('sha256').update(token).digest('base64')
    const found = known.get(name)
    if (found?.expiresAt && found.expiresAt > new Date()) return found
    if (!issuer.isNamedBy(token)) return undefined
    const session = engine.issuedSession(await issuer.principal(token))
    known.set(name, session)
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
