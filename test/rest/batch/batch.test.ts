import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times, UUID7 } from '../../support/answers.ts'
import type { Answer, Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const batch = (operations: unknown, query = '', call: Call = world.call): Promise<Answer> =>
  call('POST', `/v1/crm/batch${query}`, { operations })
const put = (record_type: string, id: string, data: object, more = {}) => ({
  type: 'upsert_record',
  record_type,
  id,
  data,
  ...more,
})
const get = (type: string, id: string) => world.call('GET', `/v1/crm/records/${type}/${id}`)
const brief = ({ data }: Body) => data.map((one: Body) => [one.operation, one.id, one.version])
const strict = {
  json_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
}

test('operations of a batch on the same record run in order, and each result has its operation and version', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const body = succeed(
    await batch([
      put(type, 'a', { n: 1 }),
      put(type, 'a', { n: 2 }),
      put(type, 'a', { n: 2 }),
      { type: 'create_record', record_type: type, data: { n: 9 } },
      { type: 'patch_record', record_type: type, id: 'a', data: { m: 3 } },
      put(type, 'b', { n: 1 }),
      { type: 'delete_record', record_type: type, id: 'b' },
      { type: 'cancel_record', record_type: type, id: 'a' },
      { type: 'cancel_record', record_type: type, id: 'a' },
      put(type, 'b', { n: 5 }),
    ]),
  )
  expect(body.meta).toEqual({ count: 10 })
  expect(body.data.map((one: Body) => one.index)).toEqual(times(10, (n) => n))
  expect(body.data[3].id).toMatch(UUID7)
  expect(brief(body)).toEqual([
    ['created', 'a', 1],
    ['updated', 'a', 2],
    ['unchanged', 'a', 2],
    ['created', body.data[3].id, 1],
    ['updated', 'a', 3],
    ['created', 'b', 1],
    ['deleted', 'b', 2],
    ['updated', 'a', 4],
    ['unchanged', 'a', 4],
    ['created', 'b', 3],
  ])
  expect(body.data[6]).not.toHaveProperty('record')
  const held = succeed(await get(type, 'a'))
  expect(held).toMatchObject({ data: { n: 2, m: 3 }, status: 'cancelled', version: 4 })
  expect(body.data[7].record).toEqual(held)
  expect(succeed(await get(type, 'b'))).toMatchObject({ data: { n: 5 }, version: 3 })
  expect((await world.logOf(type, 'a')).map(({ operation, version }) => [operation, version])).toEqual([
    ['create', 1],
    ['update', 2],
    ['update', 3],
    ['cancel', 4],
  ])
})

test('a batch result has the record as a GET returns it, after several updates of its row', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const ids = times(30, (n) => `r${n}`)
  // Too long for a second version of the row on the same page.
  const long = (id: string, wave: number) => ({ wave, id, fill: times(150, (n) => `${id}-${wave}-${n}`) })
  const pair = (id: string) => ({ external_id: `x-${id}`, external_source: 'erp' })
  succeed(await batch(ids.map((id) => put(type, id, long(id, 0), pair(id)))))
  succeed(await world.call('POST', `/v1/crm/records/${type}/r3/cancel`))
  const body = succeed(
    await batch([
      ...[1, 2, 3].flatMap((wave) => ids.map((id) => put(type, id, long(id, wave)))),
      ...ids.map((id) => ({ ...put(type, id, long(id, 4)), external_id: `y-${id}` })),
      ...ids.slice(0, 20).map((id) => ({ type: 'patch_record', record_type: type, id, data: { more: 1 } })),
    ]),
  )
  const last = new Map<string, Body>(body.data.map((one: Body) => [one.id, one]))
  for (const id of ids) {
    const read = succeed(await get(type, id))
    expect(last.get(id)?.record).toEqual(read)
    expect(read).toMatchObject({ external_id: `y-${id}`, external_source: 'default', data: { wave: 4 } })
    const versions = (await world.logOf(type, id)).map(({ version }) => version)
    expect(versions).toEqual(times(read.version, (n) => n + 1))
  }
  expect(last.get('r3')?.record).toMatchObject({ status: 'cancelled', version: 7 })
})

