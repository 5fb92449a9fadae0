import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed, TIME, UUID7 } from '../../support/answers.ts'
import type { Answer, Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let two: World
beforeAll(async () => {
  world = await openWorld()
  for (const base of ['erp', 'hr']) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  two = await openWorld({}, world.database)
})
afterAll(async () => {
  await two.close()
  await world.close()
})

const grant = (more: object = {}) => ({
  base: 'crm',
  record_type: '*',
  environment: '*',
  permission: 'read',
  ...more,
})
const create = (call: Call, grants: unknown, more: object = {}) =>
  call('POST', '/v1/tokens', { name: 't', grants, ...more })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe('Creating a token', () => {
  test('returns its value once: 201, every field', { tags: 'full' }, async () => {
    const expires_at = inSeconds(3600)
    const made = await create(world.call, [grant()], { name: 'reader', expires_at })
    const token = succeed(made, 201)
    expect(token).toEqual({
      id: expect.stringMatching(UUID7),
      name: 'reader',
      kind: 'program',
      token: expect.stringMatching(/^plt_[A-Za-z0-9_-]{43}$/),
      masked: `plt_…${token.token.slice(-4)}`,
      grants: [grant()],
      created_at: expect.stringMatching(TIME),
      created_by: expect.stringMatching(UUID7),
      expires_at,
      last_used_at: null,
      used_by_server: false,
    })
    const list = await world.call('GET', '/v1/tokens?limit=1000')
    const listed = succeed(list).data.find((each: Body) => each.id === token.id)
    const { token: _, ...rest } = token
    expect(listed).toEqual(rest)
    expect(list.text).not.toContain(token.token.slice(4, -4))
  })

  test('answers where the token is read: by who manages it, and by itself', async () => {
    const made = await create(world.call, [grant()], { name: 'read back' })
    const { token: _, ...token } = succeed(made, 201)
    const at = made.headers.get('location') ?? ''
    expect(succeed(await world.call('GET', at))).toEqual(token)
    const stranger = await world.newToken([{ base: 'hr', permission: 'admin' }])
    expectFailure(await stranger.call('GET', at), 'FORBIDDEN')
    const own = await world.newToken([{ permission: 'read' }])
    expectFailure(await own.call('GET', at), 'FORBIDDEN')
    expect(succeed(await own.call('GET', `/v1/tokens/${own.id}`)).id).toBe(own.id)
    for (const { call } of [own, world]) {
      const { details } = expectFailure(await call('GET', '/v1/tokens/me'), 'NOT_FOUND')
      expect(details[0].hint).toBe('GET /v1/tokens/self')
    }
  })

  test('stores only the SHA-256 of its value', async () => {
    const { token } = await world.newToken([{ permission: 'read' }])
    const rows = await world.database.query<{ text: string; hash: Buffer }>(
      'SELECT t::text AS text, hash FROM plinth.token t',
    )
    expect(rows.some(({ text }) => text.includes(token.slice(4, -4)))).toBe(false)
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token)))
    expect(rows.some((row) => row.hash.equals(hash))).toBe(true)
  })

  test.each<[object, string]>([
    [{ name: 't' }, '/grants'],
    [{ name: 't', grants: [] }, '/grants'],
    [{ grants: [grant()] }, '/name'],
    [{ name: '', grants: [grant()] }, '/name'],
    [{ name: 't', grants: [grant({ permission: 'raed' })] }, '/grants/0/permission'],
    [{ name: 't', grants: [grant({ environment: 'staging' })] }, '/grants/0/environment'],
    [{ name: 't', grants: [grant(), grant({ base: 'none' })] }, '/grants/1/base'],
    [{ name: 't', grants: [grant({ base: ['crm', 'none'] })] }, '/grants/0/base'],
    [{ name: 't', grants: [grant({ base: [] })] }, '/grants/0/base'],
    [{ name: 't', grants: [grant({ record_type: 7 })] }, '/grants/0/record_type'],
    [{ name: 't', grants: [grant({ record_type: '-task' })] }, '/grants/0/record_type'],
    [{ name: 't', grants: [grant({ record_type: ['task', 'a/b'] })] }, '/grants/0/record_type/1'],
    [{ name: 't', grants: [{ base: 'crm', record_type: '*', permission: 'read' }] }, '/grants/0/environment'],
    [{ name: 't', grants: [grant({ recordtype: 'x' })] }, '/grants/0/recordtype'],
    [{ name: 't', grants: [grant()], expires: 'x' }, '/expires'],
    [{ name: 't', grants: [grant()], expires_at: 'tomorrow' }, '/expires_at'],
    [{ name: 't', grants: [grant()], expires_at: '2099-01-01T00:00Z' }, '/expires_at'],
    [{ name: 't', grants: [grant()], expires_at: '2099-02-30T00:00:00Z' }, '/expires_at'],
    [{ name: 't', grants: [grant()], expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
  ])('is refused with %j', async (body, path) => {
    const before = succeed(await world.call('GET', '/v1/tokens?include_total=true')).meta.total
    const fault = expectFault(await world.call('POST', '/v1/tokens', body), path)
    if (path === '/grants/0/permission') expect(fault.hint).toBe('read')
    expect(succeed(await world.call('GET', '/v1/tokens?include_total=true')).meta.total).toBe(before)
  })

  test('says which forms a policy of writes has, and which member is none', async () => {
    const faultOf = async (writes: unknown) =>
      expectFailure(await create(world.call, [grant({ permission: 'write', writes })]), 'VALIDATION_ERROR')
        .details[0]
    for (const wrong of ['sometimes', 3, []])
      expect(await faultOf(wrong)).toMatchObject({
        path: '/grants/0/writes',
        message: '"writes" must be "direct" or "propose" or an object.',
      })
    expect(await faultOf({ atuo: [] })).toMatchObject({ path: '/grants/0/writes/auto', code: 'required' })
    expect(await faultOf({ auto: [], more: 1 })).toMatchObject({ path: '/grants/0/writes/auto' })
  })

  test('accepts a record type that does not exist yet', { tags: 'full' }, async () => {
    const { call } = await world.newToken([{ record_type: ['later'], permission: 'write' }])
    expectFailure(await call('PUT', '/v1/crm/records/later/a', { data: {} }), 'NOT_FOUND')
    succeed(await world.call('PUT', '/v1/crm/record-types/later', {}), 201)
    succeed(await call('PUT', '/v1/crm/records/later/a', { data: {} }), 201)
  })
})

