/** The authorization endpoint: checks who asks, lets the person sign in and choose, and answers the client. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Engine } from '../../engine/engine.ts'
import { DomainError, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Context, openContext, sentToken } from '../../graphql/context.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import type { Resource } from '../addresses.ts'
import { CONSENT, cookieIn, setCookie } from '../people/cookies.ts'
import type { People } from '../people/people.ts'
import { ALL, basesFor, choicesIn } from './choices.ts'
import type { Client, Clients } from './clients.ts'
import { basePage, consentPage, refusedPage, sendPage, signInPage } from './consent-page.ts'
import { endIn, reachIn } from './decision.ts'
import { oauthBody, refused } from './failures.ts'
import { formOf, type Parameters, parametersOf, required, resourceIn } from './parameters.ts'
import { withAnswer } from './redirects.ts'

type Deps = {
  /** The identity provider that people sign in at, if there is one. */
  people: People | undefined
  engine: Engine
  clients: Clients
  limiter: RateLimiter
  originOf: (request: FastifyRequest) => string
}
/** A request of a client, checked as far as it may be answered to the client. */
type Asking = {
  request: FastifyRequest
  reply: FastifyReply
  client: Client
  redirectUri: string
  state: string | undefined
  origin: string
  /** What the person has sent; nothing at first. */
  form: Parameters
}
type Asked = Asking & { challenge: string; resource: Resource }

const CHALLENGE = /^[\w-]{43}$/