test('every log entry of a batch has the request id and the surface of the request', async () => {
  const type = await world.newType()
  const operations = times(3, (n) => put(type, `r${n}`, { n }))
  const answer = await world.call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': 'one-batch' })
  succeed(answer)
  const log = await world.logOf(type)
  expect(log.map(({ request_id, via }) => [request_id, via])).toEqual(times(3, () => ['one-batch', 'rest']))
})

test('an upsert with an external id updates the record with that id, also if an earlier operation assigned it', async () => {
  const type = await world.newType()
  const pair = { external_id: 'x' }
  succeed(await world.call('PUT', `/v1/crm/records/${type}/old`, { data: { n: 0 }, ...pair }), 201)
  const body = succeed(
    await batch([
      put(type, 'other', { n: 1 }, pair),
      { type: 'upsert_record', record_type: type, data: { n: 2 }, external_id: 'y' },
      { type: 'upsert_record', record_type: type, data: { n: 3 }, external_id: 'y' },
      { type: 'patch_record', record_type: type, id: 'old', external_id: 'z' },
      put(type, 'other', { n: 4 }, pair),
    ]),
  )
  const made = body.data[1].id
  expect(brief(body)).toEqual([
    ['updated', 'old', 2],
    ['created', made, 1],
    ['updated', made, 2],
    ['updated', 'old', 3],
    ['created', 'other', 1],
  ])
  const clash = await batch([put(type, 'old', { n: 5 }), put(type, 'old', { n: 6 }, pair)])
  expect(expectFailure(clash, 'CONFLICT').details[0]).toMatchObject({
    path: '/operations/1/external_id',
    code: 'duplicate_external_id',
    message: expect.stringContaining('belongs to the record "other"'),
    samples: ['other'],
  })
  expect(succeed(await get(type, 'old'))).toMatchObject({ version: 3, external_id: 'z' })
})

test('a patch that assigns the external id of another record is 409', async () => {
  const type = await world.newType()
  succeed(await batch([put(type, 'a', {}, { external_id: 'x', external_source: 's' }), put(type, 'b', {})]))
  const patch = { type: 'patch_record', record_type: type, id: 'b', external_id: 'x', external_source: 's' }
  expect(expectFailure(await batch([patch]), 'CONFLICT').details[0].path).toBe('/operations/0/external_id')
})

test('an operation that fails rolls back the batch, and the error names the operation', {
  tags: 'full',
}, async () => {
  const type = await world.newType(strict)
  succeed(await batch([put(type, 'a', { n: 1 })]))
  const before = await world.logOf(type)
  for (const [code, operation, reason] of [
    ['CONFLICT', put(type, 'a', { n: 5 }, { expected_version: 7 }), 'version_mismatch'],
    ['CONFLICT', { type: 'create_record', record_type: type, id: 'a', data: { n: 1 } }, 'exists'],
    ['NOT_FOUND', { type: 'delete_record', record_type: type, id: 'none' }, 'record_not_found'],
    ['NOT_FOUND', { type: 'cancel_record', record_type: type, id: 'none' }, 'record_not_found'],
    ['NOT_FOUND', { type: 'patch_record', record_type: type, id: 'none', data: {} }, 'record_not_found'],
    ['NOT_FOUND', put(type, 'none', { n: 1 }, { expected_version: 1 }), 'record_not_found'],
    ['NOT_FOUND', put('nowhere', 'a', {}), 'record_type_not_found'],
    ['NOT_FOUND', { type: 'delete_relationship', id: 'none' }, 'relationship_not_found'],
    ['VALIDATION_ERROR', { type: 'patch_record', record_type: type, id: 'a', data: { n: 'x' } }, 'type'],
  ] as const) {
    const answer = await batch([put(type, 'new', { n: 1 }), operation, put(type, 'new2', { n: 2 })])
    const { details } = expectFailure(answer, code)
    expect(details).toHaveLength(1)
    expect(details[0].path, answer.text).toMatch(/^\/operations\/1\b/)
    expect(details[0].code).toBe(reason)
  }
  expect(await world.logOf(type)).toEqual(before)
  expectFailure(await get(type, 'new'), 'NOT_FOUND')
})

