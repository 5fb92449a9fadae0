/** The authorization endpoint: checks who asks, lets the person sign in and choose, and answers the client. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Engine } from '../../engine/engine.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Context, openContext, sentToken } from '../../graphql/context.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import type { Resource } from '../addresses.ts'
import { CONSENT, cookieIn, setCookie } from '../people/cookies.ts'
import type { People } from '../people/people.ts'
import { ALL, basesFor, choicesIn } from './choices.ts'
import type { Client, Clients } from './clients.ts'
import { basePage, consentPage, sendPage, signInPage } from './consent-page.ts'
import { endIn, reachIn } from './decision.ts'
import { oauthBody, refused } from './failures.ts'
import { type Parameters, parametersOf, required, resourceIn } from './parameters.ts'
import { withAnswer } from './redirects.ts'

type Deps = {
  /** The identity provider that people sign in at, if there is one. */
  people: People | undefined
  engine: Engine
  clients: Clients
  limiter: RateLimiter
  originOf: (request: FastifyRequest) => string
}
/** A request of a client, checked. */
type Asked = {
  client: Client
  redirectUri: string
  challenge: string
  resource: Resource
  state: string | undefined
  origin: string
}

const CHALLENGE = /^[\w-]{43}$/

/** Returns the handlers of GET and POST. The request of the client is in the query of both, and checked by both. */
export function authorization({ people, engine, clients, limiter, originOf }: Deps) {
  /** @throws invalid_client, invalid_redirect_uri: the person is told, and nobody is redirected */
  const askedIn = async (
    request: FastifyRequest,
  ): Promise<[Asked | DomainError, { client: Client; redirectUri: string }]> => {
    const sent = parametersOf(request.url.split('?').slice(1).join('?'))
    const client = await clients.find(required(sent, 'client_id'))
    const redirectUri = required(sent, 'redirect_uri')
    clients.requireRedirect(client, redirectUri)
    const asking = { client, redirectUri }
    try {
      return [{ ...asking, ...termsOf(sent, originOf(request)) }, asking]
    } catch (thrown) {
      if (thrown instanceof DomainError) return [thrown, asking]
      throw thrown
    }
  }

  /** Sends the person back to the client. The issuer is named, so that a client can tell servers apart (RFC 9207). */
  const answer = (
    reply: FastifyReply,
    { redirectUri }: { redirectUri: string },
    what: Readonly<Record<string, string | undefined>>,
    request: FastifyRequest,
  ) => {
    const { state } = request.query as { state?: unknown }
    const iss = originOf(request)
    return reply
      .header('cache-control', 'no-store')
      .redirect(withAnswer(redirectUri, { ...what, ...(typeof state === 'string' && { state }), iss }), 303)
  }

  const open = async (request: FastifyRequest, reply: FastifyReply) => {
    const [asked, asking] = await askedIn(request)
    if (asked instanceof DomainError) return answer(reply, asking, oauthBody(asked), request)
    const code = people && cookieIn(request, CONSENT.name)
    if (!code) return sendPage(reply, signInPage(asking, providerFor(request)), asked.redirectUri)
    setCookie(reply, CONSENT, '', 0, asked.origin.startsWith('https:'))
    return proceed(await signIn(request, code), asked, {}, request, reply)
  }

  const decide = async (request: FastifyRequest, reply: FastifyReply) => {
    requireOwnPage(request, originOf(request))
    const [asked, asking] = await askedIn(request)
    if (asked instanceof DomainError) return answer(reply, asking, oauthBody(asked), request)
    const form = (request.body ?? {}) as Parameters
    if (form['decision'] === 'deny')
      return answer(
        reply,
        asked,
        { error: 'access_denied', error_description: 'The person cancelled.' },
        request,
      )
    const context = await (form['session'] === undefined
      ? signIn(request, form['token'] ?? '')
      : signedIn(request, asked, form['session']))
    return proceed(context, asked, form, request, reply)
  }

  const providerFor = ({ url }: FastifyRequest) =>
    people && { host: people.host, href: `/sign-in?to=${encodeURIComponent(url)}` }

  /** Goes on with who is signed in, or asks again. */
  const proceed = async (
    context: Context | undefined,
    asked: Asked,
    form: Parameters,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const again = (wrong: string) =>
      sendPage(reply, signInPage(asked, providerFor(request), wrong), asked.redirectUri, 403)
    if (!context) {
      if (form['session'] !== undefined) return again('Your sign-in has ended. Sign in again.')
      limiter.fail(request.ip)
      return again(WRONG)
    }
    try {
      return await choose(context, asked, form, request, reply)
    } catch (thrown) {
      const detail = thrown instanceof DomainError ? thrown.details[0] : undefined
      if (detail?.code !== 'token_required' && detail?.code !== 'nothing_there') throw thrown
      return again(detail.message)
    }
  }

  /** Shows what can be chosen, until all of it is; then answers with a code. */
  const choose = async (
    context: Context,
    asked: Asked,
    form: Parameters,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { authorizations } = engine
    const { actor, session } = context.scope
    const { endsAt } = await authorizations.grantorOf(context.scope)
    const bases = await basesFor(context, asked.resource)
    const signed = { asking: asked, person: actor.name, session: sessionFor(asked, session?.key ?? '') }
    const isOne = bases.length === 1
    const chosen =
      form['decision'] === 'other' ? undefined : (form['base'] ?? (isOne ? bases[0]?.id : undefined))
    if (bases.length > 1 && chosen === undefined)
      return sendPage(reply, basePage(signed, bases), asked.redirectUri)
    const isKnown = bases.some(({ id }) => id === chosen) || (chosen === ALL && asked.resource.base === null)
    const choices =
      chosen !== undefined && isKnown ? await choicesIn(engine, context, chosen, asked.resource) : undefined
    if (!choices)
      throw new DomainError('FORBIDDEN', 'There is nothing to allow.', {
        details: [
          {
            path: '/token',
            code: 'nothing_there',
            message: 'You have nothing at the address of the client.',
          },
        ],
      })
    const terms = { endsAt, hasOtherBases: bases.length > 1 }
    const show = (wrong?: string) =>
      sendPage(
        reply,
        consentPage({ ...signed, wrong }, choices, terms),
        asked.redirectUri,
        wrong === undefined ? 200 : 400,
      )
    if (form['decision'] !== 'allow') return show()
    const reach = reachIn(form, choices)
    const end = endIn(form, endsAt)
    if (typeof reach === 'string') return show(reach)
    if (end === undefined) return show('Choose when the access ends.')
    const { client, redirectUri, challenge, resource } = asked
    const allowed = { client, redirectUri, challenge, resource: resource.address, reach, endsAt: end }
    return answer(reply, asked, { code: await authorizations.allow(context.scope, allowed) }, request)
  }

  /** What a page of this request carries of the sign-in. It opens for the same request only. */
  const sessionFor = (asked: Asked, key: string): string =>
    engine.seal(useOf(asked), JSON.stringify({ key, until: Date.now() + LIMITS.oauthPageSeconds * 1000 }))

  const contextOf = async (request: FastifyRequest, key: string): Promise<Context | undefined> => {
    const session = await engine.authenticate({ text: '', key })
    return session && openContext(engine, session, 'mcp', request.id)
  }
  const signedIn = async (request: FastifyRequest, asked: Asked, sealed: string) => {
    const opened = engine.unseal(useOf(asked), sealed)
    if (opened === undefined) return undefined
    const { key, until } = JSON.parse(opened) as { key: string; until: number }
    return until > Date.now() ? contextOf(request, key) : undefined
  }
  /** By a token, or by the code of a browser. */
  const signIn = async (request: FastifyRequest, pasted: string) => {
    limiter.admit(request.ip)
    const text = pasted.trim().replace(/^.*#code=/, '')
    const token = text.length > LIMITS.tokenChars ? '' : text
    const found = await contextOf(request, sentToken(token).key)
    if (found) return found
    const tab = await engine.signIn(token, request.id)
    return tab && contextOf(request, sentToken(tab.token).key)
  }
  return { open, decide }
}

const WRONG = 'This token is not valid, or has ended.'

const useOf = ({ client, redirectUri, challenge, resource, state }: Asked) => [
  'consent',
  ...[client.id, redirectUri, challenge, resource.address, state ?? null],
]

/** @throws invalid_request, unsupported_response_type, invalid_target: the client is told */
function termsOf(sent: Parameters, origin: string) {
  if (required(sent, 'response_type') !== 'code')
    throw refused('unsupported_response_type', 'The response_type must be code.', '/response_type')
  if ((sent['response_mode'] ?? 'query') !== 'query')
    throw refused('invalid_request', 'The response_mode must be query.', '/response_mode')
  if (sent['code_challenge_method'] !== 'S256')
    throw refused('invalid_request', 'The code_challenge_method must be S256.', '/code_challenge_method')
  const challenge = required(sent, 'code_challenge')
  if (!CHALLENGE.test(challenge))
    throw refused('invalid_request', 'The code_challenge is not a SHA-256 in base64url.', '/code_challenge')
  if ((sent['state']?.length ?? 0) > 2048)
    throw refused('invalid_request', 'The state has more than 2048 characters.', '/state')
  const whole = { address: `${origin}/mcp`, base: null, endpoint: null }
  return { challenge, resource: resourceIn(sent, origin) ?? whole, state: sent['state'], origin }
}

/**
 * Forms of other sites are refused: they could sign the person in as somebody else.
 * @throws FORBIDDEN
 */
function requireOwnPage({ headers }: FastifyRequest, origin: string): void {
  const { origin: sender, 'sec-fetch-site': site } = headers
  if (sender === new URL(origin).origin && (site === undefined || site === 'same-origin')) return
  throw new DomainError('FORBIDDEN', 'Only the page of this server may send this form.', {
    details: [{ path: 'header/Origin', code: 'not_served', message: 'Start again in the client.' }],
  })
}
