/** `/sign-in`: to the identity provider and back, for the explorer and for the page where clients are allowed. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Engine } from '../../engine/engine.ts'
import { FAILURES } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { CallerHooks } from '../../http/caller.ts'
import { refusal } from '../../http/errors.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { originOf } from '../addresses.ts'
import { notSignedInPage, sendPage } from '../server/consent-page.ts'
import { CONSENT, cookieIn, setCookie } from './cookies.ts'
import { CALLBACK, type People } from './people.ts'
import { ended, type Started } from './provider.ts'

type Options = {
  engine: Engine
  people: People | undefined
  limiter: RateLimiter
  caller: CallerHooks
  publicUrl: string | undefined
  addressCheck: (request: FastifyRequest, reply: unknown, done: () => void) => void
}

const STARTED = { name: 'plinth_sign_in', path: '/sign-in' }
const PAGES = /^\/(?:$|[?]|b\/|graphql(?:$|\/)|oauth\/authorize\?)/

export function peopleRoutes({ engine, people, limiter, caller, publicUrl, addressCheck }: Options) {
  return async (app: FastifyInstance): Promise<void> => {
    if (!people) return
    const secret = () => randomBytes(32).toString('base64url')
    const isSecure = publicUrl?.startsWith('https:') ?? false
    app.addHook('onRequest', addressCheck)
    app.addHook('onRequest', async ({ ip }, reply) => {
      limiter.admit(ip)
      limiter.visit(ip)
      reply.header('cache-control', 'no-store')
    })

    /** The renewal of a tab, as long as the provider says that the person still may. */
    app.post('/sign-in/renew', { ...caller, bodyLimit: 1024 }, async (request) => {
      const renewed = await people.renew({ tokenId: request.caller.scope.actor.tokenId ?? '' }, request.id)
      return { renewed }
    })

    const begunIn = (request: FastifyRequest) =>
      engine.unseal<Started & { to: string }>(STARTED.name, cookieIn(request, STARTED.name) ?? '')

    const onFailure = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const error = refusal(thrown, request, reply)
      if (error.code === 'UNAUTHORIZED' || error.code === 'FORBIDDEN') limiter.fail(request.ip)
      const begun = begunIn(request)
      // An answer to another sign-in, of an older tab or of another site, does not end this one.
      if (begun?.state === (request.query as { state?: unknown }).state)
        setCookie(reply, STARTED, '', 0, isSecure)
      const { status } = FAILURES[error.code]
      const back = begun?.to ?? pageIn(request.query)
      return sendPage(reply, notSignedInPage(error.message, back), undefined, status)
    }
    const page = { exposeHeadRoute: false, errorHandler: onFailure }
    app.get('/sign-in', page, async (request, reply) => {
      const started = { state: secret(), nonce: secret(), verifier: secret() }
      const to = pageIn(request.query)
      const seconds = LIMITS.oauthPageSeconds
      setCookie(reply, STARTED, engine.seal(STARTED.name, { ...started, to }, seconds), seconds, isSecure)
      return reply.redirect(await people.start(originOf(request, publicUrl), started), 303)
    })
    app.get(CALLBACK, page, async (request, reply) => {
      const begun = begunIn(request)
      if (begun === undefined) throw ended('This sign-in was not begun in this browser, or took too long.')
      const { to, ...started } = begun
      const sent = new URL(request.url, 'http://x').searchParams
      const code = await people.finish(originOf(request, publicUrl), sent, started, request.id)
      setCookie(reply, STARTED, '', 0, isSecure)
      if (!to.startsWith(CONSENT.path)) return reply.redirect(`${to}#code=${code}`, 303)
      setCookie(reply, CONSENT, code, LIMITS.signInCodeSeconds, isSecure)
      return reply.redirect(to, 303)
    })
  }
}

/** The page to come back to: one of this server that uses a sign-in. */
function pageIn(query: unknown): string {
  const { to } = query as { to?: unknown }
  if (typeof to !== 'string' || to.length > 8192 || !URL.canParse(to, 'http://x')) return '/'
  const { origin, pathname, search } = new URL(to, 'http://x')
  const page = `${pathname}${search}`
  return origin === 'http://x' && PAGES.test(page) && !page.startsWith('//') ? page : '/'
}
