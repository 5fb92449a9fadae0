import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed, TIME, UUID7 } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
let at: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  at = `/v1/crm/records/${type}`
})
afterAll(() => world.close())

let serial = 0
const fresh = () => `e${++serial}`
const count = async (path = at) =>
  succeed(await world.call('GET', `${path}?include_total=true&limit=1`)).meta.total

describe('PUT of a record by id', () => {
  test('creates a record: 201, Location, ETag, every field', async () => {
    const pair = { external_id: fresh(), external_source: 's' }
    const made = await world.call('PUT', `${at}/first`, { id: 'first', data: { x: 1 }, ...pair })
    const record = succeed(made, 201)
    expect(made.headers.get('location')).toBe(`${at}/first`)
    expect(made.headers.get('etag')).toBe('"1"')
    expect(record).toEqual({
      id: 'first',
      record_type: type,
      data: { x: 1 },
      created_at: expect.stringMatching(TIME),
      updated_at: record.created_at,
      ...pair,
      version: 1,
      status: 'active',
      cancelled_at: null,
      operation: 'created',
    })
    const { operation: _, ...rest } = record
    expect(succeed(await world.call('GET', `${at}/first`))).toEqual(rest)
  })

  test('with the same data writes nothing, whatever the order of keys', async () => {
    const data = { x: 1, y: { p: [1, 2.5], q: null } }
    const made = succeed(await world.call('PUT', `${at}/same`, { data }), 201)
    await sleep(3)
    const again = await world.call('PUT', `${at}/same`, { data: { y: { q: null, p: [1, 2.5] }, x: 1 } })
    expect(succeed(again)).toEqual({ ...made, operation: 'unchanged' })
    expect(again.headers.get('location')).toBeNull()
    expect(again.headers.get('etag')).toBe('"1"')
    expect(await world.logOf(type, 'same')).toHaveLength(1)
    expect(
      succeed(await world.call('PUT', `${at}/same`, { data: { x: 1, y: { p: [2.5, 1], q: null } } })),
    ).toMatchObject({ operation: 'updated', version: 2 })
  })

  test('replaces the whole data, keeps created_at and updates updated_at', async () => {
    const made = succeed(await world.call('PUT', `${at}/whole`, { data: { x: 1, y: 2 } }), 201)
    await sleep(3)
    const put = succeed(await world.call('PUT', `${at}/whole`, { data: { y: 3 } }))
    expect(put).toMatchObject({ data: { y: 3 }, version: 2, created_at: made.created_at })
    expect(put.updated_at > made.updated_at).toBe(true)
  })

  test('with the same id in two types creates two records', async () => {
    const other = await world.newType()
    succeed(await world.call('PUT', `${at}/twice`, { data: { of: type } }), 201)
    succeed(await world.call('PUT', `/v1/crm/records/${other}/twice`, { data: { of: other } }), 201)
    expect(succeed(await world.call('GET', `${at}/twice`)).data).toEqual({ of: type })
  })

  test('rule 1: with the external id of R it updates R whatever the path id, and creates no second record', async () => {
    const pair = { external_id: fresh(), external_source: 'crm' }
    succeed(await world.call('PUT', `${at}/R1`, { data: { n: 1 }, ...pair }), 201)
    const before = await count()
    const put = succeed(await world.call('PUT', `${at}/elsewhere`, { data: { n: 2 }, ...pair }))
    expect(put).toMatchObject({ id: 'R1', operation: 'updated', data: { n: 2 }, version: 2, ...pair })
    expectFailure(await world.call('GET', `${at}/elsewhere`), 'NOT_FOUND')
    expect(await count()).toBe(before)
  })

  test('rule 1: with the external id of R at the path of S it is 409 and changes neither', async () => {
    const pair = { external_id: fresh() }
    succeed(await world.call('PUT', `${at}/R2`, { data: { n: 'R' }, ...pair }), 201)
    succeed(await world.call('PUT', `${at}/S2`, { data: { n: 'S' } }), 201)
    const clash = await world.call('PUT', `${at}/S2`, { data: { n: 'x' }, ...pair })
    expect(expectFailure(clash, 'CONFLICT').details[0].path).toBe('/external_id')
    expect(succeed(await world.call('GET', `${at}/R2`))).toMatchObject({ version: 1, data: { n: 'R' } })
    expect(succeed(await world.call('GET', `${at}/S2`))).toMatchObject({
      version: 1,
      data: { n: 'S' },
      external_id: null,
    })
  })

  test('rule 2: with a free external id it assigns that to the record of the path id and frees its old one', async () => {
    const [one, two] = [fresh(), fresh()]
    const put = (id: string, body: object) => world.call('PUT', `${at}/${id}`, { data: {}, ...body })
    succeed(await put('a2', {}), 201)
    expect(succeed(await put('a2', { external_id: one }))).toMatchObject({
      external_id: one,
      external_source: 'default',
      operation: 'updated',
      version: 2,
    })
    expect(succeed(await put('a2', { external_id: two, external_source: 's' }))).toMatchObject({
      external_id: two,
      external_source: 's',
    })
    expect(succeed(await put('b2', { external_id: one }), 201).operation).toBe('created')
  })

  test('rule 3: without an external id it writes the record of the path id, which keeps its external id', async () => {
    const pair = { external_id: fresh(), external_source: 's' }
    succeed(await world.call('PUT', `${at}/a3`, { data: { n: 1 }, ...pair }), 201)
    expect(succeed(await world.call('PUT', `${at}/a3`, { data: { n: 2 } }))).toMatchObject(pair)
  })
})