test('a batch with invalid operations lists the errors of all of them', { tags: 'full' }, async () => {
  const type = await world.newType(strict)
  const answer = await batch([
    put(type, 'a', { n: 'x' }),
    put(type, 'b', { n: 1 }),
    put(type, 'c', {}),
    { type: 'explode_record' },
    put(type, '!', { n: 1 }),
    put(type, 'e', { n: 1 }, { expectd_version: 1 }),
    'nothing',
    { type: 'upsert_record', record_type: type, data: { n: 1 } },
  ])
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  const places = new Set(details.map(({ path }: Body) => path.split('/')[2]))
  expect([...places].sort()).toEqual(['0', '2', '3', '4', '5', '6', '7'])
  expect(expectFault(answer, '/operations/3/type').allowed).toContain('upsert_record')
  expect(expectFault(answer, '/operations/5/expectd_version').hint).toBe('expected_version')
  expect(await world.logOf(type)).toEqual([])
})

test('a batch of no operations, more than 1000, or not a list is 400', { tags: 'full' }, async () => {
  const type = await world.newType()
  for (const operations of [[], times(1001, (n) => put(type, `r${n}`, {})), undefined, 'x', {}])
    expectFault(await batch(operations), '/operations')
  expect(await world.logOf(type)).toEqual([])
  const most = succeed(await batch(times(1000, (n) => put(type, `r${n}`, { n }))))
  expect(most.data).toHaveLength(1000)
  expect(await world.logOf(type)).toHaveLength(1000)
})

test('$ref is replaced by the id of an earlier named operation, in ids and link ends', {
  tags: 'full',
}, async () => {
  const [order, line] = [await world.newType(), await world.newType()]
  succeed(await world.call('PUT', '/v1/crm/relationship-types/has_line', {}), 201)
  const link = (source: unknown, target: unknown, more = {}) => ({
    type: 'upsert_relationship',
    rel_type: 'has_line',
    source_record_type: order,
    source_id: source,
    target_record_type: line,
    target_id: target,
    ...more,
  })
  const body = succeed(
    await batch([
      { type: 'create_record', name: 'o', record_type: order, data: { total: 1 } },
      { type: 'create_record', name: 'l1', record_type: line, data: { n: 1 } },
      link({ $ref: 'o' }, { $ref: 'l1' }, { name: 'link' }),
      {
        type: 'create_record',
        name: 'l2',
        record_type: line,
        data: { n: 2 },
        relationships: [
          { rel_type: 'has_line', direction: 'incoming', record_type: order, id: { $ref: 'o' } },
        ],
      },
      { type: 'patch_record', record_type: order, id: { $ref: 'o' }, data: { total: 2 } },
      { type: 'delete_relationship', id: { $ref: 'link' } },
    ]),
  )
  const [o, l1, made, l2, patched, gone] = body.data
  expect([patched.id, patched.version, gone.id, gone.operation]).toEqual([o.id, 2, made.id, 'deleted'])
  const { data: links } = succeed(
    await world.call('GET', '/v1/crm/relationships?filter={"field":"rel_type","op":"eq","value":"has_line"}'),
  )
  expect(links.map((each: Body) => [each.source_id, each.target_id])).toEqual([[o.id, l2.id]])
  expect(succeed(await get(line, l1.id)).data).toEqual({ n: 1 })

  const later = await batch([
    { type: 'create_record', name: 'a', record_type: line, data: {} },
    link({ $ref: 'ordr' }, { $ref: 'a' }),
    { type: 'create_record', name: 'order', record_type: order, data: {} },
  ])
  expect(expectFault(later, '/operations/1/source_id/$ref')).toMatchObject({ code: 'unknown_ref' })
  const misfit = await batch([
    { type: 'create_record', name: 'a', record_type: line, data: {} },
    { type: 'patch_record', record_type: order, id: { $ref: 'a' }, data: {} },
  ])
  expect(expectFault(misfit, '/operations/1/id/$ref').code).toBe('ref_type')
  const twice = await batch([
    { type: 'create_record', name: 'a', record_type: line, data: {} },
    { type: 'create_record', name: 'a', record_type: line, data: {} },
  ])
  expect(expectFault(twice, '/operations/1/name').code).toBe('duplicate_name')
})

