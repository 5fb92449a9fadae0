/** Authentication of a request: its token becomes a caller with rights. */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, oneFault } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import {
  type Context,
  isAuthorized,
  type ReserveBytes,
  type SentToken,
  sentToken,
} from '../graphql/context.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { Unsent } from './unsent-bytes.ts'

/**
 * Authenticates a token and opens its request context; undefined if the token is unknown or expired.
 * @throws UNAUTHORIZED, FORBIDDEN if there is a more specific reason
 */
export type Authenticate = (
  token: SentToken,
  via: 'rest' | 'mcp' | 'graphql',
  requestId: string,
  closed?: () => AbortSignal,
  reserveBytes?: ReserveBytes,
) => Promise<Context | undefined>

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/** The bearer token of an Authorization header. Ignores tokens above the maximum length. */
export function bearerOf(
  authorization: string | undefined,
  longest: number = LIMITS.tokenChars,
): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1]
  return token !== undefined && token.length <= longest ? token : undefined
}

/**
 * The valid tokens that came on a connection, as their hash takes longer than the rest of the check. A proxy sends those of
 * several clients. The look-up is by a seeded hash, so its time tells nothing of a token that another client has sent.
 */
const tokensOn = new WeakMap<Socket, Map<string, SentToken>>()

function tokenIn({ headers, socket }: FastifyRequest, longest: number): SentToken | undefined {
  const text = bearerOf(headers.authorization, longest)
  return text === undefined ? undefined : (tokensOn.get(socket)?.get(text) ?? sentToken(text))
}

function keepToken({ socket }: FastifyRequest, token: SentToken): void {
  const known = tokensOn.get(socket)
  if (known?.has(token.text)) return
  if (known && known.size < LIMITS.tokensOfConnection) known.set(token.text, token)
  else tokensOn.set(socket, new Map([[token.text, token]]))
}

/** Hooks of protected routes: `onRequest` runs first, `preHandler` after the body is read. */
export type CallerHooks = {
  onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void>
  preHandler(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
}

/**
 * Creates the hooks of protected routes. They check the token, then the rate limit, and the token again after
 * the body, because a client can take long to send it.
 * @throws UNAUTHORIZED, RATE_LIMITED
 */
export function callerHooks(
  authenticate: Authenticate,
  limiter: RateLimiter,
  unsent: Unsent,
  via: 'rest' | 'mcp' | 'graphql',
  longest: number = LIMITS.tokenChars,
): CallerHooks {
  const contextOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Context> => {
    const token = tokenIn(request, longest)
    const reserveBytes: ReserveBytes = (bytes) => unsent.read(tokenOf(request), reply, bytes)
    const context =
      token === undefined
        ? undefined
        : await authenticate(token, via, request.id, () => closedSignal(reply), reserveBytes)
    if (!token || !context) throw unauthorized()
    keepToken(request, token)
    return context
  }
  const identify = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      request.caller = await contextOf(request, reply)
    } catch (thrown) {
      if (isRefused(thrown)) limiter.fail(request.ip)
      throw thrown
    }
  }
  return {
    onRequest: async (request, reply) => {
      await identify(request, reply)
      limiter.take(tokenOf(request), reply)
      unsent.admit(tokenOf(request))
    },
    preHandler: (request, reply, done) => {
      if (isAuthorized(request.caller)) done()
      else identify(request, reply).then(() => done(), done)
    },
  }
}

const tokenOf = ({ caller }: FastifyRequest): string => caller.scope.actor.tokenId ?? ''

const isRefused = (thrown: unknown): thrown is DomainError =>
  thrown instanceof DomainError && (thrown.code === 'UNAUTHORIZED' || thrown.code === 'FORBIDDEN')

const signals = new WeakMap<FastifyReply, AbortSignal>()

/** A signal that aborts when the client disconnects before the response is sent. One per request. */
export function closedSignal(reply: FastifyReply): AbortSignal {
  const known = signals.get(reply)
  if (known) return known
  const { raw } = reply
  const gone = new AbortController()
  signals.set(reply, gone.signal)
  const abort = () => {
    if (!raw.writableFinished) gone.abort()
  }
  if (raw.destroyed) abort()
  else raw.once('close', abort)
  return gone.signal
}

const unauthorized = () =>
  oneFault('UNAUTHORIZED', 'The token is missing or not valid.', {
    path: 'header/Authorization',
    code: 'invalid_token',
    message:
      'Send "Authorization: Bearer <token>" with a token that exists and has not expired. POST /v1/tokens and "plinth token create" make one.',
  })

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller and its access; set by `callerHooks`. */
    caller: Context
  }
}
