// @module-tag full
/** People sign in at an identity provider that is not ours: oidc-provider, and one that misbehaves. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { sweepAuthorized } from '../../src/engine/configuration/authorizations/index.ts'
import type { Db } from '../../src/engine/storage/database/client.ts'
import { plinth } from '../cli/plinth.ts'
import { expectFailure, sleep, succeed } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { openIssuer, type TestIssuer } from '../support/issuer.ts'
import { answerIn, type MetadataHost, oauthClient, openMetadataHost, sessionIn } from '../support/oauth.ts'
import { scratch } from '../support/scratch.ts'
import type { TestServer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const CLIENT = { id: 'plinth', secret: 'a-secret-of-the-client-with-32-bytes' }
const MAPPING = [
  {
    claim: 'groups',
    value: 'support',
    grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'write' }],
  },
  {
    claim: 'groups',
    value: 'audit',
    grants: [{ base: '*', record_type: '*', environment: '*', permission: 'read' }],
  },
]
const settings = (issuer: string) => ({
  PLINTH_OIDC_ISSUER: issuer,
  PLINTH_OIDC_CLIENT_ID: CLIENT.id,
  PLINTH_OIDC_CLIENT_SECRET: CLIENT.secret,
  PLINTH_OIDC_GRANTS: JSON.stringify(MAPPING),
})

/** A browser with cookies, which follows redirects by hand. */
function openBrowserOf() {
  const jar = new Map<string, { value: string; path: string }>()
  const get = async (url: string): Promise<Response> => {
    const { pathname, host } = new URL(url)
    const sent = [...jar]
      .filter(([key, { path }]) => key.startsWith(`${host} `) && pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[1]}=${value}`)
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...(sent.length > 0 && { cookie: sent.join('; ') }) },
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      const path = /path=([^;]+)/i.exec(cookie)?.[1] ?? '/'
      if (value === '') jar.delete(`${host} ${name}`)
      else jar.set(`${host} ${name}`, { value, path })
    }
    return answer
  }
  /** Follows until an answer is no redirect, or one that a fragment ends. */
  const follow = async (url: string): Promise<{ url: string; text: string; status: number }> => {
    for (let at = url, n = 0; n < 12; n++) {
      const answer = await get(at)
      const next = answer.headers.get('location')
      if (next === null) return { url: at, text: await answer.text(), status: answer.status }
      at = new URL(next, at).href
      if (at.includes('#')) return { url: at, text: '', status: answer.status }
    }
    throw new Error('too many redirects')
  }
  return { get, follow }
}

/** What the provider knows of people, and what it does to them. */
type Account = { claims: object; isGone?: boolean }

/** A real provider. It signs in whoever `current` is, and asks nothing. */
async function openProvider(redirectUri: string) {
  const accounts = new Map<string, Account>()
  const of = { current: '' }
  let isDown: boolean | 'cut' = false
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const http = createServer((request, response) =>
    isDown === 'cut'
      ? response.writeHead(200, { 'content-type': 'application/json' }).end('{"id_tok')
      : isDown
        ? request.socket.destroy()
        : handle(request, response),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] },
        ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    conformIdTokenClaims: false,
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    findAccount: (_context: unknown, id: string) => {
      const found = accounts.get(id)
      if (!found || found.isGone) return undefined
      return { accountId: id, claims: async () => ({ sub: id, ...found.claims }) }
    },
    interactions: {
      url: (_context: unknown, interaction: { uid: string }) => `/interact/${interaction.uid}`,
    },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['test'] },
    pkce: { required: () => true },
  })
  const answer = provider.callback()
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { params } = await provider.interactionDetails(request, response)
    const grant = new provider.Grant({ accountId: of.current, clientId: params.client_id })
    grant.addOIDCScope('openid profile email offline_access')
    const result = { login: { accountId: of.current }, consent: { grantId: await grant.save() } }
    await provider.interactionFinished(request, response, result)
  }
  handle = (request, response) => {
    if (request.url?.startsWith('/interact/')) interact(request, response).catch(() => response.destroy())
    else answer(request, response)
  }
  return {
    issuer,
    accounts,
    of,
    /** `cut`: it answers with a part of what it says. */
    setDown: (down: boolean | 'cut') => {
      isDown = down
    },
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

const PORT = 7460
let provider: Awaited<ReturnType<typeof openProvider>>
let host: MetadataHost
let world: World
beforeAll(async () => {
  provider = await openProvider(`http://127.0.0.1:${PORT}/sign-in/callback`)
  provider.accounts.set('mia', { claims: { name: 'Mia', groups: ['support', 'x'] } })
  provider.accounts.set('eve', { claims: { name: 'Eve', groups: ['guests'] } })
  host = await openMetadataHost()
  world = await openWorld({
    ...settings(provider.issuer),
    PLINTH_PORT: String(PORT),
    PLINTH_OAUTH_SERVER: 'on',
    PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  })
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
}, 60_000)
afterAll(async () => {
  await world.close()
  await provider.close()
  await host.close()
})