describe('Creating a token with another token', () => {
  const ALL = ['read', 'write', 'manage', 'admin']
  test.each(['read', 'write', 'manage'])('is refused with the %s permission', async (permission) => {
    const { call } = await world.newToken([{ permission }])
    expectFailure(await create(call, [grant()]), 'FORBIDDEN')
    expectFailure(await create(call, [grant({ base: 'none' })]), 'FORBIDDEN')
    expectFailure(await create(call, 'nonsense'), 'FORBIDDEN')
    expectFailure(await call('GET', '/v1/tokens'), 'FORBIDDEN')
    expectFailure(await call('DELETE', '/v1/tokens/any'), 'FORBIDDEN')
  })

  test.each<[string, object, object[], object[]]>([
    [
      'all of one base',
      {},
      ALL.map((permission) => ({ permission })),
      [{ base: 'erp' }, { base: '*' }, { base: ['crm', 'erp'] }, { base: 'none' }, { base: ['crm', '*'] }],
    ],
    [
      'one environment',
      { environment: 'preview' },
      [{ environment: 'preview' }],
      [{ environment: 'production' }, { environment: '*' }],
    ],
    [
      'listed types',
      { record_type: ['a', 'b'] },
      [{ record_type: 'a' }, { record_type: ['b', 'a'] }],
      [{ record_type: '*' }, { record_type: 'c' }, { record_type: ['a', 'c'] }],
    ],
    [
      'listed bases',
      { base: ['crm', 'erp'] },
      [{ base: 'erp' }, { base: ['erp', 'crm'] }],
      [{ base: 'hr' }, { base: '*' }],
    ],
  ])('is limited to the grants of an administrator of %s', async (_name, own, inside, outside) => {
    const { call } = await world.newToken([{ ...own, permission: 'admin' }])
    for (const wanted of inside) succeed(await create(call, [grant({ ...own, ...wanted })]), 201)
    for (const wanted of outside) {
      const { details } = expectFailure(
        await create(call, [grant(own), grant({ ...own, ...wanted })]),
        'FORBIDDEN',
      )
      expect(details[0].path).toBe('/grants/1')
    }
  })

  test('is refused if the new grant is covered only by two grants together', async () => {
    const { call } = await world.newToken([
      { environment: 'production', permission: 'admin' },
      { environment: 'preview', permission: 'admin' },
    ])
    expectFailure(await create(call, [grant()]), 'FORBIDDEN')
    succeed(
      await create(call, [grant({ environment: 'production' }), grant({ environment: 'preview' })]),
      201,
    )
  })

  test('counts lists entry by entry: each base and type lies within one of its grants', async () => {
    const { call } = await world.newToken([
      { permission: 'admin' },
      { base: 'erp', record_type: ['a'], permission: 'admin' },
      { base: 'erp', record_type: ['b'], permission: 'admin' },
    ])
    const wanted = { base: ['crm', 'erp'], record_type: ['a', 'b'] }
    succeed(await create(call, [grant(wanted)]), 201)
    for (const more of [
      { record_type: ['a', 'b', 'c'] },
      { record_type: '*' },
      { base: ['crm', 'erp', 'hr'] },
    ])
      expectFailure(await create(call, [grant({ ...wanted, ...more })]), 'FORBIDDEN')
  })

  test('is refused for a base that it does not administer', async () => {
    const { call } = await world.newToken([{ permission: 'admin' }, { base: 'erp', permission: 'manage' }])
    expectFailure(await create(call, [grant({ base: 'erp' })]), 'FORBIDDEN')
  })

  test('is refused if the new token would expire later', async () => {
    const end = inSeconds(3600)
    const { call } = await world.newToken([{ permission: 'admin' }], { expires_at: end })
    expectFailure(await create(call, [grant()]), 'FORBIDDEN')
    expectFailure(await create(call, [grant()], { expires_at: null }), 'FORBIDDEN')
    const later = await create(call, [grant()], { expires_at: inSeconds(3660) })
    expect(expectFailure(later, 'FORBIDDEN').details[0].path).toBe('/expires_at')
    succeed(await create(call, [grant()], { expires_at: end }), 201)
    succeed(await create(call, [grant()], { expires_at: inSeconds(60) }), 201)
  })
})