test('a link to a record that is absent or created later in the batch is 400 and rolls back the batch', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', { source_record_types: [type] }), 201)
  const link = (source: string, target: string) => ({
    type: 'upsert_relationship',
    rel_type: 'near',
    source_record_type: type,
    source_id: source,
    target_record_type: type,
    target_id: target,
  })
  const answer = await batch([put(type, 'a', {}), link('a', 'b'), put(type, 'b', {}), link('a', 'none')])
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(details.map(({ path }: Body) => path)).toEqual([
    '/operations/1/target_id',
    '/operations/3/target_id',
  ])
  expect(await world.logOf(type)).toEqual([])
  succeed(await batch([put(type, 'a', {}), put(type, 'b', {}), link('a', 'b')]))
})

test('a deletion in a batch cascades to links and records before later operations run', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', '/v1/crm/relationship-types/part', { on_delete: 'cascade' }), 201)
  const link = {
    type: 'upsert_relationship',
    rel_type: 'part',
    source_record_type: type,
    source_id: 'leaf',
    target_record_type: type,
    target_id: 'root',
  }
  succeed(await batch([put(type, 'leaf', { n: 1 }), put(type, 'root', {}), link]))
  const body = succeed(
    await batch([{ type: 'delete_record', record_type: type, id: 'root' }, put(type, 'leaf', { n: 2 })]),
  )
  expect(brief(body)).toEqual([
    ['deleted', 'root', 2],
    ['created', 'leaf', 3],
  ])
  const gone = await batch([
    put(type, 'root', {}),
    link,
    { type: 'delete_record', record_type: type, id: 'root' },
    { type: 'patch_record', record_type: type, id: 'leaf', data: {} },
  ])
  expect(expectFailure(gone, 'NOT_FOUND').details[0].path).toBe('/operations/3/id')
})

test('a unique index applies in a batch: the error names the operation, and values can move between records', {
  tags: 'full',
}, async () => {
  const type = await world.newType({ indexes: [{ fields: ['data.k'], unique: true }] })
  succeed(await batch([put(type, 'a', { k: 1 }), put(type, 'b', { k: 2 })]))
  const taken = await batch([put(type, 'c', { k: 3 }), put(type, 'd', { k: 1 })])
  expect(expectFailure(taken, 'CONFLICT').details).toMatchObject([
    { path: '/operations/1/data/k', code: 'duplicate_value' },
  ])
  expectFailure(await get(type, 'c'), 'NOT_FOUND')
  succeed(await batch([put(type, 'b', { k: 9 }), put(type, 'a', { k: 2 }), put(type, 'c', { k: 1 })]))
  const filter = encodeURIComponent('{"field":"data.k","op":"eq","value":2}')
  const found = succeed(await world.call('GET', `/v1/crm/records/${type}?filter=${filter}`))
  expect(found.data.map(({ id }: Body) => id)).toEqual(['a'])
})

test('a batch can create, use and delete types, and a failure rolls back all of it', {
  tags: 'full',
}, async () => {
  const operations = [
    { type: 'upsert_record_type', id: 'made', body: { ...strict, name: 'Made' } },
    put('made', 'a', { n: 1 }),
    { type: 'upsert_relationship_type', id: 'to', body: { source_record_types: ['made'] } },
    {
      type: 'upsert_relationship',
      rel_type: 'to',
      source_record_type: 'made',
      source_id: 'a',
      target_record_type: 'made',
      target_id: 'a',
    },
  ]
  const dry = succeed(await batch(operations, '?dry_run=true'))
  expect(dry.dry_run).toBe(true)
  expectFailure(await world.call('GET', '/v1/crm/record-types/made'), 'NOT_FOUND')
  expectFailure(await world.call('PUT', '/v1/crm/records/made/a', { data: { n: 1 } }), 'NOT_FOUND')
  const bad = await batch([...operations, put('made', 'b', { n: 'x' })])
  expectFault(bad, '/operations/4/data/n')
  expectFailure(await world.call('GET', '/v1/crm/record-types/made'), 'NOT_FOUND')
  const body = succeed(await batch(operations))
  expect(body.data.map((one: Body) => one.operation)).toEqual(times(4, () => 'created'))
  expect(succeed(await world.call('GET', '/v1/crm/record-types/made')).name).toBe('Made')

  const unlinked = { type: 'delete_relationship_type', id: 'to', confirm: 'to' }
  const refused = await batch([unlinked, { type: 'delete_record_type', id: 'made' }])
  expect(expectFailure(refused, 'CONFLICT').details[0].path).toBe('/operations/1/confirm')
  const gone = succeed(
    await batch([
      unlinked,
      { type: 'delete_record_type', id: 'made', confirm: 'made' },
      { type: 'upsert_record_type', id: 'made', body: {} },
      put('made', 'a', { free: true }),
    ]),
  )
  expect(gone.data.map((one: Body) => one.operation)).toEqual(['deleted', 'deleted', 'created', 'created'])
  expect(gone.data[3].version).toBe(3)
  const fault = await batch([
    { type: 'upsert_record_type', id: 'made', body: { json_schema: { type: 'x' } } },
  ])
  expect(expectFailure(fault, 'VALIDATION_ERROR').details[0].path).toMatch(
    /^\/operations\/0\/body\/json_schema/,
  )
})