describe('PUT of a record by external id alone', () => {
  test('creates a record with a UUIDv7 as id, then updates it', async () => {
    const pair = { external_id: fresh(), external_source: 's' }
    const made = succeed(await world.call('PUT', at, { data: { n: 1 }, ...pair }), 201)
    expect(made.id).toMatch(UUID7)
    expect(succeed(await world.call('PUT', at, { data: { n: 2 }, ...pair }))).toMatchObject({
      id: made.id,
      operation: 'updated',
      version: 2,
    })
    expect(succeed(await world.call('PUT', at, { data: { n: 2 }, ...pair })).operation).toBe('unchanged')
  })

  test('distinguishes sources, and uses "default" if none is given', async () => {
    const external_id = fresh()
    const made = succeed(await world.call('PUT', at, { data: {}, external_id }), 201)
    const other = { data: {}, external_id, external_source: 'other' }
    expect(succeed(await world.call('PUT', at, other), 201).id).not.toBe(made.id)
    const named = { data: {}, external_id, external_source: 'default' }
    expect(succeed(await world.call('PUT', at, named)).id).toBe(made.id)
  })

  test('without an external id, or with an id, is 400', async () => {
    expectFault(await world.call('PUT', at, { data: {} }), '/external_id')
    expectFault(await world.call('PUT', at, { id: 'x', data: {}, external_id: fresh() }), '/id')
  })
})

describe('POST of a record', () => {
  test('creates a record with a UUIDv7 of the current time', async () => {
    const made = await world.call('POST', at, { data: { n: 1 } })
    const record = succeed(made, 201)
    expect(record.id).toMatch(UUID7)
    expect(made.headers.get('location')).toBe(`${at}/${record.id}`)
    const moment = Number.parseInt(record.id.replaceAll('-', '').slice(0, 12), 16)
    expect(Math.abs(moment - Date.now())).toBeLessThan(60_000)
    expect(record).toMatchObject({ version: 1, external_id: null, external_source: null })
  })

  test('with an id or external id in use is 409 and writes nothing', async () => {
    const pair = { external_id: fresh() }
    succeed(await world.call('POST', at, { id: 'mine', data: { n: 1 }, ...pair }), 201)
    const before = await count()
    const taken = expectFailure(await world.call('POST', at, { id: 'mine', data: {} }), 'CONFLICT')
    expect(taken.details[0]).toMatchObject({ path: '/id', code: 'exists' })
    const pairTaken = expectFailure(await world.call('POST', at, { data: {}, ...pair }), 'CONFLICT')
    expect(pairTaken.details[0].path).toBe('/external_id')
    expect(await count()).toBe(before)
    expect(succeed(await world.call('GET', `${at}/mine`)).version).toBe(1)
  })
})

