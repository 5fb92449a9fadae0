/** What clients, pages and tokens that are not honest send to the authorization server: nothing gets through. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import {
  answerIn,
  CALLBACK,
  type MetadataHost,
  oauthClient,
  openMetadataHost,
  type Sent,
  sessionIn,
  VERIFIER,
} from '../support/oauth.ts'
import type { Answer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let host: MetadataHost
let pilot: ReturnType<typeof oauthClient>
let mia: string
beforeAll(async () => {
  host = await openMetadataHost()
  world = await openWorld({
    PLINTH_OAUTH_SERVER: 'on',
    PLINTH_OAUTH_REGISTRATION: 'on',
    PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  })
  pilot = oauthClient(world, host.client('/pilot'))
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { name: 'Desk' }), 201)
  ;({ token: mia } = await world.newToken([{ base: 'crm', permission: 'write' }], { name: 'Mia' }))
})
afterAll(async () => {
  await world.close()
  await host.close()
})

const countTokens = async () =>
  Number((await world.database.query<{ n: string }>('SELECT count(*) AS n FROM plinth.token'))[0]?.n)

/** The person is told, and nobody else: no redirect, no script, no frame. */
function expectPage({ status, text, headers }: Answer, says: RegExp): void {
  expect([status, headers.get('location')], text).toEqual([
    expect.toSatisfy((at) => at >= 400 && at < 500),
    null,
  ])
  expect(text).toMatch(says)
  expect(text).not.toMatch(/<script|<img|<form/i)
}
/** The client is told at its own address, and gets no code. */
function expectRefusal({ headers }: Answer, error: string): void {
  expect(headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:1\/callback\?/)
  expect(new URL(headers.get('location') ?? '').searchParams.get('error')).toBe(error)
  expect(headers.get('location')).not.toMatch(/[?&]code=/)
}

test.each<[string, Sent, RegExp]>([
  ['no client', { client_id: undefined }, /client_id is missing/],
  ['a client that is not registered', { client_id: 'nobody' }, /not registered/],
  ['a client at a plain http address elsewhere', { client_id: 'http://example.com/c' }, /https address/],
  ['a client without a path', { client_id: 'https://example.com/' }, /https address/],
  ['a client id with a fragment', { client_id: 'https://example.com/c#x' }, /https address/],
  ['a client id with a user name', { client_id: 'https://a@example.com/c' }, /https address/],
  ['a client id with dot segments', { client_id: 'https://example.com/a/../c' }, /https address/],
  ['a client id in other letters', { client_id: 'HTTPS://example.com/c' }, /https address/],
  ['a client on a private network', { client_id: 'https://10.0.0.1/c' }, /cannot be read/],
  ['a client at the metadata of a cloud', { client_id: 'https://169.254.169.254/latest' }, /cannot be read/],
  ['a client at an IPv6 form of it', { client_id: 'https://[::ffff:a9fe:a9fe]/latest' }, /cannot be read/],
  ['a client at a port of mail', { client_id: 'https://example.com:25/c' }, /cannot be read/],
  ['a redirect elsewhere', { redirect_uri: 'https://evil.example/callback' }, /has not named/],
  ['a redirect with more path', { redirect_uri: `${CALLBACK}/more` }, /has not named/],
  ['a redirect with a query', { redirect_uri: `${CALLBACK}?next=//evil.example` }, /has not named/],
  [
    'a redirect with a user name',
    { redirect_uri: 'http://127.0.0.1:1@evil.example/callback' },
    /has not named/,
  ],
  [
    'a redirect to another name of this machine',
    { redirect_uri: 'http://localhost:1/callback' },
    /has not named/,
  ],
  [
    'a redirect with a backslash',
    { redirect_uri: 'http://127.0.0.1:1\\@evil.example/callback' },
    /has not named/,
  ],
  ['a redirect to a script', { redirect_uri: 'javascript:alert(1)' }, /has not named/],
  ['no redirect', { redirect_uri: undefined }, /redirect_uri is missing/],
  ['a null character', { client_id: 'a\0b' }, /client_id has a null character/],
])('a request with %s is told to the person only', async (_name, more, says) => {
  expectPage(await pilot.open(more), says)
  expectPage(await pilot.send({ token: mia, decision: 'allow' }, more), says)
})

