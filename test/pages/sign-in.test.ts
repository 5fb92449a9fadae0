/** Signing a browser in to the playground with a one-time code. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeIn } from '../../packages/playground/src/session.ts'
import { plinth } from '../cli/plinth.ts'
import { expectDetail, expectFailure, succeed, times } from '../support/answers.ts'
import { type Body, openServer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const CODES = '/v1/tokens/self/sign-in-codes'
const newCode = async (call = world.call): Promise<string> => succeed(await call('POST', CODES), 201).code
const exchange = (code: unknown, headers: Record<string, string> = {}, call = world.as(null)) =>
  call('POST', '/playground/sign-in', { code }, headers)
const expire = (table: 'sign_in_code' | 'token', where: string) =>
  world.database.query(`UPDATE plinth.${table} SET expires_at = now() - interval '1 s' WHERE ${where}`)

test('a code is exchanged once for a token with the same grants, for twelve hours', {
  tags: 'full',
}, async () => {
  const asker = await world.newToken([{ base: 'crm', permission: 'read' }], { name: 'Mia' })
  const made = succeed(await asker.call('POST', CODES), 201)
  expect(made).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), expires_at: expect.any(String) })
  const answer = await exchange(made.code)
  const { token, expires_at } = succeed(answer)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect([token, Object.keys(answer.body)]).toEqual([expect.stringMatching(/^plt_/), ['token', 'expires_at']])
  const [own, tab] = [
    await asker.call('GET', '/v1/tokens/self'),
    await world.as(token)('GET', '/v1/tokens/self'),
  ]
  expect(tab.body).toMatchObject({ name: 'Mia (browser)', created_by: asker.id, expires_at })
  expect([tab.body.grants, tab.body.id]).toEqual([own.body.grants, expect.not.stringMatching(asker.id)])
  const hours = (Date.parse(expires_at) - Date.now()) / 3_600_000
  expect([hours > 11.9, hours <= 12]).toEqual([true, true])
  // It may no more than the token that asked.
  succeed(await world.as(token)('POST', '/graphql/crm', { query: '{ _base }' }))
  expectFailure(await world.as(token)('PUT', '/v1/crm/record-types/x', {}), 'FORBIDDEN')
  const grants = [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }]
  expectFailure(await world.as(token)('POST', '/v1/tokens', { name: 'x', grants }), 'FORBIDDEN')
  expectFailure(await exchange(made.code), 'UNAUTHORIZED')
})

test('a code of one server is exchanged once at any server of the database', { tags: 'full' }, async () => {
  const other = await openServer({}, world.database)
  try {
    const code = await newCode()
    const { token } = succeed(await exchange(code, {}, other.as(null)))
    succeed(await world.as(token)('GET', '/v1/tokens/self'))
    expectFailure(await exchange(code), 'UNAUTHORIZED')
  } finally {
    await other.close()
  }
})

test('of many exchanges of one code at the same time, one succeeds', async () => {
  const code = await newCode()
  const statuses = (await Promise.all(times(8, () => exchange(code)))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 401)).toHaveLength(7)
})

test('used, expired, unknown and malformed codes, and those of revoked tokens, have the same error', {
  tags: 'full',
}, async () => {
  const used = await newCode()
  succeed(await exchange(used))
  const expired = await newCode()
  await expire('sign_in_code', 'true')
  const revoked = await world.newToken([{ permission: 'read' }])
  const orphan = await newCode(revoked.call)
  succeed(await world.call('DELETE', `/v1/tokens/${revoked.id}`))
  const over = await world.newToken([{ permission: 'read' }])
  const late = await newCode(over.call)
  await expire('token', `id = '${over.id}'`)
  const errors = []
  for (const code of [used, expired, orphan, late, 'x'.repeat(43), '', "' OR 1=1 --", 'é']) {
    const { request_id: _, ...error } = expectFailure(await exchange(code), 'UNAUTHORIZED')
    errors.push(JSON.stringify(error))
  }
  expect(new Set(errors).size).toBe(1)
  for (const code of [undefined, null, 7, ['a'], 'x'.repeat(300)])
    expectFailure(await exchange(code), 'VALIDATION_ERROR')
  expect((await exchange('x'.repeat(5000))).status).toBe(400)
})

test('a revocation ends the tabs that the token signed in, at once', async () => {
  const asker = await world.newToken([{ permission: 'read' }])
  const { token } = succeed(await exchange(await newCode(asker.call)))
  succeed(await world.as(token)('GET', '/v1/tokens/self'))
  succeed(await world.call('DELETE', `/v1/tokens/${asker.id}`))
  expectFailure(await world.as(token)('GET', '/v1/tokens/self'), 'UNAUTHORIZED')
})

test('signing out revokes the token of a tab, and no other', { tags: 'full' }, async () => {
  const asker = await world.newToken([{ permission: 'read' }])
  const out = (token: string) => world.as(token)('POST', '/playground/sign-out')
  const [first, second] = [
    succeed(await exchange(await newCode(asker.call))).token,
    succeed(await exchange(await newCode(asker.call))).token,
  ]
  expect(succeed(await out(first))).toEqual({ revoked: true })
  expectFailure(await world.as(first)('GET', '/v1/tokens/self'), 'UNAUTHORIZED')
  expectFailure(await out(first), 'UNAUTHORIZED')
  expect(succeed(await out(asker.token))).toEqual({ revoked: false })
  for (const token of [second, asker.token]) succeed(await world.as(token)('GET', '/v1/tokens/self'))
  const { data } = succeed(await world.call('GET', '/v1/tokens?limit=1000'))
  expect(data.filter(({ created_by }: Body) => created_by === asker.id)).toHaveLength(1)
})

test('a tab cannot sign in others, and ends no later than the token that opened it', {
  tags: 'full',
}, async () => {
  const end = new Date(Date.now() + 3_600_000).toISOString()
  const asker = await world.newToken([{ permission: 'admin' }], { expires_at: end })
  const { token, expires_at } = succeed(await exchange(await newCode(asker.call)))
  expect(expires_at).toBe(end)
  expectDetail(await world.as(token)('POST', CODES), 403, { code: 'token_required' })
  expectFailure(await world.as(null)('POST', CODES), 'UNAUTHORIZED')
})

test('a token keeps its ten newest codes and its twenty newest tabs', { tags: 'full' }, async () => {
  const asker = await world.newToken([{ permission: 'read' }])
  const codes: string[] = []
  for (const _ of times(12, () => 0)) codes.push(await newCode(asker.call))
  const statuses: number[] = []
  for (const code of codes) statuses.push((await exchange(code)).status)
  expect(statuses).toEqual([401, 401, ...times(10, () => 200)])
  for (const _ of times(12, () => 0)) succeed(await exchange(await newCode(asker.call)))
  const [row] = await world.database.query<{ tabs: number }>(
    `SELECT count(*)::int AS tabs FROM plinth.token WHERE signed_in_by = '${asker.id}'`,
  )
  expect(row?.tabs).toBe(20)
})

test('pages of other sites, and bodies that a form can send, are refused', async () => {
  const code = await newCode()
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: world.url },
  ])
    expectFailure(await exchange(code, headers), 'FORBIDDEN')
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expectFailure(await exchange(code, { 'content-type': type }), 'VALIDATION_ERROR')
  expect((await world.as(null)('GET', `/playground/sign-in?code=${code}`)).status).toBe(404)
  succeed(await exchange(code, { origin: world.url, 'sec-fetch-site': 'same-origin' }))
})

test('an address that guesses codes is slowed down', { tags: 'full' }, async () => {
  const server = await openServer({ PLINTH_RATE_LIMIT: '1200' })
  try {
    const guess = async () => (await exchange('x'.repeat(43), {}, server.as(null))).status
    const statuses = new Set<number>()
    for (let n = 0; n < 10 && !statuses.has(429); n++)
      for (const status of await Promise.all(times(100, guess))) statuses.add(status)
    expect(statuses).toEqual(new Set([401, 429]))
  } finally {
    await server.close()
  }
})

test('a code is stored by its hash only, and is in neither the log nor a stored answer', async () => {
  const key = { 'idempotency-key': 'open' }
  const { code } = succeed(await world.call('POST', CODES, undefined, key), 201)
  const again = succeed(await world.call('POST', CODES, undefined, key), 201)
  expect(again.code).toBe(`${code.slice(0, 4)}…${code.slice(-4)}`)
  const { token } = succeed(await exchange(code))
  for (const table of ['sign_in_code', 'token', 'change', 'idempotency'])
    for (const secret of [code, token]) {
      const found = await world.database.query(`SELECT 1 FROM plinth.${table} t WHERE t::text LIKE $1`, [
        `%${secret}%`,
      ])
      expect([table, found]).toEqual([table, []])
    }
})

test('plinth open prints an address with a code in its fragment, which no server gets', {
  tags: 'full',
}, async () => {
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_DATA_DIR: 'none' }
  const open = async (...args: string[]) => {
    const { code, out, err } = await plinth(['open', ...args], settings)
    expect([code, err]).toEqual([0, 'Open this address in a browser within a minute. It works once.\n'])
    return new URL(out.trim())
  }
  const address = await open('--base', 'crm')
  expect([address.origin, address.pathname, address.search]).toEqual([world.url, '/b/crm', ''])
  expect(address.href).not.toContain(world.adminToken)
  const { token } = succeed(await exchange(codeIn(address.hash)))
  expect(succeed(await world.as(token)('GET', '/v1/tokens/self')).grants).toHaveLength(1)
  expect((await open()).pathname).toBe('/')
  expect((await open('--playground')).pathname).toBe('/graphql')
  expect((await open('--base', 'crm', '--playground')).pathname).toBe('/graphql/crm')
  expect((await open('--base', 'crm', '--endpoint', 'desk', '--print')).pathname).toBe('/graphql/crm/e/desk')
  const missing = await plinth(['open', '--endpoint', 'desk'], settings)
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--base')])
})
