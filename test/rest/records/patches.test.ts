import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { openWorld, patchJson, type World } from '../../support/world.ts'

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
/** Creates a record with this content and returns its path. */
async function record(data: object, more: object = {}): Promise<string> {
  const path = `${at}/r${++serial}`
  succeed(await world.call('PUT', path, { data, ...more }), 201)
  return path
}
const dataOf = async (path: string) => succeed(await world.call('GET', path)).data

describe('A merge patch', () => {
  test('merges objects, replaces other values, and removes keys set to null', async () => {
    const path = await record({ a: 1, b: { x: 1, y: 2 }, l: [1, 2] }, { external_id: 'kept' })
    const patch = { data: { a: null, b: { y: null, z: { n: null, m: 1 } }, l: [null, 9] } }
    const answer = await world.call('PATCH', path, patch)
    expect(succeed(answer)).toMatchObject({
      data: { b: { x: 1, z: { m: 1 } }, l: [null, 9] },
      version: 2,
      operation: 'updated',
      external_id: 'kept',
    })
    expect(answer.headers.get('etag')).toBe('"2"')
  })

  test('with another media type is refused with a list of those allowed', async () => {
    const answer = await world.call('PATCH', await record({}), {}, { 'content-type': 'text/plain' })
    expect(expectFault(answer, 'header/Content-Type').allowed).toEqual([
      'application/json',
      'application/merge-patch+json',
      'application/json-patch+json',
    ])
  })

  test('is accepted under both of its media types', async () => {
    const path = await record({})
    for (const [i, type] of ['application/json', 'application/merge-patch+json'].entries()) {
      const body = JSON.stringify({ data: { i } })
      expect(succeed(await world.call('PATCH', path, body, { 'content-type': type })).data).toEqual({ i })
    }
    expectFault(
      await world.call('PATCH', path, '{}', { 'content-type': 'application/xml' }),
      'header/Content-Type',
    )
    const put = { 'content-type': 'application/merge-patch+json' }
    expectFault(await world.call('PUT', path, '{"data":{}}', put), 'header/Content-Type')
  })

  test('that changes nothing writes nothing', async () => {
    const path = await record({ a: 1 }, { external_id: 'same' })
    for (const body of [{}, { data: {} }, { data: { a: 1, none: null } }, { external_id: 'same' }])
      expect(succeed(await world.call('PATCH', path, body))).toMatchObject({
        operation: 'unchanged',
        version: 1,
      })
  })

  test('changes the external id and keeps the source; an external id in use is 409', {
    tags: 'full',
  }, async () => {
    const path = await record({ a: 1 }, { external_id: 'p1', external_source: 's' })
    expect(succeed(await world.call('PATCH', path, { external_id: 'p2' }))).toMatchObject({
      external_id: 'p2',
      external_source: 's',
      data: { a: 1 },
    })
    await record({}, { external_id: 'p1', external_source: 's' })
    const taken = expectFailure(await world.call('PATCH', path, { external_id: 'p1' }), 'CONFLICT')
    expect(taken.details[0].path).toBe('/external_id')
    expectFault(await world.call('PATCH', await record({}), { external_source: 's' }), '/external_id')
    for (const bad of ['', 'a\nb', 'x'.repeat(513), 7])
      expectFault(await world.call('PATCH', path, { external_id: bad }), '/external_id')
  })

  test.each<[object, string]>([
    [{ a: 2 }, '/a'],
    [{ dta: {} }, '/dta'],
    [{ data: [] }, '/data'],
    [{ data: null }, '/data'],
    [{ status: 'cancelled' }, '/status'],
    [{ version: 9 }, '/version'],
    [{ id: 'z' }, '/id'],
    [{ record_type: 'z' }, '/record_type'],
    [{ created_at: '2020-01-01T00:00:00.000Z' }, '/created_at'],
  ])('with the body %j is refused', async (body, path) => {
    const target = await record({ a: 1 })
    expectFault(await world.call('PATCH', target, body), path)
    expect(succeed(await world.call('GET', target))).toMatchObject({ data: { a: 1 }, version: 1 })
  })

  test('may repeat the id of its path', async () => {
    const path = await record({ a: 1 })
    const id = path.split('/').at(-1)
    expect(succeed(await world.call('PATCH', path, { id, data: { a: 2 } })).data).toEqual({ a: 2 })
  })

  test('refuses __proto__, and treats constructor as an ordinary key', async () => {
    const path = await record({ a: { b: 1 } })
    for (const raw of [
      '{"data":{"__proto__":{"polluted":1}}}',
      '{"data":{"a":{"\\u005f_proto__":{"polluted":1}}}}',
    ])
      expectFailure(
        await world.call('PATCH', path, raw, { 'content-type': 'application/json' }),
        'VALIDATION_ERROR',
      )
    const keys = { constructor: { prototype: { polluted: 1 } }, toString: { x: 1 } }
    expect(succeed(await world.call('PATCH', path, { data: keys })).data).toEqual({ a: { b: 1 }, ...keys })
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('A JSON Patch', () => {
  test('applies all six operations in order', async () => {
    const path = await record({ a: 1, l: [1, 3], 'k/~': 0 })
    const done = await patchJson(world.call, path, [
      { op: 'test', path: '/data/a', value: 1 },
      { op: 'add', path: '/data/l/1', value: 2 },
      { op: 'move', from: '/data/a', path: '/data/b' },
      { op: 'copy', from: '/data/b', path: '/data/c' },
      { op: 'replace', path: '/data/k~1~0', value: 9 },
      { op: 'add', path: '/data/l/-', value: 4 },
      { op: 'remove', path: '/data/c' },
      { op: 'add', path: '/external_id', value: 'by-patch' },
    ])
    expect(succeed(done)).toMatchObject({
      data: { b: 1, l: [1, 2, 3, 4], 'k/~': 9 },
      external_id: 'by-patch',
      external_source: 'default',
      version: 2,
    })
  })

  test('with a failing test is 409 and changes nothing', async () => {
    const path = await record({ a: 1 })
    for (const test of [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'test', path: '/data/none', value: 1 },
    ]) {
      const failed = await patchJson(world.call, path, [{ op: 'add', path: '/data/x', value: 1 }, test])
      expect(expectFailure(failed, 'CONFLICT').details[0]).toMatchObject({
        code: 'test_failed',
        path: '/1/value',
      })
    }
    expect(await dataOf(path)).toEqual({ a: 1 })
  })

  test.each<[unknown, string]>([
    [{ op: 'add' }, ''],
    [[{ op: 'ad', path: '/data/x', value: 1 }], '/0/op'],
    [['add'], '/0/op'],
    [[{ op: 'add', path: '/data/x' }], '/0/value'],
    [[{ op: 'remove', path: '/data/x', value: 1 }], '/0/value'],
    [[{ op: 'remove', path: '/data/none' }], '/0/path'],
    [[{ op: 'replace', path: '/data/none', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/l/9', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/l/01', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/a/x', value: 1 }], '/0/path'],
    [[{ op: 'move', from: '/data/l', path: '/data/l/0' }], '/0/path'],
    [[{ op: 'copy', path: '/data/x' }], '/0/from'],
    [[{ op: 'copy', from: '/version', path: '/data/x' }], '/0/from'],
    [[{ op: 'replace', path: '/status', value: 'cancelled' }], '/0/path'],
    [[{ op: 'replace', path: '/version', value: 9 }], '/0/path'],
    [[{ op: 'replace', path: '', value: {} }], '/0/path'],
    [[{ op: 'replace', path: 'data/a', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/__proto__/polluted', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/constructor/prototype/polluted', value: 1 }], '/0/path'],
    [[{ op: 'copy', from: '/data/__proto__', path: '/data/x' }], '/0/from'],
    [[{ op: 'add', path: '/data/~2', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/data/a~', value: 1 }], '/0/path'],
    [[{ op: 'copy', from: '/data/a~', path: '/data/x' }], '/0/from'],
    [[{ op: 'remove', path: '/data' }], '/data'],
    [[{ op: 'replace', path: '/data', value: [] }], '/data'],
    [[{ op: 'add', path: '/external_id', value: 7 }], '/external_id'],
  ])('with %j is refused', async (operations, path) => {
    const target = await record({ a: 1, l: [1] })
    expectFault(await patchJson(world.call, target, operations), path)
    expect(succeed(await world.call('GET', target))).toMatchObject({ data: { a: 1, l: [1] }, version: 1 })
    expect({}).not.toHaveProperty('polluted')
  })

  test('that doubles the record repeatedly is refused before it exhausts the memory', {
    tags: 'full',
  }, async () => {
    const path = await record({ a: 'x' })
    const doubling = times(200, (i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }))
    expectFailure(await patchJson(world.call, path, doubling), 'VALIDATION_ERROR')
    expect(await dataOf(path)).toEqual({ a: 'x' })
  })

  test('that nests too deeply is refused', async () => {
    const path = await record({ a: {} })
    const deeper = times(70, (i) => ({ op: 'add', path: `/data${'/a'.repeat(i + 1)}`, value: {} }))
    expectFailure(await patchJson(world.call, path, deeper), 'VALIDATION_ERROR')
  })
})

describe('A JSON Patch of long values', () => {
  test('tests lists of any length for equality', { tags: 'full' }, async () => {
    const list = times(20_000, (i) => ({ i }))
    const path = await record({ list, zero: 0, object: { a: 1, b: [null] } })
    const tested = (at: string, value: unknown) => [{ op: 'test', path: `/data/${at}`, value }]
    const same = [...tested('list', list), ...tested('object', { b: [null], a: 1 }), ...tested('zero', -0)]
    succeed(await patchJson(world.call, path, same))
    for (const [at, value] of [
      ['list', list.slice(1)],
      ['list', times(20_000, (i) => ({ i: i + 1 }))],
      ['list', { 0: { i: 0 } }],
      ['object', { a: 1, c: [null] }],
      ['object', { a: 1, b: {} }],
      ['absent', null],
    ] as const)
      expectFailure(await patchJson(world.call, path, tested(at, value)), 'CONFLICT')
  })

  test('has pointers of at most 8192 characters', async () => {
    const path = await record({ a: 1 })
    for (const operation of [
      { op: 'add', path: `/data${'/a'.repeat(5000)}`, value: 1 },
      { op: 'add', path: `/data/${'a'.repeat(8192)}`, value: 1 },
      { op: 'copy', path: '/data/b', from: `/data/${'a'.repeat(8192)}` },
    ])
      expect(
        expectFault(
          await patchJson(world.call, path, [operation]),
          operation.op === 'add' ? '/0/path' : '/0/from',
        ).code,
      ).toBe('too_long')
    const name = 'a'.repeat(8192 - '/data/'.length)
    const added = await patchJson(world.call, path, [{ op: 'add', path: `/data/${name}`, value: 1 }])
    expect(succeed(added).data).toEqual({ a: 1, [name]: 1 })
  })
})

describe('A patch of either kind', () => {
  test('is validated against the schema', async () => {
    const strict = await world.newType({
      json_schema: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
    })
    const path = `/v1/crm/records/${strict}/a`
    succeed(await world.call('PUT', path, { data: { n: 1 } }), 201)
    expectFault(await world.call('PATCH', path, { data: { n: 'x' } }), '/data/n')
    expectFailure(await world.call('PATCH', path, { data: { n: null } }), 'VALIDATION_ERROR')
    expectFault(
      await patchJson(world.call, path, [{ op: 'replace', path: '/data/n', value: 'x' }]),
      '/data/n',
    )
    expect(await dataOf(path)).toEqual({ n: 1 })
  })

  test('of an absent record is 404, or 400 if the patch is malformed', async () => {
    const path = `${at}/absent`
    expectFailure(await world.call('PATCH', path, { data: { a: 1 } }), 'NOT_FOUND')
    expectFailure(await patchJson(world.call, path, [{ op: 'remove', path: '/data/a' }]), 'NOT_FOUND')
    expectFault(await patchJson(world.call, path, [{ op: 'rm', path: '/data/a' }]), '/0/op')
    expectFault(await world.call('PATCH', path, { dta: 1 }), '/dta')
  })

  test('that would exceed the size limit of a record is refused', { tags: 'full' }, async () => {
    const path = await record({ a: 'x'.repeat(600_000) })
    const more = { data: { b: 'x'.repeat(600_000) } }
    expectFault(await world.call('PATCH', path, more), '/data')
    expect(succeed(await world.call('GET', path)).version).toBe(1)
  })
})