test.each<[string, Sent, string]>([
  ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
  ['a fragment as the answer', { response_mode: 'fragment' }, 'invalid_request'],
  ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  ['a plain challenge', { code_challenge: VERIFIER, code_challenge_method: 'plain' }, 'invalid_request'],
  ['no method of the challenge', { code_challenge_method: undefined }, 'invalid_request'],
  ['a challenge that is too short', { code_challenge: 'abc' }, 'invalid_request'],
  ['the resource of another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['a resource besides /mcp', { resource: 'http://127.0.0.1/v1' }, 'invalid_target'],
])('a request with %s is refused at the address of the client', async (_name, more, error) => {
  expectRefusal(await pilot.open(more), error)
  expectRefusal(await pilot.send({ token: mia, decision: 'allow' }, more), error)
})

test.each(['https://web.example/web-1', 'HTTPS://web.example/web-2'])(
  'a link to this server leads to no site by itself: %s',
  async (redirect) => {
    const web = oauthClient(world, host.client(new URL(redirect).pathname, { redirect_uris: [redirect] }))
    const asked = { redirect_uri: redirect, response_type: 'token' }
    const answer = await web.open(asked)
    expectPage(answer, /response_type must be code/)
    expectPage(await web.send({ token: mia, decision: 'allow' }, asked), /response_type must be code/)
    const [, back = ''] = /<a href="([^"]+)">Back to the client/.exec(answer.text) ?? []
    const { origin, searchParams } = new URL(back.replaceAll('&#38;', '&'))
    expect([origin, searchParams.get('error'), searchParams.get('state')]).toEqual([
      'https://web.example',
      'unsupported_response_type',
      'st-1',
    ])
  },
)

test('a parameter that comes twice is refused', async () => {
  const twice = `${pilot.address()}&redirect_uri=${encodeURIComponent('https://evil.example/')}`
  expectPage(await world.as(null)('GET', twice), /twice/)
})