describe('A record', () => {
  test.each(['A.b_c:d-e', 'x'.repeat(128), '0', 'constructor', 'toString'])(
    'may have the id %s',
    async (id) => {
      expect(succeed(await world.call('PUT', `${at}/${id}`, { data: {} }), 201).id).toBe(id)
      expect(succeed(await world.call('GET', `${at}/${id}`)).id).toBe(id)
    },
  )

  test.each(['x'.repeat(129), '_a', '.a', ':a', 'a%20b', 'a%2Fb', '%C3%A9', 'a%00b', 'a%0Ab'])(
    'is refused with the id %s',
    async (id) => {
      for (const method of ['PUT', 'GET', 'DELETE'])
        expectFault(
          await world.call(method, `${at}/${id}`, method === 'PUT' ? { data: {} } : undefined),
          'path/id',
        )
    },
  )

  test.each(['_a', '', 'a/b', 'é', 7, null, 'x\n'])('is refused with the id %j in a POST', async (id) => {
    const { code } = expectFault(await world.call('POST', at, { id, data: {} }), '/id')
    expect(code).toBe(typeof id === 'string' ? 'invalid_id' : 'type')
  })

  test.each(['é/日本 ?#%"\\\'', 'x'.repeat(512), '😀'.repeat(512), ' '])(
    'may have the external id %s',
    async (id) => {
      const made = succeed(await world.call('PUT', at, { data: {}, external_id: id }), 201)
      expect(made.external_id).toBe(id)
    },
  )

  test.each(['', 'x'.repeat(513), 'a\nb', 'a\u0007', '\u0085', 7, {}, null])(
    'is refused with the external id %j',
    async (id) => {
      for (const method of ['PUT', 'POST'])
        expectFault(await world.call(method, at, { data: {}, external_id: id }), '/external_id')
    },
  )

  test('is refused with a source but no external id', async () => {
    const body = { data: {}, external_source: 's' }
    for (const [method, path] of [
      ['PUT', at],
      ['POST', at],
      ['PUT', `${at}/sourced`],
    ] as const)
      expectFault(await world.call(method, path, body), '/external_id')
    expectFailure(await world.call('GET', `${at}/sourced`), 'NOT_FOUND')
  })

  test.each<[object, string]>([
    [{}, '/data'],
    [{ data: null }, '/data'],
    [{ data: [1] }, '/data'],
    [{ data: 'text' }, '/data'],
    [{ data: {}, dta: 1 }, '/dta'],
    [{ data: {}, id: 'other' }, '/id'],
    [{ data: {}, version: 1 }, '/version'],
    [{ data: {}, status: 'active' }, '/status'],
    [{ data: {}, record_type: 'x' }, '/record_type'],
    [{ data: {}, expected_version: 0 }, '/expected_version'],
    [{ data: {}, expected_version: '1' }, '/expected_version'],
  ])('is refused with the body %j', async (body, path) => {
    expectFault(await world.call('PUT', `${at}/refused`, body), path)
    expectFailure(await world.call('GET', `${at}/refused`), 'NOT_FOUND')
  })

  test('returns its data exactly as it was sent', async () => {
    const data = {
      '': 'empty key',
      'a.b': 1,
      constructor: { prototype: {} },
      n: [0, -1.5, 0.1, 1e21, Number.MAX_VALUE, 5e-324, Number.MAX_SAFE_INTEGER],
      s: ['é', '😀', '\u2028', '"\\/\b\f\n\r\t', "'; DROP TABLE x; --", '\u007f'],
      z: [null, true, false, [], {}],
    }
    expect(succeed(await world.call('PUT', `${at}/exact`, { data }), 201).data).toEqual(data)
    expect(succeed(await world.call('GET', `${at}/exact`)).data).toEqual(data)
  })

  test('is refused with data of more than a mebibyte', { tags: 'full' }, async () => {
    const text = (bytes: number) => ({ data: { a: 'é'.repeat((bytes - 8) / 2) } })
    succeed(await world.call('PUT', `${at}/large`, text(1024 * 1024)), 201)
    const fault = expectFault(await world.call('PUT', `${at}/larger`, text(1024 * 1024 + 2)), '/data')
    expect(fault).toMatchObject({ code: 'too_large', expected: 1024 * 1024 })
  })
})

test('a write to an absent type or base is 404 and creates neither', { tags: 'full' }, async () => {
  for (const path of ['/v1/crm/records/absent', '/v1/nobase/records/task']) {
    expectFailure(await world.call('PUT', `${path}/a`, { data: {} }), 'NOT_FOUND')
    expectFailure(await world.call('POST', path, { data: {} }), 'NOT_FOUND')
    expectFailure(await world.call('PUT', path, { data: {}, external_id: 'e' }), 'NOT_FOUND')
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
  }
  expectFailure(await world.call('GET', '/v1/crm/record-types/absent'), 'NOT_FOUND')
  expectFailure(await world.call('GET', '/v1/bases/nobase'), 'NOT_FOUND')
})