test('a batch with one operation outside the grants is 403, whether or not the type exists', {
  tags: 'full',
}, async () => {
  const [mine, theirs] = [await world.newType(), await world.newType()]
  const { call } = await world.newToken([{ record_type: mine, permission: 'write' }])
  succeed(await batch([put(mine, 'ok', {})], '', call))
  const refusal = async (type: string) =>
    expectFailure(await batch([put(mine, 'm', {}), put(type, 't', {}), 'odd'], '', call), 'FORBIDDEN')
  const { details } = await refusal(theirs)
  expect(details.map(({ path }: Body) => path)).toEqual(['/operations/1/record_type'])
  expect(JSON.stringify((await refusal('nowhere')).details).replaceAll('nowhere', theirs)).toBe(
    JSON.stringify(details),
  )
  expectFailure(await batch([{ type: 'upsert_record_type', id: mine, body: {} }], '', call), 'FORBIDDEN')
  expect(await world.logOf(mine)).toHaveLength(1)
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const { call: other } = await world.newToken([{ base: 'other', permission: 'admin' }])
  expectFailure(await batch([put(mine, 'm', {})], '', other), 'FORBIDDEN')
})

test('a batch cannot change configuration of a base with schema_changes preview_only', async () => {
  const settings = { schema_changes: 'preview_only' }
  succeed(await world.call('PUT', '/v1/bases/guarded', { settings }), 201)
  const operations = [{ type: 'upsert_record_type', id: 'n', json_schema: {} }]
  const answer = await world.call('POST', '/v1/guarded/batch', { operations })
  expect(expectFailure(answer, 'FORBIDDEN').details[0].code).toBe('preview_only')
})

test('a batch reports created, updated and unchanged records in the order of its operations', async () => {
  const type = await world.newType()
  succeed(
    await batch([put(type, 'same', { n: 1 }), put(type, 'other', { n: 1 }), put(type, 'gone', { n: 1 })]),
  )
  succeed(await world.call('DELETE', `/v1/crm/records/${type}/gone`))
  succeed(await world.call('POST', `/v1/crm/records/${type}/other/cancel`))
  const answer = await batch([
    put(type, 'other', { n: 2 }),
    put(type, 'new', { n: 2 }),
    put(type, 'same', { n: 1 }),
    put(type, 'gone', { n: 1 }),
  ])
  const { data } = succeed(answer)
  expect(brief({ data })).toEqual([
    ['updated', 'other', 3],
    ['created', 'new', 1],
    ['unchanged', 'same', 1],
    ['created', 'gone', 3],
  ])
  expect(data[0].record).toMatchObject({ data: { n: 2 }, version: 3, status: 'cancelled' })
  const stored = data.map(({ id }: Body) => world.call('GET', `/v1/crm/records/${type}/${id}`))
  expect((await Promise.all(stored)).map(({ body }) => body)).toEqual(data.map(({ record }: Body) => record))
  expect((await world.logOf(type)).filter(({ id }) => id === 'same')).toHaveLength(1)
})