/** Signs a person in at the explorer. Returns the token of the tab. */
async function enter(person: string): Promise<string> {
  provider.of.current = person
  const { url } = await openBrowserOf().follow(`${world.url}/sign-in?to=/b/crm`)
  expect(url).toMatch(/\/b\/crm#code=[\w-]{43}$/)
  const code = url.split('#code=')[1]
  return succeed(await world.as(null)('POST', '/playground/sign-in', { code })).token
}
const self = (token: string, on: TestServer = world) => on.as(token)('GET', '/v1/tokens/self')
/** Time passes: the provider has to be asked again. */
const makeDue = ({ database } = world) =>
  database.query(`UPDATE plinth.person SET checked_at = now() - interval '5 minutes'`)
const renew = (token: string) => world.as(token)('POST', '/sign-in/renew')

test('a person signs in, writes under the own name, and is renewed with what the provider says then', async () => {
  const tab = await enter('mia')
  const { body } = await self(tab)
  expect(body).toMatchObject({ kind: 'person', grants: MAPPING[0]?.grants })
  const leftMs = Date.parse(body.expires_at) - Date.now()
  expect([leftMs > 9 * 60_000, leftMs <= 10 * 60_000]).toEqual([true, true])
  succeed(await world.as(tab)('PUT', '/v1/crm/records/deal/d1', { data: {} }), 201)
  const history = succeed(await world.call('GET', '/v1/crm/records/deal/d1/history'))
  expect(history.data[0].actor).toMatchObject({ name: 'Mia', kind: 'person' })
  provider.accounts.set('mia', { claims: { name: 'Mia', groups: ['audit'] } })
  await makeDue()
  succeed(await renew(tab))
  await sleep(50)
  const renewed = (await self(tab)).body
  expect(renewed.grants).toEqual(MAPPING[1]?.grants)
  expect(renewed.expires_at > body.expires_at).toBe(true)
  provider.accounts.set('mia', { claims: { name: 'Mia', groups: ['support'] } })
})

test('`plinth open` without a token leads to the sign-in, and back to the base', async () => {
  provider.of.current = 'mia'
  const nowhere = await scratch('plinth-open-')
  const run = (url: string) =>
    plinth(['open', '--print', '--base', 'crm'], { PLINTH_URL: url, PLINTH_DATA_DIR: nowhere })
  const { code, out, err } = await run(world.url)
  expect([code, err]).toEqual([0, expect.stringContaining('and sign in')])
  const { url } = await openBrowserOf().follow(out.trim())
  expect(url).toMatch(/\/b\/crm#code=[\w-]{43}$/)
  const without = await openWorld({}, world.database)
  expect(await run(without.url)).toMatchObject({ code: expect.toSatisfy((it) => it > 0), out: '' })
  await without.close()
})

test('a person who was removed is out, with tabs and clients; one whose provider is down stays until the end', async () => {
  const tab = await enter('mia')
  const pilot = oauthClient(world, host.client('/pilot'))
  const browser = openBrowserOf()
  const page = await browser.follow(`${world.url}/sign-in?to=${encodeURIComponent(pilot.address())}`)
  expect(page.text).toContain('<dd>Mia</dd>')
  const session = sessionIn({ text: page.text } as never)
  const form = { session, base: 'crm', reach: 'all', permission: 'read', end: 'never', decision: 'allow' }
  const { code } = answerIn(await pilot.send(form))
  const tokens = succeed(await pilot.exchange(code))
  expect(tokens.expires_in).toBeLessThanOrEqual(600)

  for (const down of [true, 'cut'] as const) {
    provider.setDown(down)
    await makeDue()
    expectFailure(await renew(tab), 'INTERNAL_ERROR')
    expect((await pilot.refresh(tokens.refresh_token)).body.error).toBe('server_error')
    succeed(await self(tab))
  }
  provider.setDown(false)
  const again = succeed(await pilot.refresh(tokens.refresh_token))

  provider.accounts.set('mia', { claims: {}, isGone: true })
  await makeDue()
  expect(succeed(await renew(tab))).toEqual({ renewed: false })
  expect((await pilot.refresh(again.refresh_token)).body.error).toBe('invalid_grant')
  await sleep(50)
  for (const token of [tab, again.access_token]) expectFailure(await self(token), 'UNAUTHORIZED')
  provider.accounts.set('mia', { claims: { name: 'Mia', groups: ['support'] } })
})

test('who did not come for ninety days is forgotten, with all tabs and clients', async () => {
  const { query } = world.database
  const db = { query: (how: { text: string }, values: unknown[]) => query(how.text, values) }
  /** Whose tokens there are: the own one, of a tab, of a client. */
  const owners = async () => {
    const rows = await query<{ owner: string; count: number }>(
      `SELECT coalesce(g.name, o.name, t.name) AS owner, count(*)::int FROM plinth.token t
       LEFT JOIN plinth.token o ON o.id = t.signed_in_by
       LEFT JOIN plinth.oauth_authorization a ON a.token_id = t.id LEFT JOIN plinth.token g ON g.id = a.granted_by
       WHERE coalesce(g.name, o.name, t.name) IN ('Long', 'Short') OR t.name = 'Pilot' GROUP BY 1 ORDER BY 1`,
    )
    return rows.map(({ owner, count }) => [owner, count])
  }
  for (const [person, days] of Object.entries({ Long: 91, Short: 89 })) {
    provider.accounts.set(person, { claims: { name: person, groups: ['support'] } })
    await enter(person)
    const pilot = oauthClient(world, host.client(`/of-${person}`, { client_name: 'Pilot' }))
    const to = encodeURIComponent(pilot.address())
    const page = await openBrowserOf().follow(`${world.url}/sign-in?to=${to}`)
    const session = sessionIn({ text: page.text } as never)
    const form = { session, base: 'crm', reach: 'all', permission: 'read', end: 'never', decision: 'allow' }
    succeed(await pilot.exchange(answerIn(await pilot.send(form))['code']))
    await query(`UPDATE plinth.token SET expires_at = now() - make_interval(days => $2) WHERE name = $1`, [
      person,
      days,
    ])
  }
  const before = await owners()
  expect(before).toEqual([
    ['Long', expect.toSatisfy((count) => count >= 3)],
    ['Short', expect.toSatisfy((count) => count >= 3)],
  ])
  await sweepAuthorized(db as unknown as Db)
  expect(await owners()).toEqual([before[1]])
})

test('a person without a group that has grants is known, and has no access', async () => {
  provider.of.current = 'eve'
  const { status, text } = await openBrowserOf().follow(`${world.url}/sign-in`)
  expect([status, text]).toEqual([403, expect.stringContaining('no access here')])
  expect(text).toContain('<a class="main" href="/">')
})

test.skipIf(!CHROMIUM)(
  'a refused person comes back to where the sign-in began, and another enters, in Chromium if there is one',
  { timeout: 60_000 },
  async () => {
    const browser = await openBrowser()
    const page = await browser.newPage({ viewport: { width: 360, height: 740 } })
    const start = `${world.url}/b/crm/agents`
    const signIn = page.getByRole('link', { name: 'Sign in with your organization' })
    provider.of.current = 'eve'
    await page.goto(start)
    await signIn.click()
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await page.getByText('no access here').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await signIn.waitFor()
    expect(page.url()).toBe(start)
    // The provider knows the browser still.
    await page.context().clearCookies()
    provider.of.current = 'mia'
    await signIn.click()
    await page.getByRole('heading', { name: 'Who works here' }).waitFor()
    expect(page.url()).toBe(start)
    await page.reload()
    await page.getByRole('heading', { name: 'Who works here' }).waitFor()
    await browser.close()
  },
)

test('an answer counts in the browser that began, once, and leads to pages of this server only', async () => {
  provider.of.current = 'mia'
  const browser = openBrowserOf()
  let at = `${world.url}/sign-in?to=//evil.example/x`
  while (!at.includes('/sign-in/callback'))
    at = new URL((await browser.get(at)).headers.get('location') ?? '', at).href
  expect((await openBrowserOf().get(at)).status).toBe(401)
  expect((await browser.get(at.replace(/state=[^&]+/, 'state=x'))).status).toBe(401)
})

test('an answer of an older tab leaves the sign-in of the newer one', async () => {
  provider.of.current = 'mia'
  const browser = openBrowserOf()
  const answerOf = async () => {
    let at = `${world.url}/sign-in`
    while (!at.includes('/sign-in/callback'))
      at = new URL((await browser.get(at)).headers.get('location') ?? '', at).href
    return at
  }
  const [older, newer] = [await answerOf(), await answerOf()]
  expect((await browser.get(older)).status).toBe(401)
  expect((await browser.get(newer)).headers.get('location')).toMatch(/^\/#code=/)
})

test('a code of the provider works once', async () => {
  provider.of.current = 'mia'
  const browser = openBrowserOf()
  let at = `${world.url}/sign-in?to=https://evil.example/`
  while (!at.includes('/sign-in/callback'))
    at = new URL((await browser.get(at)).headers.get('location') ?? '', at).href
  const first = await browser.get(at)
  expect(first.headers.get('location')).toMatch(/^\/#code=/)
  expect((await browser.get(at)).status).toBe(401)
})

test('the settings are checked by name', () => {
  const read = (more: Record<string, string>) => () =>
    readConfig({ ...settings('https://id.example'), ...more })
  expect(read({})).not.toThrow()
  expect(read({ PLINTH_OIDC_GRANTS: '{' })).toThrow(/PLINTH_OIDC_GRANTS must be JSON/)
  expect(read({ PLINTH_OIDC_CLIENT_SECRET: '' })).toThrow(/PLINTH_OIDC_ISSUER is set with/)
  expect(read({ PLINTH_HOST: '0.0.0.0' })).toThrow(/PLINTH_PUBLIC_URL/)
})

type Lies = {
  claims?: object
  signing?: Parameters<TestIssuer['sign']>[1]
  metadata?: object
  token?: object
  userinfo?: { status?: number; body?: object }
}

/** Begins a sign-in at a provider that lies, and brings its answer. `later` works on after it. */
async function signInAtLiar(
  { claims = {}, signing = {}, metadata = {}, token = {}, userinfo = {} }: Lies,
  later?: (server: World, code: string) => Promise<void>,
) {
  const liar: TestIssuer = await openIssuer({ metadata: '/.well-known/none' })
  const { origin, published } = liar
  let nonce = ''
  liar.intervene((request, response) => {
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/.well-known/openid-configuration')
      json({
        ...{ issuer: origin, authorization_endpoint: `${origin}/a`, token_endpoint: `${origin}/t` },
        ...{ jwks_uri: `${origin}/keys`, userinfo_endpoint: `${origin}/who`, ...metadata },
      })
    else if (request.url === '/keys') json({ keys: published.map(({ jwk }) => jwk) })
    else if (request.url === '/who') json(userinfo.body ?? {}, userinfo.status)
    else if (request.url === '/t')
      void liar
        .sign({ aud: CLIENT.id, nonce, groups: ['support'], ...claims }, signing)
        .then((id_token) => json({ id_token, access_token: 'x', token_type: 'Bearer', ...token }))
    else return false
    return true
  })
  // What is renewed is encrypted, so it needs a database of its own.
  const server = await openWorld(settings(origin), later ? undefined : world.database)
  try {
    const browser = openBrowserOf()
    const first = await browser.get(`${server.url}/sign-in`)
    if (first.status !== 303)
      return { status: first.status, text: await first.text(), url: '', log: server.log.join('') }
    const begun = new URL(first.headers.get('location') ?? '')
    nonce = begun.searchParams.get('nonce') ?? ''
    const answer = `${server.url}/sign-in/callback?code=x&state=${begun.searchParams.get('state')}`
    const end = await browser.follow(answer)
    await later?.(server, end.url.split('#code=')[1] ?? '')
    return { ...end, log: server.log.join('') }
  } finally {
    await server.close()
    await liar.close()
  }
}

test.each<[string, Lies, RegExp]>([
  ['for another audience', { claims: { aud: 'other' } }, /not valid/],
  ['for another party', { claims: { azp: 'other' } }, /another sign-in/],
  ['of another sign-in', { claims: { nonce: 'x' } }, /another sign-in/],
  ['without a subject', { claims: { sub: undefined } }, /not valid/],
  ['whose subject is a number', { claims: { sub: 5 } }, /names nobody/],
  ['whose subject is empty', { claims: { sub: '' } }, /names nobody/],
  ['whose subject no database keeps', { claims: { sub: 'a\u0000b' } }, /names nobody/],
  ['whose subject is too long', { claims: { sub: 'x'.repeat(256) } }, /names nobody/],
  ['of another issuer', { claims: { iss: 'https://evil.example' } }, /not valid/],
  ['that is no text', { token: { id_token: { toString: 1 } } }, /not valid/],
])('a token of identity %s is refused', async (_name, lies, says) => {
  const { status, text } = await signInAtLiar(lies)
  expect([status, text]).toEqual([401, expect.stringMatching(says)])
})

test.each<[string, object]>([
  ['that has expired', { exp: 1 }],
  ['from a clock ahead of ours', { nbf: Math.floor(Date.now() / 1000) + 600 }],
])('a token of identity %s is refused for the clocks', async (_name, claims) => {
  const { status, text } = await signInAtLiar({ claims })
  expect([status, text]).toEqual([500, expect.stringMatching(/clocks .* differ/)])
})

const GROUPLESS = { groups: undefined }
test.each<[string, Lies]>([
  ['whose metadata has no page for people', { metadata: { authorization_endpoint: undefined } }],
  ['whose page for people is a script', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
  ['whose methods are no list', { metadata: { token_endpoint_auth_methods_supported: 5 } }],
  ['that cannot say the groups now', { claims: GROUPLESS, userinfo: { status: 503 } }],
  ['that is asked too often', { claims: GROUPLESS, userinfo: { status: 429 } }],
])('a provider %s is not reachable, and nobody is refused for it', async (_name, lies) => {
  const { status, text, log } = await signInAtLiar(lies)
  expect([status, text]).toEqual([500, expect.stringContaining('not reachable')])
  expect(log).not.toMatch(/TypeError/)
})

test('the groups are those of the person of the token, and of nobody else', async () => {
  const groups = ['support']
  const own = await signInAtLiar({ claims: GROUPLESS, userinfo: { body: { sub: 'alice', groups } } })
  expect(own.url).toMatch(/#code=/)
  const other = await signInAtLiar({ claims: GROUPLESS, userinfo: { body: { sub: 'eve', groups } } })
  expect([other.status, other.text]).toEqual([403, expect.stringContaining('no access here')])
})

const end = { exp: Math.floor(Date.now() / 1000) - 300 }
test.each<[string, (lies: { claims: object; signing: object }, other: TestIssuer) => object]>([
  ['a clock that is wrong', ({ claims }) => Object.assign(claims, end)],
  ['a key that is not published', ({ signing }) => Object.assign(signing, { header: { kid: 'new' } })],
  ['another key under the same id', ({ signing }, { published: [key] }) => Object.assign(signing, { key })],
])('%s for a while ends no person', async (_, lie) => {
  const lies = { claims: {}, signing: {} }
  const other = await openIssuer()
  await signInAtLiar({ ...lies, token: { refresh_token: 'r' } }, async (server, code) => {
    const { token } = succeed(await server.as(null)('POST', '/playground/sign-in', { code }))
    const lied = Object.keys(lie(lies, other))
    await makeDue(server)
    expectFailure(await server.as(token)('POST', '/sign-in/renew'), 'INTERNAL_ERROR')
    succeed(await self(token, server))
    for (const name of lied) for (const of of Object.values(lies)) Reflect.deleteProperty(of, name)
    await makeDue(server)
    succeed(await server.as(token)('POST', '/sign-in/renew'))
  })
  await other.close()
})
