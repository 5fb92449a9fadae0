/** A client of the authorization server that can be honest or not: it sends what a test says. */
import { createHash, randomBytes } from 'node:crypto'
import type { Answer, TestServer } from './server.ts'
import { type Answering, json, openUpstream } from './upstream.ts'

export type Sent = Readonly<Record<string, string | undefined>>
/** A host of client metadata on loopback: a document for each path. */
export type MetadataHost = Awaited<ReturnType<typeof openMetadataHost>>

export async function openMetadataHost() {
  const upstream = await openUpstream()
  const on = (path: string, answer: Answering) => {
    upstream.on(path, answer)
    return `${upstream.url}${path}`
  }
  return {
    ...upstream,
    on,
    /** Serves the document of an honest client, with what differs, and returns its id. */
    client: (path: string, more: object = {}) =>
      on(
        path,
        json({
          client_id: `${upstream.url}${path}`,
          client_name: 'Desk Pilot',
          redirect_uris: [CALLBACK],
          ...more,
        }),
      ),
  }
}

export const CALLBACK = 'http://127.0.0.1:1/callback'
export const VERIFIER = randomBytes(32).toString('base64url')
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

const encode = (sent: Sent): string =>
  new URLSearchParams(
    Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString()

/** The session that a page carries, or `''`. */
export const sessionIn = ({ text }: Answer): string => /name="session" value="([^"]+)"/.exec(text)?.[1] ?? ''
/** The answer that a redirect has for the client. */
export const answerIn = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(new URL(headers.get('location') ?? 'x:').searchParams)

export function oauthClient(
  { url, as }: Pick<TestServer, 'url' | 'as'>,
  clientId: string,
  resource = `${url}/mcp`,
) {
  const call = as(null)
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
  const request: Sent = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    resource,
    state: 'st-1',
  }
  const address = (more: Sent = {}) => `/oauth/authorize?${encode({ ...request, ...more })}`
  const send = (form: Sent, more: Sent = {}, headers: Record<string, string> = {}) =>
    call('POST', address(more), encode(form), { ...FORM, origin: url, ...headers })
  const token = (form: Sent) => call('POST', '/oauth/token', encode(form), FORM)
  return {
    address,
    open: (more: Sent = {}) => call('GET', address(more)),
    send,
    signIn: (pasted: string, more: Sent = {}) => send({ token: pasted, decision: 'sign-in' }, more),
    /** Signs in and allows, and returns the answer. */
    allow: async (pasted: string, choice: Sent = {}, more: Sent = {}) => {
      const session = sessionIn(await send({ token: pasted, decision: 'sign-in' }, more))
      const standard = { base: 'crm', reach: 'all', permission: 'write', end: '24' }
      return send({ session, decision: 'allow', ...standard, ...choice }, more)
    },
    exchange: (code: string | undefined, more: Sent = {}) =>
      token({
        ...{ grant_type: 'authorization_code', code, client_id: clientId, redirect_uri: CALLBACK },
        ...{ code_verifier: VERIFIER, resource, ...more },
      }),
    refresh: (refreshToken: string, more: Sent = {}) =>
      token({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId, ...more }),
    revoke: (revoked: string, more: Sent = {}) =>
      call('POST', '/oauth/revoke', encode({ token: revoked, client_id: clientId, ...more }), FORM),
  }
}