test('a dry run of a batch writes nothing and returns the results; concurrent retries under one key write once', async () => {
  const type = await world.newType()
  const operations = [put(type, 'a', { n: 1 }), put(type, 'a', { n: 2 })]
  expect(brief(succeed(await batch(operations, '?dry_run=true')))).toEqual([
    ['created', 'a', 1],
    ['updated', 'a', 2],
  ])
  expect(await world.logOf(type)).toEqual([])
  const create = [{ type: 'create_record', record_type: type, data: {} }]
  const send = () =>
    world.call('POST', '/v1/crm/batch', { operations: create }, { 'idempotency-key': 'once' })
  const answers = await Promise.all(times(8, send))
  const bodies = new Set(answers.map((answer) => JSON.stringify(succeed(answer))))
  expect(bodies.size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(7)
  expect(await world.logOf(type)).toHaveLength(1)
})

test('a write in a batch under a lost claim is 409 and rolls back the batch', { tags: 'full' }, async () => {
  const type = await world.newType()
  succeed(await batch([put(type, 'a', { n: 1 })]))
  const claimed = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, {}))
  const claim_id = claimed.data[0].claim.id
  succeed(await batch([put(type, 'a', { n: 2 }, { claim_id }), put(type, 'b', {})]))
  succeed(await world.call('POST', `/v1/crm/claims/${claim_id}/complete`))
  const late = await batch([put(type, 'b', { n: 3 }), put(type, 'a', { n: 3 }, { claim_id })])
  expect(expectFailure(late, 'CONFLICT').details).toMatchObject([
    { path: '/operations/1/claim_id', code: 'claim_lost' },
  ])
  expect(succeed(await get(type, 'b'))).toMatchObject({ data: {}, version: 1 })
})

test('a deletion in a batch ends its claim; under a lost or foreign claim it is refused and rolls back the batch', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  succeed(await batch(['a', 'b', 'c'].map((id) => put(type, id, { n: 1 }))))
  const claimed = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, { limit: 3, sort: 'id' }))
  const [a, b, c] = claimed.data.map(({ claim }: Body) => claim.id)
  const remove = (id: string, claim_id: string) => ({
    type: 'delete_record',
    record_type: type,
    id,
    claim_id,
  })
  const refused = async (
    operations: object[],
    index: number,
    failure: 'CONFLICT' | 'NOT_FOUND',
    code: string,
  ) =>
    expect(expectFailure(await batch(operations), failure).details).toMatchObject([
      { path: `/operations/${index}/claim_id`, code },
    ])
  succeed(await world.call('POST', `/v1/crm/claims/${c}/release`))
  await refused([remove('a', a), put(type, 'd', {}), remove('c', c)], 2, 'CONFLICT', 'claim_lost')
  await refused([remove('a', a), remove('c', b)], 1, 'CONFLICT', 'claim_of_another_record')
  await refused([remove('a', 'unheard-of'), remove('b', b)], 0, 'NOT_FOUND', 'claim_not_found')
  const other = await world.newToken([{ permission: 'write' }])
  const theirs = await other.call('POST', '/v1/crm/batch', { operations: [remove('a', a)] })
  expect(expectFailure(theirs, 'CONFLICT').details).toMatchObject([{ code: 'claim_of_another_token' }])
  expect(succeed(await get(type, 'a'))).toMatchObject({ version: 1 })
  expectFailure(await get(type, 'd'), 'NOT_FOUND')

  const operations = [put(type, 'a', { n: 2 }, { claim_id: a }), remove('a', a), remove('b', b)]
  const dry = succeed(await world.call('POST', '/v1/crm/batch?dry_run=true', { operations }))
  expect(dry.data.map(({ operation }: Body) => operation)).toEqual(['updated', 'deleted', 'deleted'])
  succeed(await world.call('POST', `/v1/crm/claims/${a}/heartbeat`))
  succeed(await batch(operations))
  expectFailure(await get(type, 'a'), 'NOT_FOUND')
  expectFailure(await world.call('POST', `/v1/crm/claims/${b}/heartbeat`), 'CONFLICT')
  const query = `mutation ($operations: JSON!) { batch(base: "crm", operations: $operations) { count } }`
  const variables = { operations: [remove('c', c)] }
  const { errors } = (await world.call('POST', '/graphql', { query, variables })).body
  expect(errors[0].extensions).toMatchObject({ code: 'CONFLICT', details: [{ code: 'claim_lost' }] })
  expect(succeed(await get(type, 'c'))).toMatchObject({ version: 1 })
})

test('a batch in an absent base is 404', async () => {
  expectFailure(
    await world.call('POST', '/v1/nobase/batch', { operations: [put('t', 'a', {})] }),
    'NOT_FOUND',
  )
})

test('a batch of more than 1000 operations is 400 with the limit, before the permissions of each', {
  tags: 'full',
}, async () => {
  const writer = await world.newToken([{ record_type: 'other', permission: 'write' }])
  for (const operations of [times(1001, () => put('task', 'a', {})), times(100_000, () => 0)]) {
    const detail = expectFault(await batch(operations, '', writer.call), '/operations')
    expect(detail).toMatchObject({ code: 'too_big', received: operations.length })
  }
})

