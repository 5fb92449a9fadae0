/** `POST /playground/sign-in`: the page exchanges the one-time code of its address for a token. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import type { Engine } from '../../engine/engine.ts'
import { oneFault } from '../../foundation/errors.ts'
import type { CallerHooks } from '../../http/caller.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'

const Body = z.strictObject({ code: z.string().max(256) })
const BODY_BYTES = 1024

/**
 * Serves the exchange, to pages of this server, and the sign-out, which ends the token of a tab. Refused codes count for
 * their address.
 */
export function signInRoutes(
  { signIn, signOut }: Pick<Engine, 'signIn' | 'signOut'>,
  limiter: RateLimiter,
  caller: CallerHooks,
) {
  return async (app: FastifyInstance): Promise<void> => {
    app.post(
      '/playground/sign-in',
      {
        bodyLimit: BODY_BYTES,
        onRequest: async (request) => {
          limiter.admit(request.ip)
          limiter.visit(request.ip)
          requireSameOrigin(request)
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        const { code } = check(Body, request.body, inBody())
        const signedIn = await signIn(code, request.id)
        if (!signedIn) {
          limiter.fail(request.ip)
          throw invalidCode()
        }
        return { token: signedIn.token, expires_at: signedIn.expiresAt }
      },
    )
    app.post('/playground/sign-out', { ...caller, bodyLimit: BODY_BYTES }, async (request) => ({
      revoked: await signOut(request.caller.scope),
    }))
  }
}

/**
 * A page of another site could sign a browser in with a code of its own.
 * @throws FORBIDDEN
 */
function requireSameOrigin({ headers }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site } = headers
  const isSame = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
  if (isSame && (site === undefined || site === 'same-origin')) return
  throw oneFault('FORBIDDEN', 'Only pages of this server sign in with a code.', {
    path: 'header/Origin',
    code: 'not_served',
    message: 'Open the address of the playground.',
  })
}

// One error for all, so that nobody learns which codes exist.
const invalidCode = () =>
  oneFault('UNAUTHORIZED', 'The sign-in code is not valid. It works once, for a minute.', {
    path: '/code',
    code: 'invalid_code',
    message: 'Run "plinth open" again, or sign in with a token.',
  })
