/** The authorization server of Plinth: from the address to an ordinary token, and its end. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { expectFailure, sleep, succeed } from '../support/answers.ts'
import { answerIn, type MetadataHost, oauthClient, openMetadataHost, sessionIn } from '../support/oauth.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let host: MetadataHost
let pilot: ReturnType<typeof oauthClient>
beforeAll(async () => {
  host = await openMetadataHost()
  world = await openWorld({
    PLINTH_OAUTH_SERVER: 'on',
    PLINTH_OAUTH_REGISTRATION: 'on',
    PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  })
  pilot = oauthClient(world, host.client('/pilot'))
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(async () => {
  await world.close()
  await host.close()
})

const person = (permission = 'write', more: object = {}, writes?: object) =>
  world.newToken([{ base: 'crm', permission, ...(writes && { writes }) }], {
    name: 'Mia',
    kind: 'person',
    ...more,
  })
const issued = async (pasted: string, choice = {}) => {
  const code = answerIn(await pilot.allow(pasted, choice))['code']
  return succeed(await pilot.exchange(code))
}
const self = (token: string) => world.as(token)('GET', '/v1/tokens/self')

test('a refusal of /mcp leads to the metadata, and that to the endpoints', async () => {
  const refused = await world.as(null)('POST', '/mcp/crm', {})
  expect(refused.status).toBe(401)
  const where = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
  expect(where).toBe(`${world.url}/.well-known/oauth-protected-resource/mcp/crm`)
  const resource = (await (await fetch(where)).json()) as Record<string, unknown>
  expect(resource).toMatchObject({ resource: `${world.url}/mcp/crm`, authorization_servers: [world.url] })
  const { body } = await world.as(null)('GET', '/.well-known/oauth-authorization-server')
  expect(body).toMatchObject({
    issuer: world.url,
    authorization_endpoint: `${world.url}/oauth/authorize`,
    token_endpoint: `${world.url}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  })
})

test('what comes out is a token of an agent, named after the client, made by the person', {
  tags: 'full',
}, async () => {
  const mia = await person()
  const answer = await pilot.allow(mia.token)
  expect([answer.status, answerIn(answer)]).toEqual([
    303,
    { code: expect.stringMatching(/^[\w-]{43}$/), state: 'st-1', iss: world.url },
  ])
  const exchanged = await pilot.exchange(answerIn(answer)['code'])
  const { access_token, refresh_token, expires_in, token_type } = succeed(exchanged)
  expect(exchanged.headers.get('cache-control')).toBe('no-store')
  expect([token_type, expires_in, refresh_token.startsWith('plr_')]).toEqual(['Bearer', 3600, true])
  expect((await self(access_token)).body).toMatchObject({
    ...{ name: 'Desk Pilot', kind: 'agent', created_by: mia.id },
    grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'write' }],
  })
  const agent = world.as(access_token)
  succeed(await agent('PUT', '/v1/crm/records/deal/d1', { data: {} }), 201)
  const history = succeed(await world.call('GET', '/v1/crm/records/deal/d1/history'))
  expect(history.data[0].actor).toMatchObject({ name: 'Desk Pilot', kind: 'agent' })
  expect(world.log.join('\n')).not.toMatch(new RegExp(`${access_token}|${refresh_token}|${mia.token}`))
  const listed = succeed(await world.call('GET', '/v1/tokens'))
  const { id } = listed.data.find(({ name }: { name: string }) => name === 'Desk Pilot')
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  await sleep(100)
  expectFailure(await self(access_token), 'UNAUTHORIZED')
  expect((await pilot.refresh(refresh_token)).body.error).toBe('invalid_grant')
})

test.each<[string, Record<string, string>, object[]]>([
  [
    'some types to read',
    { reach: 'types', 'type:deal': 'on', permission: 'read' },
    [{ base: 'crm', record_type: ['deal'], environment: '*', permission: 'read' }],
  ],
  [
    'proposals',
    { permission: 'propose' },
    [{ base: 'crm', record_type: '*', environment: '*', permission: 'write', writes: 'propose' }],
  ],
])('the person allows %s', async (_name, choice, grants) => {
  const { access_token } = await issued((await person('manage')).token, choice)
  expect((await self(access_token)).body.grants).toEqual(grants)
})

test('a token with a policy has no more bounds by allowing clients', { tags: 'full' }, async () => {
  const rule = { record_type: 'deal', operations: ['update'], fields: ['data.stage'], max: 1, per: 'hour' }
  const agent = await person('write', {}, { auto: [rule] })
  for (const id of ['bound-1', 'bound-2'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: { stage: 'open' } }), 201)
  const won = { data: { stage: 'won' } }
  succeed(await agent.call('PATCH', '/v1/crm/records/deal/bound-1', won))
  const client = world.as((await issued(agent.token)).access_token)
  expect(succeed(await client('PATCH', '/v1/crm/records/deal/bound-2', won)).change_set).toBeDefined()
  const stageOf = async (id: string) =>
    succeed(await world.call('GET', `/v1/crm/records/deal/${id}`)).data.stage
  expect([await stageOf('bound-1'), await stageOf('bound-2')]).toEqual(['won', 'open'])
})

test('a client approves and decides nothing of the person, who approves what the client wrote', {
  tags: 'full',
}, async () => {
  succeed(
    await world.call('PUT', '/v1/bases/crm', {
      settings: { change_sets: { approvals: 1, self_approval: false } },
    }),
  )
  const mia = await person()
  const client = world.as((await issued(mia.token)).access_token)
  const propose = async (by: typeof client, name: string) => {
    succeed(await by('POST', '/v1/crm/preview', { name, copy: 'on_write' }), 201)
    succeed(await by('PUT', `/v1/crm--${name}/records/deal/${name}`, { data: {} }), 201)
  }
  const approve = { verdict: 'approve', revision: 1 }
  await propose(mia.call, 'of-mia')
  succeed(await client('POST', '/v1/crm--of-mia/reviews', approve), 201)
  expectFailure(await mia.call('POST', '/v1/crm/promote', { from: 'crm--of-mia' }), 'CONFLICT')
  const { id } = succeed(await mia.call('POST', '/v1/crm/review-requests', { from: 'crm--of-mia' }), 201)
  const decision = { decision: 'accept' }
  expectFailure(await client('POST', `/v1/crm/review-requests/${id}/decision`, decision), 'FORBIDDEN')
  // Nor in a tab of its own, nor once it is revoked.
  const code = await client('POST', '/v1/tokens/self/sign-in-codes')
  expect(expectFailure(code, 'FORBIDDEN').details[0].code).toBe('token_required')
  const { id: clientId } = succeed(await client('GET', '/v1/tokens/self'))
  succeed(await world.call('DELETE', `/v1/tokens/${clientId}`))
  expectFailure(await mia.call('POST', '/v1/crm/promote', { from: 'crm--of-mia' }), 'CONFLICT')
  expect((await world.call('GET', '/v1/crm/records/deal/of-mia')).status).toBe(404)
  const another = world.as((await issued(mia.token)).access_token)
  await propose(another, 'of-client')
  succeed(await mia.call('POST', '/v1/crm--of-client/reviews', approve), 201)
  succeed(await mia.call('POST', '/v1/crm/promote', { from: 'crm--of-client' }))
})

test('an address of a base, or of an endpoint, allows that only', { tags: 'full' }, async () => {
  const endpoint = { name: 'Desk' }
  const made = await world.call('PUT', '/v1/crm/endpoints/desk', endpoint)
  expect(made.status, made.text).toBeLessThan(300)
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const there = oauthClient(world, host.client('/there'), `${world.url}/mcp/crm/e/desk`)
  const page = await there.signIn(world.adminToken)
  expect(page.text).toContain('Only the endpoint Desk (desk)')
  expect(page.text).not.toMatch(/value="(all|other|manage|admin)"/)
  const choice = { reach: 'endpoint:desk', permission: 'write' }
  expect((await there.allow(world.adminToken, { ...choice, reach: 'all' })).status).toBe(400)
  expect((await there.allow(world.adminToken, { ...choice, base: 'other' })).status).toBe(403)
  const { code } = answerIn(await there.allow(world.adminToken, choice))
  const { access_token } = succeed(await there.exchange(code))
  expect((await self(access_token)).body.grants).toEqual([
    { base: 'crm', endpoint: 'desk', environment: '*', permission: 'write' },
  ])
})

test('of a token that proposes, an endpoint is allowed to be read only', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/crm/endpoints/reading', { name: 'Reading' }), 201)
  const there = oauthClient(world, host.client('/there'), `${world.url}/mcp/crm/e/reading`)
  const { token } = await world.newToken([{ permission: 'write', writes: 'propose' }], { kind: 'person' })
  expect((await there.signIn(token)).text).not.toContain('value="write"')
  const choice = { reach: 'endpoint:reading' }
  const { code } = answerIn(await there.allow(token, { ...choice, permission: 'read' }))
  const { access_token } = succeed(await there.exchange(code))
  expect((await self(access_token)).body.grants).toEqual([
    { base: 'crm', endpoint: 'reading', environment: '*', permission: 'read' },
  ])
  const more = answerIn(await there.allow(token, { ...choice, permission: 'write' }))
  expect(more['code']).toBeUndefined()
})

test('a refresh replaces both secrets, and keeps the token; a replay ends it', { tags: 'full' }, async () => {
  const first = await issued((await person()).token)
  const { id } = (await self(first.access_token)).body
  const second = succeed(await pilot.refresh(first.refresh_token))
  await sleep(50)
  expectFailure(await self(first.access_token), 'UNAUTHORIZED')
  expect((await self(second.access_token)).body.id).toBe(id)
  const third = succeed(await pilot.refresh(second.refresh_token))
  expect((await pilot.refresh(second.refresh_token)).body.error).toBe('invalid_grant')
  await sleep(50)
  expectFailure(await self(third.access_token), 'UNAUTHORIZED')
  expect((await pilot.refresh(third.refresh_token)).status).toBe(400)
})

test('the client revokes its token, by either secret, and no other client does', {
  tags: 'full',
}, async () => {
  for (const secret of ['access_token', 'refresh_token'] as const) {
    const tokens = await issued((await person()).token)
    expect((await pilot.revoke(tokens[secret], { client_id: 'other' })).status).toBe(200)
    succeed(await self(tokens.access_token))
    expect((await pilot.revoke(tokens[secret])).status).toBe(200)
    await sleep(50)
    expectFailure(await self(tokens.access_token), 'UNAUTHORIZED')
  }
  expect((await pilot.revoke('plt_unknown')).status).toBe(200)
})

test('the end of the person is that of the client: revoked, expired, or with fewer rights', {
  tags: 'full',
}, async () => {
  const mia = await person()
  const revoked = await issued(mia.token)
  succeed(await world.call('DELETE', `/v1/tokens/${mia.id}`))
  await sleep(50)
  expectFailure(await self(revoked.access_token), 'UNAUTHORIZED')
  expect((await pilot.refresh(revoked.refresh_token)).status).toBe(400)

  const soon = new Date(Date.now() + 1_800_000).toISOString()
  const tim = await person('write', { expires_at: soon })
  expect((await pilot.allow(tim.token, { end: '24' })).status).toBe(400)
  const { access_token, expires_in, refresh_token } = await issued(tim.token, { end: 'own' })
  expect([(await self(access_token)).body.expires_at, expires_in <= 1800]).toEqual([soon, true])
  await world.database.query(
    `UPDATE plinth.token SET grants = '[{"base":"crm","record_type":"note","environment":"*","permission":"read"}]' WHERE id = $1`,
    [tim.id],
  )
  expect((await pilot.refresh(refresh_token)).status).toBe(400)
})

test('a tab allows as the one that opened it, and a client allows no other', { tags: 'full' }, async () => {
  const mia = await person()
  const { code } = succeed(await mia.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
  const { access_token } = await issued(code)
  expect((await self(access_token)).body.created_by).toBe(mia.id)
  const again = await pilot.signIn(access_token)
  expect([again.status, sessionIn(again)]).toEqual([403, ''])
})

test('a client registers itself, and its count is bounded', { tags: 'full' }, async () => {
  const body = { client_name: 'Old \u202e Pilot', redirect_uris: ['http://127.0.0.1:1/callback'] }
  const made = succeed(await world.as(null)('POST', '/oauth/register', body), 201)
  expect(made).toMatchObject({ token_endpoint_auth_method: 'none', client_name: 'Old Pilot' })
  const old = oauthClient(world, made.client_id)
  const { code } = answerIn(await old.allow((await person()).token))
  succeed(await old.exchange(code))
  await world.database.query(
    `INSERT INTO plinth.oauth_client (id, name, redirect_uris) SELECT 'x' || n, 'x', '[]' FROM generate_series(1, 499) n`,
  )
  expect((await world.as(null)('POST', '/oauth/register', body)).status).toBe(503)
  await world.database.query(`UPDATE plinth.oauth_client SET created_at = now() - interval '11 minutes'`)
  succeed(await world.as(null)('POST', '/oauth/register', body), 201)
  const [{ count } = { count: '' }] = await world.database.query<{ count: string }>(
    'SELECT count(*) FROM plinth.oauth_client WHERE id = $1',
    [made.client_id],
  )
  expect(Number(count)).toBe(1)
})

test('what the authorization server needs is said by name', () => {
  const read = (env: Record<string, string>) => () => readConfig({ PLINTH_OAUTH_SERVER: 'on', ...env })
  expect(read({})).not.toThrow()
  expect(read({ PLINTH_PUBLIC_URL: 'https://data.example' })).not.toThrow()
  expect(read({ PLINTH_PUBLIC_URL: 'http://data.example' })).toThrow(
    /PLINTH_OAUTH_SERVER needs PLINTH_PUBLIC/,
  )
  expect(read({ PLINTH_PUBLIC_URL: 'https://data.example/x' })).toThrow(/without a path/)
  expect(read({ PLINTH_HOST: '0.0.0.0' })).toThrow(/PLINTH_PUBLIC_URL/)
  const issuer = { PLINTH_OAUTH_ISSUER: 'https://id.example', PLINTH_OAUTH_AUDIENCE: 'x' }
  expect(read(issuer)).toThrow(/beside PLINTH_OAUTH_ISSUER/)
  expect(read({ PLINTH_OAUTH_SERVER: 'off', PLINTH_OAUTH_REGISTRATION: 'on' })).toThrow(
    /needs PLINTH_OAUTH_SERVER=on/,
  )
})

test('where there is no base yet, a client that may all makes the first', { tags: 'full' }, async () => {
  const mia = await person()
  succeed(await world.call('DELETE', '/v1/bases/crm?confirm=crm'))
  expect((await pilot.signIn(mia.token)).text).not.toMatch(/all bases/)
  const { access_token } = await issued(world.adminToken, { base: '*', permission: 'admin' })
  succeed(await world.as(access_token)('PUT', '/v1/bases/first', {}), 201)
})