test('more parameters than a form has are refused before they are read', async () => {
  const many = times(2000, (n) => `p${n}`).join('&')
  expectPage(await world.as(null)('GET', `${pilot.address()}&${many}`), /more than 1100 parameters/)
  const answer = await world.as(null)('POST', '/oauth/token', many, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
  expect(answer.body.error_description).toMatch(/more than 1100 parameters/)
})

test.each<[string, (id: string) => object | string, RegExp]>([
  ['of another client', () => ({ client_id: 'https://claude.ai/client' }), /another client/],
  ['with a secret', (id) => ({ client_id: id, client_secret: 'x' }), /client_secret/],
  [
    'of a client with a key',
    (id) => ({ client_id: id, token_endpoint_auth_method: 'private_key_jwt' }),
    /auth_method/,
  ],
  ['without redirects', (id) => ({ client_id: id, redirect_uris: [] }), /redirect_uris/],
  [
    'with too many redirects',
    (id) => ({ client_id: id, redirect_uris: times(21, () => CALLBACK) }),
    /redirect_uris/,
  ],
  [
    'with a script among them',
    (id) => ({ client_id: id, redirect_uris: [CALLBACK, 'javascript:alert(1)//'] }),
    /redirect_uris/,
  ],
  [
    'with plain http among them',
    (id) => ({ client_id: id, redirect_uris: ['http://evil.example/'] }),
    /redirect_uris/,
  ],
  ['with data among them', (id) => ({ client_id: id, redirect_uris: ['data:text/html,x'] }), /redirect_uris/],
  ['that is huge', (id) => ({ client_id: id, client_name: 'x'.repeat(20_000) }), /more than 8192 bytes/],
  ['that is no JSON', () => '<html>', /not valid/],
  ['that is a list', () => '[]', /not valid/],
])('metadata %s is refused', async (name, document, says) => {
  const path = `/${name.replace(/\W/g, '-')}`
  const id = host.on(path, (_asked, response) => {
    const body = document(`${host.url}${path}`)
    const whole = typeof body === 'string' ? body : JSON.stringify({ redirect_uris: [CALLBACK], ...body })
    response.writeHead(200, { 'content-type': 'application/json' }).end(whole)
  })
  expectPage(await pilot.open({ client_id: id }), says)
})

test('metadata elsewhere is not followed, and not asked for all the time', async () => {
  const id = host.on('/moved', (_asked, response) =>
    response.writeHead(302, { location: `${host.url}/pilot` }).end(),
  )
  for (const _ of times(5, () => 0)) expectPage(await pilot.open({ client_id: id }), /answers 302/)
  expect(host.asked.filter(({ url }) => url.pathname === '/moved')).toHaveLength(1)
})

test('what a client calls itself is text, on one line, and the host is said', async () => {
  const id = host.client('/fake', { client_name: '<b onclick=x>Claude\n\n\u202e"&\'' })
  const { text } = await pilot.open({ client_id: id })
  expect(text).toContain('“&#60;b onclick=x&#62;Claude &#34;&#38;&#39;” wants')
  expect(text).toContain(host.url.slice('http://'.length))
})

test('pages run no script, fit in no frame, are not kept, and send forms here and to the client only', {
  tags: 'full',
}, async () => {
  for (const page of [await pilot.open(), await pilot.signIn(mia)]) {
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(
      /default-src 'none'; style-src 'sha256-[\w+/=]+'; frame-ancestors 'none'; base-uri 'none'/,
    )
    expect(policy).toMatch(/; form-action 'self' http:\/\/127\.0\.0\.1:1$/)
    expect([page.headers.get('x-frame-options'), page.headers.get('cache-control')]).toEqual([
      'DENY',
      'no-store',
    ])
    expect(page.headers.get('set-cookie')).toBeNull()
    const style = /<style>(.*)<\/style>/s.exec(page.text)?.[1] ?? ''
    expect(policy).toContain(createHash('sha256').update(style).digest('base64'))
    expect(page.text).not.toContain(mia)
  }
})

test.each<[string, Record<string, string>]>([
  ['another site', { origin: 'https://evil.example' }],
  ['a frame without an origin', { origin: 'null' }],
  ['another page of this machine', { origin: 'http://127.0.0.1:9' }],
  ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }],
])('a form of %s is refused', async (_name, headers) => {
  const session = sessionIn(await pilot.signIn(mia))
  const form = { session, base: 'crm', reach: 'all', permission: 'read', end: '1', decision: 'allow' }
  const answer = await pilot.send(form, {}, headers)
  expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
})

test('a sign-in counts for the request that it was made for, and no other', { tags: 'full' }, async () => {
  const session = sessionIn(await pilot.signIn(mia))
  const form = { session, base: 'crm', reach: 'all', permission: 'read', end: '1', decision: 'allow' }
  const other = host.client('/other')
  for (const more of [{ client_id: other }, { state: 'x' }, { resource: `${world.url}/mcp/crm` }])
    expect((await pilot.send(form, more)).status).toBe(403)
  for (const forged of [
    '',
    'x',
    session.slice(1),
    `${session.startsWith('A') ? 'B' : 'A'}${session.slice(1)}`,
  ])
    expect((await pilot.send({ ...form, session: forged })).status).toBe(403)
  expect((await pilot.send(form)).status).toBe(303)
})