/** Returns the handlers of GET and POST. The request of the client is in the query of both, and checked by both. */
export function authorization({ people, engine, clients, limiter, originOf }: Deps) {
  /**
   * Reads the request of the client. Undefined if the client has been told what is wrong with it.
   * @throws invalid_client, invalid_redirect_uri: the person is told, and nobody is redirected
   */
  const askedIn = async (request: FastifyRequest, reply: FastifyReply): Promise<Asked | undefined> => {
    const sent = parametersOf(request.url.split('?').slice(1).join('?'))
    const client = await clients.find(required(sent, 'client_id'), request.ip)
    const redirectUri = required(sent, 'redirect_uri')
    clients.requireRedirect(client, redirectUri)
    const [origin, form] = [originOf(request), formOf(request)]
    const asking = { request, reply, client, redirectUri, state: sent['state'], origin, form }
    try {
      return { ...asking, ...termsOf(sent, origin) }
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      const told = oauthBody(thrown)
      // Anybody can be a client: a link to this server must not lead to any site (RFC 9700, section 4.11.2).
      if (new URL(redirectUri).protocol !== 'https:') answer(asking, told)
      else page(asking, refusedPage(asking, thrown.message, addressOf(asking, told)), 400)
      return undefined
    }
  }

  const open = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = await askedIn(request, reply)
    if (!asked) return reply
    const code = people && cookieIn(request, CONSENT.name)
    if (!code) return page(asked, signInPage(asked, providerFor(request)))
    setCookie(reply, CONSENT, '', 0, asked.origin.startsWith('https:'))
    return proceed(await signIn(request, code), asked)
  }

  const decide = async (request: FastifyRequest, reply: FastifyReply) => {
    requireOwnPage(request, originOf(request))
    const asked = await askedIn(request, reply)
    if (!asked) return reply
    const { decision, session, token = '' } = asked.form
    if (decision === 'deny')
      return answer(asked, { error: 'access_denied', error_description: 'The person cancelled.' })
    return proceed(await (session === undefined ? signIn(request, token) : signedIn(asked, session)), asked)
  }

  const providerFor = ({ url }: FastifyRequest) =>
    people && { host: people.host, href: `/sign-in?to=${encodeURIComponent(url)}` }

  const again = (asked: Asked, wrong: string) =>
    page(asked, signInPage(asked, providerFor(asked.request), wrong), 403)

  /** Goes on with who is signed in, or asks again. */
  const proceed = async (context: Context | undefined, asked: Asked): Promise<FastifyReply> => {
    if (!context) {
      if (asked.form['session'] !== undefined) return again(asked, 'Your sign-in has ended. Sign in again.')
      limiter.fail(asked.request.ip)
      return again(asked, 'This token is not valid, or has ended.')
    }
    try {
      return await choose(context, asked)
    } catch (thrown) {
      const detail = thrown instanceof DomainError ? thrown.details[0] : undefined
      if (detail?.code !== 'token_required') throw thrown
      return again(asked, detail.message)
    }
  }

  /** Shows what can be chosen, until all of it is; then answers with a code. */
  const choose = async (context: Context, asked: Asked): Promise<FastifyReply> => {
    const { authorizations } = engine
    const { actor, session } = context.scope
    const { client, redirectUri, challenge, resource, form } = asked
    const { endsAt } = await authorizations.grantorOf(context.scope)
    const bases = await basesFor(context, resource)
    // What a page carries of the sign-in opens for the same request only.
    const sealed = engine.seal(useOf(asked), session?.key ?? '', LIMITS.oauthPageSeconds)
    const signed = { asking: asked, person: actor.name, session: sealed }
    // Where there is no base yet, a client can make the first.
    const only = bases.length > 1 ? undefined : (bases[0]?.id ?? ALL)
    const chosen = form['decision'] === 'other' ? undefined : (form['base'] ?? only)
    if (bases.length > 1 && chosen === undefined) return page(asked, basePage(signed, bases))
    const isKnown = bases.some(({ id }) => id === chosen) || (chosen === ALL && resource.base === null)
    const choices =
      chosen !== undefined && isKnown ? await choicesIn(engine, context, chosen, resource) : undefined
    if (!choices) return again(asked, 'You have nothing at the address of the client.')
    const terms = { endsAt, hasOtherBases: bases.length > 1 }
    const show = (wrong?: string) =>
      page(asked, consentPage({ ...signed, wrong }, choices, terms), wrong === undefined ? 200 : 400)
    if (form['decision'] !== 'allow') return show()
    const reach = reachIn(form, choices)
    const end = endIn(form, endsAt)
    if (typeof reach === 'string') return show(reach)
    if (end === undefined) return show('Choose when the access ends.')
    const allowed = { client, redirectUri, challenge, resource: resource.address, reach, endsAt: end }
    return answer(asked, { code: await authorizations.allow(context.scope, allowed) })
  }

  const contextOf = async (request: FastifyRequest, key: string): Promise<Context | undefined> => {
    const session = await engine.authenticate({ text: '', key })
    return session && openContext(engine, session, 'mcp', request.id)
  }
  const signedIn = async (asked: Asked, sealed: string) => {
    const key = engine.unseal<string>(useOf(asked), sealed)
    return key === undefined ? undefined : contextOf(asked.request, key)
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

const page = ({ reply, redirectUri }: Asking, html: string, status = 200) =>
  sendPage(reply, html, redirectUri, status)

type Told = Readonly<Record<string, string | undefined>>

/** The address of the client with an answer. The issuer is named, so that a client can tell servers apart (RFC 9207). */
const addressOf = ({ redirectUri, state, origin: iss }: Asking, told: Told): string =>
  withAnswer(redirectUri, { ...told, state, iss })

/** Sends the person back to the client. */
const answer = (asking: Asking, told: Told) =>
  asking.reply.header('cache-control', 'no-store').redirect(addressOf(asking, told), 303)

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
  return { challenge, resource: resourceIn(sent, origin) ?? whole }
}

/**
 * Forms of other sites are refused: they could sign the person in as somebody else.
 * @throws FORBIDDEN
 */
function requireOwnPage({ headers }: FastifyRequest, origin: string): void {
  const { origin: sender, 'sec-fetch-site': site } = headers
  if (sender === new URL(origin).origin && (site === undefined || site === 'same-origin')) return
  throw oneFault('FORBIDDEN', 'Only the page of this server may send this form.', {
    path: 'header/Origin',
    code: 'not_served',
    message: 'Start again in the client.',
  })
}