describe('Listing and revoking tokens', () => {
  test('is limited to tokens within the administered bases, and does not disclose others', {
    tags: 'full',
  }, async () => {
    const mine = await world.newToken([{ permission: 'read' }])
    const theirs = await world.newToken([{ base: 'erp', permission: 'read' }])
    const both = await world.newToken([{ permission: 'read' }, { base: 'erp', permission: 'read' }])
    const { call } = await world.newToken([{ permission: 'admin' }])
    const listed = succeed(await call('GET', '/v1/tokens?limit=1000&include_total=true'))
    const ids = listed.data.map((token: Body) => token.id)
    expect(ids).toContain(mine.id)
    expect(ids).not.toContain(theirs.id)
    expect(ids).not.toContain(both.id)
    expect(listed.meta.total).toBe(ids.length)
    const refused: Answer[] = []
    for (const id of [theirs.id, both.id, 'absent', '0190a7b2-0000-7000-8000-00000000abcd'])
      refused.push(await call('DELETE', `/v1/tokens/${id}`, undefined, { 'x-request-id': 'same' }))
    for (const answer of refused) expectFailure(answer, 'FORBIDDEN')
    expect(new Set(refused.map((answer) => answer.text)).size).toBe(1)
    expectFailure(await world.call('DELETE', '/v1/tokens/absent'), 'NOT_FOUND')
    expect(succeed(await call('DELETE', `/v1/tokens/${mine.id}`))).toEqual({ id: mine.id, deleted: true })
    expectFailure(await call('DELETE', `/v1/tokens/${mine.id}`), 'FORBIDDEN')
    succeed(await theirs.call('GET', '/v1/bases'))
  })

  test('is paged, newest first', async () => {
    const made = [
      await world.newToken([{ permission: 'read' }]),
      await world.newToken([{ permission: 'read' }]),
    ]
    const page = succeed(await world.call('GET', '/v1/tokens?limit=1&offset=1'))
    expect(page.data.map((token: Body) => token.id)).toEqual([made[0]?.id])
    expect(page.meta).toEqual({ has_more: true, limit: 1, offset: 1, next_cursor: expect.any(String) })
  })
})