test.each<[string, Sent]>([
  ['more than the person has', { permission: 'admin' }],
  ['a permission that does not exist', { permission: 'root' }],
  ['a base that the person does not see', { base: 'secret' }],
  ['all without saying so', { reach: '' }],
  ['proposals of an endpoint', { reach: 'endpoint:desk', permission: 'propose' }],
  ['an endpoint that is not there', { reach: 'endpoint:ghost' }],
  ['types that are not there', { reach: 'types', 'type:ghost': 'on' }],
  ['an end long ago', { end: '-1' }],
  ['an end that is no number', { end: 'NaN' }],
  ['an end that the page does not offer', { end: '9999' }],
])('a form that asks for %s is refused', async (_name, choice) => {
  const answer = await pilot.allow(mia, choice)
  expect([answer.status, answer.headers.get('location')]).toEqual([
    expect.toSatisfy((at) => at === 400 || at === 403),
    null,
  ])
})

describe('a code', () => {
  const newCode = async () => answerIn(await pilot.allow(mia))['code'] ?? ''

  test.each<[string, Sent, string]>([
    ['another client', { client_id: 'https://evil.example/c' }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:2/callback' }, 'invalid_grant'],
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 'invalid_request'],
    ['an empty verifier', { code_verifier: '' }, 'invalid_request'],
    ['another resource of this server', { resource: 'RESOURCE' }, 'invalid_grant'],
    ['a resource elsewhere', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['a password grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no client', { client_id: undefined }, 'invalid_request'],
  ])('with %s is worth nothing', async (_name, more, error) => {
    const before = await countTokens()
    const sent = more['resource'] === 'RESOURCE' ? { resource: `${world.url}/mcp/crm` } : more
    const answer = await pilot.exchange(await newCode(), sent)
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(await countTokens()).toBe(before)
  })

  test('that met a wrong verifier is spent, so nobody tries all', async () => {
    const code = await newCode()
    await pilot.exchange(code, { code_verifier: 'x'.repeat(43) })
    expect((await pilot.exchange(code)).body.error).toBe('invalid_grant')
  })

  test('that comes twice ends what it gave', { tags: 'full' }, async () => {
    const code = await newCode()
    const { access_token } = succeed(await pilot.exchange(code))
    expect((await pilot.exchange(code)).status).toBe(400)
    expect((await world.as(access_token)('GET', '/v1/tokens/self')).status).toBe(401)
  })

  test('of many exchanges at once gives at most one, and nothing that stays', { tags: 'full' }, async () => {
    const code = await newCode()
    const before = await countTokens()
    const answers = await Promise.all(times(6, () => pilot.exchange(code)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(await countTokens()).toBe(before)
  })

  test('is over after a minute', async () => {
    const code = await newCode()
    await world.database.query(
      `UPDATE plinth.oauth_authorization SET code_expires_at = now() - interval '1 s'`,
    )
    expect((await pilot.exchange(code)).body.error).toBe('invalid_grant')
  })
})

test('refresh tokens that are forged end nothing, and are of one client and address', {
  tags: 'full',
}, async () => {
  const { code } = answerIn(await pilot.allow(mia))
  const { refresh_token, access_token } = succeed(await pilot.exchange(code))
  const forged = ['', 'plr_x', `plr_${'A'.repeat(86)}`, access_token, mia]
  for (const each of forged) expect((await pilot.refresh(each)).status).toBe(400)
  // A client that is not registered learns so, and registers again. One with an address is asked nothing.
  const ofOther = async (client_id: string) => (await pilot.refresh(refresh_token, { client_id })).body.error
  expect(await ofOther('other')).toBe('invalid_client')
  expect(await ofOther('https://other.example/client')).toBe('invalid_grant')
  for (const grant_type of ['password', 'client_credentials'])
    expect((await pilot.refresh('', { grant_type, client_id: undefined })).body.error).toBe(
      'unsupported_grant_type',
    )
  expect((await pilot.refresh(refresh_token, { resource: `${world.url}/mcp/crm` })).status).toBe(400)
  succeed(await world.as(access_token)('GET', '/v1/tokens/self'))
  // It is no token of any surface.
  expect((await world.as(refresh_token)('GET', '/v1/tokens/self')).status).toBe(401)
  succeed(await pilot.refresh(refresh_token))
})

test.each<[string, unknown]>([
  ['a script', { redirect_uris: ['javascript:alert(1)'] }],
  ['plain http', { redirect_uris: ['http://evil.example/cb'] }],
  ['a fragment', { redirect_uris: ['https://a.example/#x'] }],
  ['a user name', { redirect_uris: ['https://a@b.example/'] }],
  ['nothing', {}],
  ['no object', 'x'],
  ['a name that is no text', { client_name: {}, redirect_uris: [CALLBACK] }],
])('a registration with %s is refused', async (_name, body) => {
  const answer = await world.as(null)('POST', '/oauth/register', JSON.stringify(body), {
    'content-type': 'application/json',
  })
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^invalid_/)])
})