test('an upsert with on_existing "keep" creates an absent record and leaves one that exists as it is', {
  tags: 'full',
}, async () => {
  const type = await world.newType({
    json_schema: { type: 'object', properties: { n: { type: 'integer' } } },
  })
  const keep = (id: string, n: unknown, more = {}) => put(type, id, { n }, { on_existing: 'keep', ...more })
  const pair = { external_id: 'thread-1', external_source: 'mail' }
  const first = succeed(await batch([keep('a', 1, pair), keep('a', 2), keep('b', 3)]))
  expect(brief(first)).toEqual([
    ['created', 'a', 1],
    ['unchanged', 'a', 1],
    ['created', 'b', 1],
  ])
  expect(first.data[1].record).toEqual(succeed(await get(type, 'a')))
  const again = succeed(
    await batch([{ type: 'upsert_record', record_type: type, data: { n: 9 }, on_existing: 'keep', ...pair }]),
  )
  expect(again.data).toEqual([{ ...first.data[1], index: 0 }])
  expect(succeed(await get(type, 'a'))).toMatchObject({ data: { n: 1 }, version: 1, external_id: 'thread-1' })
  expect((await world.logOf(type, 'a')).map(({ operation }) => operation)).toEqual(['create'])
  // Beside other operations, and with the rules of an upsert.
  expect(brief(succeed(await batch([put(type, 'b', { n: 4 }), keep('b', 5), keep('c', 6)])))).toEqual([
    ['updated', 'b', 2],
    ['unchanged', 'b', 2],
    ['created', 'c', 1],
  ])
  expectFault(await batch([keep('a', 'text')]), '/operations/0/data/n')
  expectFailure(await batch([keep('a', 7, { expected_version: 5 })]), 'CONFLICT')
  expectFailure(await batch([keep('b', 7, pair)]), 'CONFLICT')
  expectFault(await batch([put(type, 'a', { n: 1 }, { on_existing: 'skip' })]), '/operations/0/on_existing')
  expect(succeed(await get(type, 'b'))).toMatchObject({ data: { n: 4 }, version: 2 })
})

test('an upsert that keeps its record writes no relationships', async () => {
  const [type, link] = [await world.newType(), `keeps-${Date.now()}`]
  const ends = { source_record_types: [type], target_record_types: [type] }
  succeed(await world.call('PUT', `/v1/crm/relationship-types/${link}`, ends), 201)
  const keep = (id: string) => ({
    ...put(type, id, {}, { on_existing: 'keep' }),
    relationships: [{ rel_type: link, record_type: type, id: 'end' }],
  })
  succeed(await batch([put(type, 'end', {}), put(type, 'old', {})]))
  const { data } = succeed(await batch([keep('old'), keep('new')]))
  expect(data[0]).not.toHaveProperty('relationships')
  expect(data[1].relationships).toMatchObject({ created: 1 })
  const linked = succeed(
    await world.call(
      'GET',
      `/v1/crm/relationships?filter=${encodeURIComponent(JSON.stringify({ field: 'rel_type', op: 'eq', value: link }))}`,
    ),
  ).data
  expect(linked.map(({ source_id }: Body) => source_id)).toEqual(['new'])
})

test('concurrent upserts that keep make one record, by id and by external id', { tags: 'full' }, async () => {
  const type = await world.newType()
  const keep = (n: number, more: object) =>
    batch([{ type: 'upsert_record', record_type: type, data: { n }, on_existing: 'keep', ...more }])
  for (const named of [{ id: 'one' }, { external_id: 'two' }]) {
    const answers = await Promise.all(times(12, (n) => keep(n, named)))
    const did = answers.map((answer) => succeed(answer).data[0])
    expect(did.filter(({ operation }) => operation === 'created')).toHaveLength(1)
    expect(did.filter(({ operation }) => operation === 'unchanged')).toHaveLength(11)
    expect(new Set(did.map(({ record }) => JSON.stringify(record))).size).toBe(1)
  }
  expect(succeed(await world.call('GET', `/v1/crm/records/${type}?include_total=true`)).meta.total).toBe(2)
})