describe('A token', () => {
  test('is refused at every instance within a second of its revocation, also on open connections', {
    tags: 'full',
  }, async () => {
    const { id, token, call } = await world.newToken([{ permission: 'read' }])
    const other = two.as(token)
    for (const each of [call, other, call, other]) succeed(await each('GET', '/v1/crm/record-types'))
    succeed(await world.call('DELETE', `/v1/tokens/${id}`))
    expectFailure(await call('GET', '/v1/crm/record-types'), 'UNAUTHORIZED')
    await sleep(1000)
    for (const each of [call, other]) {
      expectFailure(await each('GET', '/v1/crm/record-types'), 'UNAUTHORIZED')
      expectFailure(await each('PUT', '/v1/crm/records/x/y', { data: {} }), 'UNAUTHORIZED')
    }
  })

  test('is refused from the time it expires', { tags: 'full' }, async () => {
    const { call } = await world.newToken([{ permission: 'read' }], { expires_at: inSeconds(2) })
    succeed(await call('GET', '/v1/bases'))
    await sleep(2100)
    expectFailure(await call('GET', '/v1/bases'), 'UNAUTHORIZED')
    const list = succeed(await world.call('GET', '/v1/tokens?limit=1'))
    expect(list.data[0].expires_at).toMatch(TIME)
  })

  test('shows when it was last used', { tags: 'full' }, async () => {
    const { id, call } = await world.newToken([{ permission: 'read' }])
    const read = async () =>
      succeed(await world.call('GET', '/v1/tokens?limit=1000')).data.find((token: Body) => token.id === id)
    expect((await read()).last_used_at).toBeNull()
    succeed(await call('GET', '/v1/bases'))
    expect(Math.abs(Date.parse((await read()).last_used_at) - Date.now())).toBeLessThan(60_000)
  })
})

test('deleting a base removes it from every grant at every instance, so no token can access a new base of its id', {
  tags: 'full',
}, async () => {
  succeed(await world.call('PUT', '/v1/bases/passing', {}), 201)
  const only = await world.newToken([{ base: 'passing', permission: 'admin' }], { name: 'only of passing' })
  const listed = await world.newToken([{ base: ['passing', 'crm'], permission: 'read' }])
  const all = await world.newToken([{ base: '*', permission: 'read' }])
  const crmAdmin = await world.newToken([{ permission: 'admin' }])
  const calls = [only.token, listed.token].flatMap((token) => [world.as(token), two.as(token)])
  for (const call of calls) succeed(await call('GET', '/v1/bases/passing'))
  succeed(await world.call('DELETE', '/v1/bases/passing'))
  succeed(await world.call('PUT', '/v1/bases/passing', {}), 201)
  await sleep(1000)
  for (const call of calls) {
    expectFailure(await call('GET', '/v1/bases/passing'), 'FORBIDDEN')
    expectFailure(await call('GET', '/v1/passing/record-types'), 'FORBIDDEN')
  }
  expect(succeed(await only.call('GET', '/v1/bases')).data).toEqual([])
  expect(succeed(await listed.call('GET', '/v1/bases')).data.map((base: Body) => base.id)).toEqual(['crm'])
  succeed(await all.call('GET', '/v1/bases/passing'))

  // A token without grants is in no base, so only administrators of all bases see it.
  const seen = succeed(await crmAdmin.call('GET', '/v1/tokens?limit=1000')).data
  expect(seen.map((token: Body) => token.name)).not.toContain('only of passing')
  expectFailure(await crmAdmin.call('DELETE', `/v1/tokens/${only.id}`), 'FORBIDDEN')
  succeed(await world.call('DELETE', `/v1/tokens/${only.id}`))
})
