import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import type { Context } from '../graphql/context.ts'
import type { RateLimiter } from './rate-limit.ts'

/** Opens the context of a raw token; undefined when it is unknown or expired. */
export type Door = (
  token: string,
  via: 'rest' | 'mcp' | 'graphql',
  requestId: string,
  closed?: () => AbortSignal,
) => Promise<Context | undefined>

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i

/** The raw token of an Authorization header. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1]

/**
 * Makes the hook that every protected route runs first: token, then rate.
 * @throws UNAUTHORIZED, RATE_LIMITED
 */
export function callerHook(door: Door, limiter: RateLimiter, via: 'rest' | 'mcp' | 'graphql') {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const token = bearerOf(request.headers.authorization)
    const context =
      token === undefined ? undefined : await door(token, via, request.id, () => closedSignal(reply))
    if (!context) {
      limiter.fail(request.ip)
      throw unauthorized(reply)
    }
    request.caller = context
    limiter.take(context.scope.actor.tokenId ?? '', reply)
  }
}

/** Aborts when the connection closes before the answer is out. */
function closedSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const look = () => {
    if (!raw.writableFinished) gone.abort()
  }
  if (raw.destroyed) look()
  else raw.once('close', look)
  return gone.signal
}

function unauthorized(reply: FastifyReply): DomainError {
  reply.header('www-authenticate', 'Bearer realm="plinth"')
  return new DomainError('UNAUTHORIZED', 'The token is missing or not valid.', {
    details: [
      {
        path: 'header/Authorization',
        code: 'invalid_token',
        message: 'Send "Authorization: Bearer <token>" with a token that exists and has not expired.',
      },
    ],
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, with what rights; set by `callerHook`. */
    caller: Context
  }
}