test('what no text can have is refused by the codes of OAuth, and a form is one in any case', async () => {
  const post = (path: string, body: string, type: string) =>
    world.as(null)('POST', `/oauth/${path}`, body, { 'content-type': type })
  const FORM = 'Application/X-WWW-Form-URLEncoded'
  const answers = [
    await pilot.revoke('plt_x', { client_id: '\0' }),
    await pilot.refresh(`plr_${'a'.repeat(86)}`, { client_id: '\0' }),
    await post(
      'register',
      JSON.stringify({ client_name: '\0', redirect_uris: [CALLBACK] }),
      'application/json',
    ),
    await post('token', '{}', 'application/json'),
  ]
  for (const { status, body } of answers) expect([status, body.error]).toEqual([400, 'invalid_request'])
  expect((await post('token', 'client_id=x', FORM)).body.error_description).toMatch(/grant_type is missing/)
})

test('another host name, and bodies that are no forms, are refused', async () => {
  const { status } = await world.as(null)('POST', '/oauth/token', { grant_type: 'refresh_token' })
  expect(status).toBe(400)
  expect((await world.as(null)('POST', '/oauth/token', 'x', { origin: 'https://evil.example' })).status).toBe(
    403,
  )
})

test('who guesses tokens and codes is stopped', { tags: 'full' }, async () => {
  const limited = await openWorld(
    { PLINTH_OAUTH_SERVER: 'on', PLINTH_RATE_LIMIT: '600', PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' },
    world.database,
  )
  try {
    const guesser = oauthClient(limited, `${host.url}/pilot`)
    const statuses: number[] = []
    while (!statuses.includes(429) && statuses.length < 500)
      statuses.push(
        ...(await Promise.all(times(25, (n) => guesser.signIn(`plt_${n}`)))).map(({ status }) => status),
      )
    expect(statuses.slice(0, 25)).toEqual(times(25, () => 403))
    expect(statuses).toContain(429)
  } finally {
    await limited.close()
  }
})

test('one address is not all clients: it neither registers nor asks for more than some', {
  tags: 'full',
}, async () => {
  const register = (n: number) =>
    world.as(null)('POST', '/oauth/register', { client_name: `c${n}`, redirect_uris: [CALLBACK] })
  const registered = await Promise.all(times(40, register))
  expect(new Set(registered.map(({ status }) => status))).toEqual(new Set([201, 503]))
  expect(registered.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(30)
  const kept = await world.database.query<{ n: string }>('SELECT count(*) AS n FROM plinth.oauth_client')
  expect(Number(kept[0]?.n)).toBeLessThanOrEqual(30)
  let asked = 0
  for (const n of times(40, (each) => each))
    host.on(`/flood-${n}`, (_asked, response) => {
      asked++
      response.writeHead(404).end()
    })
  const opened = await Promise.all(times(40, (n) => pilot.open({ client_id: `${host.url}/flood-${n}` })))
  expectPage(opened.at(-1) as Answer, /Too many clients ask at once/)
  expect(asked).toBeLessThanOrEqual(30)
  // A client that is known is served on.
  expect((await pilot.open()).status).toBe(200)
})
