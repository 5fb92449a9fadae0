import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectDetail, expectFailure, succeed } from '../../support/answers.ts'
import type { Call } from '../../support/caller.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let call: Call
let serial = 0
/** The change-set of a test, and three records of its own in production. */
let id: string
let a: string
let b: string
let c: string

beforeAll(async () => {
  world = await openWorld()
  ;({ call } = world)
  const properties = {
    stage: { type: 'string' },
    amount: { type: 'number' },
    code: { type: 'string' },
    address: { type: 'object' },
  }
  const indexes = [{ fields: ['data.stage'] }, { fields: ['data.code'], unique: true }]
  succeed(
    await call('PUT', '/v1/crm/record-types/deal', { json_schema: { type: 'object', properties }, indexes }),
    201,
  )
  succeed(await call('PUT', '/v1/crm/record-types/note', {}), 201)
  const ends = { source_record_types: ['note'], target_record_types: ['deal'] }
  succeed(await call('PUT', '/v1/crm/relationship-types/about', { ...ends, on_delete: 'cascade' }), 201)
})
afterAll(() => world.close())

beforeEach(async () => {
  const n = ++serial
  ;[a, b, c] = [`a${n}`, `b${n}`, `c${n}`] as [string, string, string]
  for (const each of [a, b, c])
    succeed(
      await call('PUT', at('crm', each), {
        data: { stage: 'open', amount: 1, address: { city: 'X', zip: '1' } },
      }),
      201,
    )
  id = succeed(
    await call('POST', '/v1/crm/preview', { name: `s${n}`, copy: 'on_write', title: 'A try' }),
    201,
  ).id
})

const at = (base: string, record: string, type = 'deal') => `/v1/${base}/records/${type}/${record}`
const dataOf = async (base: string, record: string) => succeed(await call('GET', at(base, record))).data
const patch = (base: string, record: string, data: object) => call('PATCH', at(base, record), { data })
const propose = async (more: object = {}) =>
  succeed(await call('POST', '/v1/crm/promote/proposal', { from: id, ...more }))
const promote = (more: object = {}) => call('POST', '/v1/crm/promote', { from: id, ...more })
const stateOf = async () => succeed(await call('GET', `/v1/bases/${id}`)).change_set

test('a proposal names what unique values would refuse, as the merge does, and no value that is given up along with it', {
  tags: 'full',
}, async () => {
  const taken = (n: number) => `code-${id}-${n}`
  succeed(await patch(id, a, { code: taken(1) }))
  succeed(await patch(id, b, { code: taken(2) }))
  expect((await propose()).breaks).toEqual([])
  // Production takes the first value, and c gives another one up in the change-set.
  succeed(await patch('crm', c, { code: taken(1) }))
  const break1 = { path: `/deal/${a}/data/code`, code: 'duplicate_value' }
  expect((await propose()).breaks).toMatchObject([break1])
  const refused = await promote({ dry_run: true })
  expect(expectFailure(refused, 'CONFLICT').details[0].code).toBe('duplicate_value')
  expect((await propose({ resources: [{ kind: 'record', record_type: 'deal', id: b }] })).breaks).toEqual([])
  succeed(await call('DELETE', at(id, c)))
  expect((await propose()).breaks).toEqual([])
  const alone = [{ kind: 'record', record_type: 'deal', id: a }]
  expect((await propose({ resources: alone })).breaks).toMatchObject([break1])
  expect(JSON.stringify((await propose({ resources: alone })).breaks)).not.toContain(taken(1))
})

test('records that swap unique values are promoted and taken back, whichever is written first', async () => {
  const [x, y] = [`x-${id}`, `y-${id}`]
  const swap = async (base: string, ...codes: [string, string][]) => {
    for (const [record, code] of codes) succeed(await patch(base, record, { code }))
  }
  const codes = async () => [(await dataOf('crm', a)).code, (await dataOf('crm', b)).code]
  await swap('crm', [a, x], [b, y])
  await swap(id, [a, `z-${id}`], [b, x], [a, y])
  expect((await propose()).breaks).toEqual([])
  const { id: promotion } = succeed(await promote())
  expect(await codes()).toEqual([y, x])
  for (const code of [x, y])
    expect(expectFailure(await patch('crm', c, { code }), 'CONFLICT').details[0].code).toBe('duplicate_value')
  succeed(await call('POST', '/v1/crm/promote/rollback', { promotion_id: promotion }))
  expect(await codes()).toEqual([x, y])
})

test('records of a batch exchange unique values, in a change-set as in production, and a duplicate names its operation', async () => {
  for (const base of [id, 'crm']) {
    const [x, y, z] = [`x-${base}`, `y-${base}`, `z-${base}`]
    const codes = (...all: [string, string | null][]) =>
      call('POST', `/v1/${base}/batch`, {
        operations: all.map(([record, code]) => ({
          ...{ type: 'patch_record', record_type: 'deal', id: record, data: { code } },
        })),
      })
    const held = () => Promise.all([a, b, c].map(async (record) => (await dataOf(base, record)).code))
    succeed(await codes([a, x], [b, y]))
    succeed(await codes([a, y], [b, x]))
    // Whichever is written first gives a value up for the other one.
    succeed(await codes([c, x], [b, z]))
    succeed(await codes([a, z], [b, y]))
    expect(await held()).toEqual([z, y, x])
    const refused = await codes([a, y], [b, z], [c, z])
    expect(expectFailure(refused, 'CONFLICT').details[0].code).toBe('duplicate_value')
    expect(await held()).toEqual([z, y, x])
    succeed(await codes([a, null], [b, null], [c, null]))
  }
})

test('more drafts than a batch holds are merged whole or not at all, and the refused one is named', {
  tags: 'full',
}, async () => {
  const type = `line${serial}`
  succeed(await call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  const define = async (maximum: number) => {
    const properties = { n: { type: 'number', maximum } }
    succeed(
      await call('PUT', `/v1/crm/record-types/${type}`, { json_schema: { type: 'object', properties } }),
    )
  }
  const ids = Array.from({ length: 2100 }, (_, n) => `l${String(n).padStart(4, '0')}`)
  const written = async () => {
    const filter = encodeURIComponent(JSON.stringify({ field: 'version', op: 'eq', value: version }))
    const query = `filter=${filter}&limit=1&include_total=true`
    return succeed(await call('GET', `/v1/crm/records/${type}?${query}`)).meta.total
  }
  let version = 1
  // First the drafts create their records, then they update them.
  for (const from of [id, succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id]) {
    await define(5000)
    for (const first of [0, 700, 1400]) {
      const operations = ids.slice(first, first + 700).map((each) => ({
        ...{ type: 'upsert_record', record_type: type, id: each },
        data: { n: each === 'l1500' ? 4000 : version },
      }))
      succeed(await call('POST', `/v1/${from}/batch`, { operations }))
    }
    await define(3000)
    const { details } = expectFailure(await promote({ from }), 'CONFLICT')
    expect(details).toMatchObject([{ path: `/${type}/l1500/data/n`, code: 'maximum' }])
    expect(await written()).toBe(0)
    succeed(await call('PATCH', at(from, 'l1500', type), { data: { n: 2000 + version } }))
    expect(succeed(await promote({ from })).changes).toHaveLength(2100)
    expect(await written()).toBe(2100)
    expect(succeed(await call('GET', at('crm', 'l1500', type))).data).toEqual({ n: 2000 + version })
    expect(succeed(await call('GET', at('crm', 'l2099', type))).data).toEqual({ n: version })
    version++
  }
})

test('a proposal names a relationship whose place another one has taken since, as the merge does', {
  tags: 'full',
}, async () => {
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'], cardinality: 'many_to_one' }
  const type = `owner${serial}`
  succeed(await call('PUT', `/v1/crm/relationship-types/${type}`, ends), 201)
  const link = (base: string, target: string) =>
    call('POST', `/v1/${base}/relationships`, {
      ...{ rel_type: type, source_record_type: 'deal', source_id: a },
      ...{ target_record_type: 'deal', target_id: target },
    })
  const own = succeed(await link(id, b), 201).id
  expect((await propose()).breaks).toEqual([])
  const other = succeed(await link('crm', c), 201).id
  expect((await propose()).breaks).toMatchObject([{ path: `/${own}`, code: 'cardinality' }])
  expect(expectFailure(await promote({ dry_run: true }), 'CONFLICT').details[0].code).toBe('cardinality')
  succeed(await call('DELETE', `/v1/${id}/relationships/${other}`))
  expect((await propose()).breaks).toEqual([])
  succeed(await promote())
})

test('a proposal names an end that is gone, and a deletion that production restricts by now, as the merge does', {
  tags: 'full',
}, async () => {
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  const [type, strict] = [`near${serial}`, `needs${serial}`]
  succeed(await call('PUT', `/v1/crm/relationship-types/${type}`, ends), 201)
  succeed(await call('PUT', `/v1/crm/relationship-types/${strict}`, { ...ends, on_delete: 'restrict' }), 201)
  const link = (base: string, rel_type: string, source_id: string, target_id: string) =>
    call('POST', `/v1/${base}/relationships`, {
      ...{ rel_type, source_record_type: 'deal', source_id, target_record_type: 'deal', target_id },
    })
  const fresh = `d${serial}`
  succeed(await call('PUT', at(id, fresh), { data: { stage: 'new' } }), 201)
  const made = succeed(await link(id, type, a, fresh), 201).id
  expect((await propose()).breaks).toEqual([])
  // Without its other end, it has none.
  const alone = { resources: [{ kind: 'relationship', id: made }] }
  const missing = (side: string) => ({ path: `/${made}/${side}_id`, code: 'unknown_record' })
  expect((await propose(alone)).breaks).toMatchObject([missing('target')])
  expect(expectFailure(await promote(alone), 'CONFLICT').details).toMatchObject([missing('target')])
  succeed(await call('DELETE', at('crm', a)))
  expect((await propose()).breaks).toMatchObject([missing('source')])
  expect(expectFailure(await promote({ dry_run: true }), 'CONFLICT').details).toMatchObject([
    missing('source'),
  ])
  succeed(await call('POST', `/v1/${id}/discard`, alone))
  succeed(await call('DELETE', at(id, b)))
  succeed(await link('crm', strict, c, b), 201)
  const restricted = { path: `/deal/${b}`, code: 'restricted' }
  expect((await propose()).breaks).toMatchObject([restricted])
  expect(expectFailure(await promote(), 'CONFLICT').details).toMatchObject([restricted])
  succeed(await promote({ resources: [{ kind: 'record', record_type: 'deal', id: fresh }] }))
  expect((await propose()).breaks).toMatchObject([restricted])
})

test('a property that production has renamed meanwhile is promoted by its new name, and stored by no other', {
  tags: 'full',
}, async () => {
  const type = `renamed${serial}`
  const properties = { sum: { type: 'number' }, note: { type: 'string' } }
  const json_schema = { type: 'object', properties, additionalProperties: false }
  succeed(await call('PUT', `/v1/crm/record-types/${type}`, { json_schema }), 201)
  for (const each of [a, b])
    succeed(await call('PUT', at('crm', each, type), { data: { sum: 1, note: 'x' } }), 201)
  const change = (record: string, data: object) => call('PATCH', at(id, record, type), { data })
  succeed(await change(a, { sum: 5 }))
  succeed(await change(b, { note: 'y' }))
  const migration = [{ op: 'rename', field: 'data.sum', to: 'data.total' }]
  succeed(await call('PATCH', `/v1/crm/record-types/${type}`, { migration }))
  const conflict = { path: `/${type}/${a}/data/sum`, code: 'same_field' }
  expect((await propose()).conflicts).toMatchObject([conflict])
  expect(expectFailure(await promote(), 'CONFLICT').details).toMatchObject([conflict])
  const refused = { path: `/${type}/${a}/data/sum`, code: 'additional_properties', hint: 'total' }
  expect(expectFailure(await promote({ force: true }), 'CONFLICT').details).toMatchObject([refused])
  const of = { record_type: type, id: a }
  const resolve = [
    { ...of, field: 'data.sum', take: 'production' },
    { ...of, field: 'data.total', take: 'value', value: 5 },
  ]
  expect(await propose({ resolve })).toMatchObject({ conflicts: [], breaks: [] })
  const { id: promotion_id } = succeed(await promote({ resolve }))
  const stored = async (record: string) => succeed(await call('GET', at('crm', record, type))).data
  expect([await stored(a), await stored(b)]).toEqual([
    { total: 5, note: 'x' },
    { total: 1, note: 'y' },
  ])
  succeed(await call('POST', '/v1/crm/promote/rollback', { promotion_id }))
  expect([await stored(a), await stored(b)]).toEqual([
    { total: 1, note: 'x' },
    { total: 1, note: 'x' },
  ])
})

test('an external id that production has given away meanwhile is a break, and no other record is written over', {
  tags: 'full',
}, async () => {
  const pair = { external_id: `E${serial}`, external_source: 'erp' }
  const put = (base: string, record: string, data: object) =>
    call('PUT', at(base, record), { data: { stage: 'open', ...data }, ...pair })
  const [mine, theirs] = [`mine${serial}`, `theirs${serial}`]
  succeed(await put(id, mine, { amount: 1 }), 201)
  expect((await propose()).breaks).toEqual([])
  succeed(await put('crm', theirs, { amount: 2 }), 201)
  const taken = { path: `/deal/${mine}/external_id`, code: 'duplicate_external_id' }
  expect((await propose()).breaks).toMatchObject([taken])
  expect(expectFailure(await promote({ force: true }), 'CONFLICT').details).toMatchObject([taken])
  expect(await dataOf('crm', theirs)).toEqual({ stage: 'open', amount: 2 })
  // The other one is deleted along, so the pair is free.
  succeed(await call('DELETE', at(id, theirs)))
  expect((await propose()).breaks).toEqual([])
  succeed(await promote())
  expect(await dataOf('crm', mine)).toEqual({ stage: 'open', amount: 1 })
})

test('a draft whose external id production has given away is written on, and the other record is refused by name', {
  tags: 'full',
}, async () => {
  const pair = { external_id: `F${serial}`, external_source: 'erp' }
  const put = (base: string, record: string, amount: number) =>
    call('PUT', at(base, record), { data: { stage: 'open', amount }, ...pair })
  succeed(await put(id, a, 2))
  succeed(await put('crm', b, 3))
  succeed(await put(id, a, 4))
  succeed(await patch(id, a, { amount: 5 }))
  expect(await dataOf(id, a)).toEqual({ stage: 'open', amount: 5 })
  const batch = { operations: [{ type: 'patch_record', record_type: 'deal', id: b, data: { amount: 6 } }] }
  for (const [path, refused] of [
    ['', await patch(id, b, { amount: 6 })],
    ['', await put(id, b, 6)],
    ['/operations/0', await call('POST', `/v1/${id}/batch`, batch)],
  ] as const)
    expect(expectFailure(refused, 'CONFLICT').details).toMatchObject([
      { path: `${path}/external_id`, code: 'duplicate_external_id' },
    ])
  expect(await dataOf(id, b)).toEqual({ stage: 'open', amount: 3 })
  succeed(
    await call('POST', `/v1/${id}/discard`, { resources: [{ kind: 'record', record_type: 'deal', id: a }] }),
  )
  succeed(await patch(id, b, { amount: 6 }))
})

test('a field of an object that only the change-set has takes no other field of it along', {
  tags: 'full',
}, async () => {
  succeed(await patch(id, a, { address: { city: 'Y', zip: '2' }, owner: { name: 'Ada', mail: 'a@b.c' } }))
  const part = (...fields: string[]) => ({
    resources: [{ kind: 'record', record_type: 'deal', id: a, fields }],
  })
  succeed(await promote(part('data.owner.name')))
  const before = { stage: 'open', amount: 1, address: { city: 'X', zip: '1' } }
  expect(await dataOf('crm', a)).toEqual({ ...before, owner: { name: 'Ada' } })
  succeed(await patch(id, a, { address: null }))
  succeed(await promote(part('data.address.zip')))
  expect(await dataOf('crm', a)).toEqual({ ...before, address: { city: 'X' }, owner: { name: 'Ada' } })
  succeed(await promote())
  expect(await dataOf('crm', a)).toEqual({ stage: 'open', amount: 1, owner: { name: 'Ada', mail: 'a@b.c' } })
})

test('a relationship that production has made meanwhile is a break, and is not written over', {
  tags: 'full',
}, async () => {
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  const type = `near${serial}`
  succeed(await call('PUT', `/v1/crm/relationship-types/${type}`, ends), 201)
  const link = (base: string, target: string, n: number, pair = {}) =>
    call('POST', `/v1/${base}/relationships`, {
      ...{ rel_type: type, source_record_type: 'deal', source_id: a, data: { n } },
      ...{ target_record_type: 'deal', target_id: target, ...pair },
    })
  const pair = { external_id: `L${serial}` }
  const same = succeed(await link(id, b, 1), 201).id
  const paired = succeed(await link(id, c, 1, pair), 201).id
  expect((await propose()).breaks).toEqual([])
  const other = succeed(await link('crm', b, 2, pair), 201).id
  const found = [
    { path: `/${paired}/external_id`, code: 'duplicate_external_id' },
    { path: `/${same}`, code: 'exists' },
  ]
  expect((await propose()).breaks).toMatchObject(found)
  expect(expectFailure(await promote({ force: true }), 'CONFLICT').details).toMatchObject(found)
  expect(succeed(await call('GET', `/v1/crm/relationships/${other}`))).toMatchObject({
    version: 1,
    data: { n: 2 },
  })
  succeed(await call('POST', `/v1/${id}/discard`, { resources: [{ kind: 'relationship', id: same }] }))
  succeed(await call('DELETE', `/v1/${id}/relationships/${other}`))
  expect((await propose()).breaks).toEqual([])
  succeed(await promote())
})

test('a change-set is opened without a copy, and says what it changes', { tags: 'full' }, async () => {
  const opened = succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
  expect(opened).toMatchObject({ environment: 'preview', production_base: 'crm' })
  expect(opened.id).toMatch(/^crm--p-[a-z0-9]{6}$/)
  expect(opened.change_set).toMatchObject({ title: null, status: 'open', revision: 0 })
  succeed(await patch(id, a, { stage: 'won' }))
  succeed(await call('POST', `/v1/${id}/records/deal`, { id: `new${serial}`, data: { stage: 'open' } }), 201)
  succeed(await call('DELETE', at(id, b)))
  expect(await stateOf()).toMatchObject({
    ...{ title: 'A try', status: 'open', revision: 3, created_by_name: expect.any(String) },
    counts: { create: 1, update: 1, delete: 1 },
  })
  const { data } = succeed(await call('GET', '/v1/crm/previews'))
  expect(data.find((each: { id: string }) => each.id === id).change_set.counts).toEqual({
    create: 1,
    update: 1,
    delete: 1,
  })
})

test('the numbers of its base are those of production and what it adds and takes away', {
  tags: 'full',
}, async () => {
  const countsOf = async (base: string) =>
    succeed(await call('GET', `/v1/bases/${base}?include=counts`)).counts as Record<string, number>
  const before = await countsOf('crm')
  expect(before['records']).toBeGreaterThan(1)
  expect(await countsOf(id)).toEqual(before)
  for (const n of [1, 2, 3])
    succeed(await call('PUT', `/v1/${id}/records/deal/more${n}`, { data: { stage: 'open' } }), 201)
  succeed(await call('DELETE', at(id, b)))
  expect(await countsOf(id)).toEqual({ ...before, records: (before['records'] ?? 0) + 2 })
  expect(await countsOf('crm')).toEqual(before)
  // A token of previews alone reads no production, and so nothing that a change-set shows.
  const { call: outside } = await world.newToken([{ environment: 'preview', permission: 'manage' }])
  const { data } = succeed(await outside('GET', '/v1/bases?include=counts&limit=1000'))
  expect(data.find((each: { id: string }) => each.id === id).counts).toEqual({ record_types: 0, records: 0 })
  const { headers } = await call('GET', `/v1/bases/${id}?include=counts`)
  expect(headers.get('etag')).toBe((await call('GET', `/v1/bases/${id}`)).headers.get('etag'))
})

test('production shows nothing of it, on no surface that lists, searches or follows', {
  tags: 'full',
}, async () => {
  const before = await world.database.query(
    'SELECT count(*)::int AS n FROM plinth.change WHERE base_id = $1',
    ['crm'],
  )
  succeed(await patch(id, a, { stage: 'secret' }))
  succeed(await call('PUT', at(id, `x${serial}`), { data: { stage: 'secret' } }), 201)
  const filter = { field: 'data.stage', op: 'eq', value: 'secret' }
  expect(succeed(await call('POST', '/v1/crm/records/deal/query', { filter })).data).toEqual([])
  expect(succeed(await call('POST', `/v1/${id}/records/deal/query`, { filter })).data).toHaveLength(2)
  expectFailure(await call('GET', at('crm', `x${serial}`)), 'NOT_FOUND')
  expect((await dataOf('crm', a)).stage).toBe('open')
  expect(
    await world.database.query('SELECT count(*)::int AS n FROM plinth.change WHERE base_id = $1', ['crm']),
  ).toEqual(before)
  const other = succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
  expect((await dataOf(other, a)).stage).toBe('open')
})

test('it shows what production writes later, but for what it has changed itself', {
  tags: 'full',
}, async () => {
  succeed(await patch(id, a, { stage: 'won' }))
  succeed(await patch('crm', a, { amount: 5 }))
  succeed(await patch('crm', b, { amount: 7 }))
  expect(await dataOf(id, a)).toMatchObject({ stage: 'won', amount: 1 })
  expect(await dataOf(id, b)).toMatchObject({ amount: 7 })
})

test('it shows the links whose ends it shows, and counts no others', async () => {
  const note = `n${serial}`
  const about = (deal: string) => ({
    ...{ rel_type: 'about', source_record_type: 'note', source_id: note },
    ...{ target_record_type: 'deal', target_id: deal },
  })
  succeed(await call('PUT', at('crm', note, 'note'), { data: {} }), 201)
  succeed(await call('DELETE', at(id, a)))
  for (const [base, deal] of [
    ['crm', a],
    ['crm', b],
    [id, c],
  ] as const)
    succeed(await call('POST', `/v1/${base}/relationships`, about(deal)), 201)
  succeed(await call('DELETE', at('crm', c)))
  const filter = encodeURIComponent(JSON.stringify({ field: 'source_id', op: 'eq', value: note }))
  for (const path of [
    `relationships?filter=${filter}&include_total=true`,
    `records/note/${note}/related?include_total=true`,
  ]) {
    const { data, meta } = succeed(await call('GET', `/v1/${id}/${path}`))
    expect([path, data.length, meta.total]).toEqual([path, 1, 1])
  }
  const query = `SELECT target_id FROM relationships WHERE source_id = '${note}'`
  expect(succeed(await call('POST', `/v1/${id}/sql`, { query })).data).toEqual([{ target_id: b }])
})

test('a record that was changed before it is deleted is deleted as production has it', async () => {
  succeed(await call('POST', `${at(id, a)}/cancel`))
  succeed(await call('DELETE', at(id, a)))
  const { data } = succeed(await call('GET', `/v1/${id}/changes?include=before`))
  expect(data[0].diff).toEqual((await propose()).changes[0].diff)
})

test('the answer to a write names it, and that of production does not', { tags: 'full' }, async () => {
  expect(succeed(await patch(id, a, { stage: 'won' }))).toMatchObject({ id: a, change_set: id })
  expect(succeed(await call('DELETE', at(id, b)))).toEqual({ id: b, deleted: true, change_set: id })
  const operations = [{ type: 'delete_record', record_type: 'deal', id: c }]
  expect(succeed(await call('POST', `/v1/${id}/batch`, { operations })).change_set).toBe(id)
  expect(succeed(await call('GET', at(id, a)))).not.toHaveProperty('change_set')
  expect(succeed(await patch('crm', a, { stage: 'won' }))).not.toHaveProperty('change_set')
})

test('an ETag of it fits there, and nothing outside', { tags: 'full' }, async () => {
  const read = await call('GET', at(id, a))
  const tag = `"1-s${serial}"`
  expect(read.headers.get('etag')).toBe(tag)
  expect((await call('GET', at(id, a), undefined, { 'if-none-match': tag })).status).toBe(304)
  expect((await call('GET', at('crm', a), undefined, { 'if-none-match': tag })).status).toBe(200)
  const write = (base: string, match: string) =>
    call('PATCH', at(base, a), { data: { stage: 'won' } }, { 'if-match': match })
  expect(expectFailure(await write('crm', tag), 'CONFLICT').details[0].code).toBe('version_mismatch')
  const other = succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
  expectFailure(await write(other, tag), 'CONFLICT')
  const written = await write(id, tag)
  expect([succeed(written).version, written.headers.get('etag')]).toEqual([2, `"2-s${serial}"`])
  expectFailure(await write(id, tag), 'CONFLICT')
  expectFailure(await write(id, `W/"2-s${serial}"`), 'CONFLICT')
  expect(succeed(await write(id, `"9", "2-s${serial}"`)).operation).toBe('unchanged')
  succeed(await call('PATCH', at(id, a), { data: { stage: 'lost' }, expected_version: 2 }))
})

describe('its log', () => {
  type Entry = { seq: number; kind: string; id: string; operation: string; diff: unknown[]; title?: string }
  const changes = async (query = '', base = id): Promise<Entry[]> =>
    succeed(await call('GET', `/v1/${base}/changes${query}`)).data
  const shown = (entries: Entry[]) => entries.map((each) => `${each.operation} ${each.id}`)

  test('is its difference: net, in the order of the last writes, with who made them', {
    tags: 'full',
  }, async () => {
    const before = succeed(await call('GET', '/v1/crm/changes?order=desc&limit=1')).data[0].seq
    expect(await changes()).toEqual([])
    const agent = await world.newToken([
      { environment: 'preview', permission: 'write' },
      { environment: 'production', permission: 'read' },
    ])
    const [made, note] = [`new${serial}`, `n${serial}`]
    succeed(await patch(id, a, { stage: 'lost' }))
    succeed(await call('PUT', at(id, made), { data: { stage: 'new' } }), 201)
    succeed(await call('DELETE', at(id, b)))
    succeed(await call('POST', `${at(id, c)}/cancel`))
    const relationships = [{ rel_type: 'about', record_type: 'deal', id: made }]
    succeed(await call('PUT', at(id, note, 'note'), { data: {}, relationships }), 201)
    succeed(await agent.call('PATCH', at(id, a), { data: { stage: 'won' } }))
    const all = await changes('?include=before&order=asc')
    const link = all.find(({ kind }) => kind === 'relationship')
    expect(shown(all)).toEqual([
      ...[`create ${made}`, `delete ${b}`, `cancel ${c}`, `create ${note}`, `create ${link?.id}`],
      `update ${a}`,
    ])
    expect(all.at(-1)).toMatchObject({
      ...{ kind: 'record', record_type: 'deal', version: 3, actor: { via: 'rest', kind: 'program' } },
      diff: [{ op: 'replace', path: '/data/stage', value: 'won', before: 'open' }],
    })
    expect(all[1]?.diff).toMatchObject([{ op: 'remove', path: '', before: { data: { stage: 'open' } } }])
    expect(link?.diff).toMatchObject([{ op: 'add', value: { rel_type: 'about', target_id: made } }])
    // What it shows is what the proposal shows.
    const proposed = (await propose()).changes as { id: string; diff: unknown[] }[]
    expect(Object.fromEntries(proposed.map(({ id, diff }) => [id.split('/').at(-1), diff]))).toEqual(
      Object.fromEntries(all.map(({ id, diff }) => [id, diff])),
    )
    // Net: what is taken back is no difference.
    succeed(await patch(id, a, { stage: 'open' }))
    expect(shown(await changes())).not.toContain(`update ${a}`)
    expect((await changes('?order=desc&limit=1', 'crm'))[0]?.seq).toBe(before)
    succeed(await promote())
    expect(await changes()).toEqual([])
  })

  test('takes the filters, the pages and the groups of a log', { tags: 'full' }, async () => {
    const agent = await world.newToken([
      { environment: 'preview', permission: 'write' },
      { environment: 'production', permission: 'read', record_type: 'deal' },
    ])
    succeed(await patch(id, a, { stage: 'won' }))
    succeed(await agent.call('PATCH', at(id, b), { data: { stage: 'won' } }))
    succeed(await call('PUT', at(id, `n${serial}`, 'note'), { data: {} }), 201)
    const operations = [b, c].map((each) => ({ type: 'delete_record', record_type: 'deal', id: each }))
    const request = (await call('POST', `/v1/${id}/batch`, { operations })).headers.get('x-request-id')
    const deleted = [`delete ${c}`, `delete ${b}`]
    for (const [query, expected] of [
      ['?operation=delete', deleted],
      [`?request_id=${request}`, deleted],
      [`?id=${a}`, [`update ${a}`]],
      [`?record_type=deal&id=${a}`, [`update ${a}`]],
      ['?record_type=note&since=1h', [`create n${serial}`]],
      ['?kind=relationship', []],
      ['?until=1h', []],
      [`?actor=${agent.id}`, []],
      ['?actor_kind=agent', []],
    ] as const)
      expect([query, shown(await changes(query))]).toEqual([query, expected])
    // Newest first, as a review begins; what follows an entry goes on from it.
    const whole = shown(await changes('?order=asc'))
    expect(shown(await changes())).toEqual([...whole].reverse())
    const paged: string[] = []
    for (let after = 0, more = true; more; ) {
      const { data, meta } = succeed(await call('GET', `/v1/${id}/changes?limit=1&after=${after}`))
      paged.push(...shown(data))
      ;[after, more] = [meta.next_after, meta.has_more]
    }
    expect(paged).toEqual(whole)
    expect(shown(await changes('?order=desc'))).toEqual([...whole].reverse())
    const groups = succeed(await call('GET', `/v1/${id}/changes?group=request&include=fields`)).data
    expect(groups.map(({ count }: { count: number }) => count)).toEqual([2, 1, 1])
    expect(groups[2].fields).toMatchObject([{ path: '/data/stage', from: 'open', to: 'won' }])
    // Who may not read a type sees nothing of it.
    const seen = succeed(await agent.call('GET', `/v1/${id}/changes`)).data as Entry[]
    expect(shown(seen).reverse()).toEqual(whole.filter((each) => !each.endsWith(`n${serial}`)))
    const ends = {
      source_record_type: 'note',
      source_id: `n${serial}`,
      target_record_type: 'deal',
      target_id: a,
    }
    succeed(await call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...ends }), 201)
    expect((await stateOf()).counts).toEqual({ create: 2, update: 1, delete: 2 })
    const counted = succeed(await agent.call('GET', `/v1/bases/${id}`)).change_set.counts
    expect(counted).toEqual({ create: 0, update: 1, delete: 2 })
    const [listed] = succeed(await agent.call('GET', '/v1/crm/previews?limit=1')).data
    expect(listed.change_set.counts).toEqual(counted)
  })
})

describe('promoting', () => {
  test('applies creations, updates, deletions and links, with the promotion as their cause', {
    tags: 'full',
  }, async () => {
    const [made, note] = [`new${serial}`, `n${serial}`]
    succeed(await patch(id, a, { stage: 'won' }))
    succeed(await call('DELETE', at(id, b)))
    succeed(
      await call('PUT', at(id, made), { data: { stage: 'new' }, external_id: made, external_source: 'erp' }),
      201,
    )
    succeed(await call('POST', `${at(id, c)}/cancel`))
    succeed(await call('PUT', at(id, note, 'note'), { data: {} }), 201)
    const ends = { source_record_type: 'note', source_id: note, target_record_type: 'deal', target_id: made }
    const link = succeed(await call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...ends }), 201)
    const { changes, conflicts, breaks, revision, summary } = await propose()
    expect({ conflicts, breaks, revision, summary }).toEqual({
      ...{ conflicts: [], breaks: [], revision: 6 },
      summary: { create: 3, update: 2, delete: 1 },
    })
    expect(changes.find((each: { id: string }) => each.id === `deal/${a}`)).toEqual({
      ...{ kind: 'record', id: `deal/${a}`, op: 'update' },
      diff: [{ op: 'replace', path: '/data/stage', value: 'won', before: 'open' }],
    })
    const done = succeed(await promote({ revision }))
    expect(done.changes).toHaveLength(6)
    expect((await dataOf('crm', a)).stage).toBe('won')
    expectFailure(await call('GET', at('crm', b)), 'NOT_FOUND')
    expect(succeed(await call('GET', at('crm', made)))).toMatchObject({
      external_id: made,
      data: { stage: 'new' },
    })
    expect(succeed(await call('GET', at('crm', c))).status).toBe('cancelled')
    expect(succeed(await call('GET', `/v1/crm/relationships/${link.id}`))).toMatchObject(ends)
    const log = await world.logOf('deal', a)
    expect(log.at(-1)).toMatchObject({ via: 'promotion', cause: done.id, operation: 'update' })
    expect(await stateOf()).toMatchObject({ status: 'merged', counts: { create: 0, update: 0, delete: 0 } })
    expectFailure(await patch(id, a, { stage: 'again' }), 'CONFLICT')
    expect(succeed(await call('GET', `/v1/crm/promotions/${done.id}`)).changes).toEqual(done.changes)
  })

  test('merges by field what both sides changed', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won', address: { city: 'Y' } }))
    succeed(await patch('crm', a, { amount: 9, address: { zip: '2' } }))
    succeed(await promote())
    expect(await dataOf('crm', a)).toEqual({ stage: 'won', amount: 9, address: { city: 'Y', zip: '2' } })
  })

  test('names each conflict, and takes what resolve says', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won', amount: 2 }))
    succeed(await patch('crm', a, { stage: 'lost', amount: 3 }))
    succeed(await patch(id, b, { stage: 'won' }))
    succeed(await call('DELETE', at('crm', b)))
    succeed(await call('DELETE', at(id, c)))
    succeed(await patch('crm', c, { stage: 'kept' }))
    const { conflicts } = await propose()
    expect(conflicts.map(({ code, path }: { code: string; path: string }) => [code, path])).toEqual([
      ['same_field', `/deal/${a}/data/stage`],
      ['same_field', `/deal/${a}/data/amount`],
      ['update_delete', `/deal/${b}`],
      ['delete_update', `/deal/${c}`],
    ])
    const refused = expectFailure(await promote(), 'CONFLICT')
    expect(refused.details.map(({ code }: { code: string }) => code)).toEqual([
      ...['same_field', 'same_field', 'update_delete', 'delete_update'],
    ])
    // What there was, is here, and is in production by now.
    expect(refused.details.slice(0, 3).map(({ samples }: { samples: unknown }) => samples)).toMatchObject([
      [{ base: 'open', preview: 'won', production: 'lost' }],
      [{ base: 1, preview: 2, production: 3 }],
      [{ base: { data: { stage: 'open' } }, preview: { data: { stage: 'won' } }, production: null }],
    ])
    expect((await dataOf('crm', a)).stage).toBe('lost')
    const of = (record: string, more: object) => ({ record_type: 'deal', id: record, ...more })
    const resolve = [
      of(a, { field: 'data.stage', take: 'preview' }),
      of(a, { field: 'data.amount', take: 'value', value: 42 }),
      of(b, { take: 'preview' }),
      of(c, { take: 'production' }),
    ]
    expect((await propose({ resolve })).conflicts).toEqual([])
    const amount = { field: 'data.amount' }
    for (const [wrong, path, code] of [
      [of(a, { ...amount, take: 'value' }), '/resolve/0/value', 'required'],
      [of(a, { ...amount, take: 'preview', value: 42 }), '/resolve/0/value', 'exclusive'],
      [of(a, { take: 'value', value: 42 }), '/resolve/0/field', 'required'],
    ] as const)
      expectDetail(await promote({ resolve: [wrong, ...resolve.slice(2)] }), 400, { path, code })
    const twice = [...resolve, of(a, { field: '/data/amount', take: 'production' })]
    expectDetail(await promote({ resolve: twice }), 400, { path: '/resolve/4', code: 'duplicate' })
    succeed(await promote({ resolve }))
    expect(await dataOf('crm', a)).toMatchObject({ stage: 'won', amount: 42 })
    expect((await dataOf('crm', b)).stage).toBe('won')
    expect((await dataOf('crm', c)).stage).toBe('kept')
  })

  test('takes a value where production refuses one, production for a field, and production for a record', {
    tags: 'full',
  }, async () => {
    const code = (n: number) => `taken-${id}-${n}`
    const of = (record: string, more: object) => ({ record_type: 'deal', id: record, ...more })
    const made = `new${serial}`
    succeed(await patch(id, a, { code: code(1), stage: 'won' }))
    succeed(await patch(id, b, { code: code(2), stage: 'won' }))
    succeed(await call('PUT', at(id, made), { data: { code: code(3) } }), 201)
    succeed(await call('DELETE', at(id, c)))
    for (const n of [1, 2, 3])
      succeed(await call('PUT', at('crm', `holder${serial}-${n}`), { data: { code: code(n) } }), 201)
    const { conflicts, breaks } = await propose()
    expect(conflicts).toEqual([])
    expect(breaks.map(({ path }: { path: string }) => path).toSorted()).toEqual(
      [`/deal/${a}/data/code`, `/deal/${b}/data/code`, `/deal/${made}/data/code`].toSorted(),
    )
    const refused = expectFailure(
      await promote({ resources: [{ kind: 'record', ...of(a, {}) }] }),
      'CONFLICT',
    )
    expect(refused.message).toMatch(new RegExp(`^deal/${a}: data.code must be unique`))
    const resolve = [
      of(a, { field: 'data.code', take: 'value', value: code(4) }),
      of(b, { field: 'data.code', take: 'production' }),
      of(made, { take: 'production' }),
      of(c, { take: 'production' }),
    ]
    expect((await propose({ resolve })).breaks).toEqual([])
    const fault = async (more: object) =>
      expectFailure(await promote({ resolve: [...resolve, of(b, more)] }), 'VALIDATION_ERROR').details[0]
    // What a record is, other than its content, has no value to send.
    expect(await fault({ field: 'status', take: 'value', value: 'cancelled' })).toMatchObject({
      ...{ code: 'unknown_conflict', path: '/resolve/4' },
    })
    expect(await fault({ field: 'data', take: 'value', value: {} })).toMatchObject({
      code: 'unknown_conflict',
    })
    succeed(await promote({ resolve }))
    expect(await dataOf('crm', a)).toMatchObject({ code: code(4), stage: 'won' })
    const kept = await dataOf('crm', b)
    expect(kept).toMatchObject({ stage: 'won' })
    expect(kept).not.toHaveProperty('code')
    expectFailure(await call('GET', at('crm', made)), 'NOT_FOUND')
    expect((await dataOf('crm', c)).stage).toBe('open')
    expect((await stateOf()).status).toBe('merged')
  })

  test('what production refuses by now is a conflict: a type that is gone, or a schema that is stricter', {
    tags: 'full',
  }, async () => {
    const [gone, strict] = [`gone${serial}`, `strict${serial}`]
    for (const type of [gone, strict]) {
      succeed(await call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
      succeed(await call('PUT', at(id, 'x', type), { data: { n: 5 } }), 201)
    }
    succeed(await call('DELETE', `/v1/crm/record-types/${gone}`))
    const json_schema = { properties: { n: { maximum: 3 } } }
    succeed(await call('PATCH', `/v1/crm/record-types/${strict}`, { json_schema }))
    for (const [type, code, path] of [
      [gone, 'record_type_not_found', 'record_type'],
      [strict, 'maximum', 'data/n'],
    ]) {
      const resources = [{ kind: 'record', record_type: type, id: 'x' }]
      expect((await propose({ resources })).breaks).toHaveLength(1)
      const { details } = expectFailure(await promote({ resources }), 'CONFLICT')
      expect(details).toMatchObject([{ path: `/${type}/x/${path}`, code }])
    }
  })

  test('a value that the schema refuses, sent by resolve, is refused at the path of the record', {
    tags: 'full',
  }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    const resolve = [{ record_type: 'deal', id: a, field: 'data.amount', take: 'value', value: 'much' }]
    const refused = expectFailure(await promote({ resolve }), 'CONFLICT')
    expect(refused.details[0].path).toBe(`/deal/${a}/data/amount`)
    expect((await dataOf('crm', a)).stage).toBe('open')
  })

  test('refuses a revision that was not looked at, and a resolution of no conflict', {
    tags: 'full',
  }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    const { revision } = await propose()
    succeed(await patch(id, b, { stage: 'won' }))
    expect(expectFailure(await promote({ revision }), 'CONFLICT').details[0].code).toBe('changed_since')
    const resolve = [{ record_type: 'deal', id: a, take: 'preview' }]
    expect(expectFailure(await promote({ resolve }), 'VALIDATION_ERROR').details[0].code).toBe(
      'unknown_conflict',
    )
    expect((await dataOf('crm', a)).stage).toBe('open')
  })

  test('takes a part: some records, or some fields of one', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won', amount: 2 }))
    succeed(await patch(id, b, { stage: 'won' }))
    const part = [{ kind: 'record', record_type: 'deal', id: a, fields: ['data.stage'] }]
    succeed(await promote({ resources: part }))
    expect(await dataOf('crm', a)).toMatchObject({ stage: 'won', amount: 1 })
    expect((await dataOf('crm', b)).stage).toBe('open')
    const { changes } = await propose()
    expect(changes.map((each: { id: string; diff: object[] }) => [each.id, each.diff.length])).toEqual([
      [`deal/${a}`, 1],
      [`deal/${b}`, 1],
    ])
    expect((await stateOf()).status).toBe('open')
    succeed(await promote())
    expect(await dataOf('crm', a)).toMatchObject({ stage: 'won', amount: 2 })
    expect((await stateOf()).status).toBe('merged')
  })

  test('a link that is left finds the record that was promoted before it', { tags: 'full' }, async () => {
    const [made, note] = [`new${serial}`, `n${serial}`]
    succeed(await call('PUT', at(id, made), { data: {} }), 201)
    succeed(await call('PUT', at(id, note, 'note'), { data: {} }), 201)
    const ends = { source_record_type: 'note', source_id: note, target_record_type: 'deal', target_id: made }
    succeed(await call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...ends }), 201)
    succeed(await promote({ resources: [{ kind: 'record', record_type: 'deal', id: made }] }))
    const related = succeed(await call('GET', `${at(id, note, 'note')}/related`))
    expect(related.data.map(({ record }: { record: { id: string } }) => record.id)).toEqual([made])
    succeed(await promote())
    expect(succeed(await call('GET', `${at('crm', note, 'note')}/related`)).data).toHaveLength(1)
  })

  test('a record that is deleted and made again loses its pair and its links', { tags: 'full' }, async () => {
    const pair = { external_id: `x${serial}`, external_source: 'erp' }
    succeed(await call('PUT', at('crm', a), { data: { stage: 'open' }, ...pair }))
    succeed(await call('PUT', at('crm', 'remade', 'note'), { data: {} }), 201)
    const link = {
      rel_type: 'about',
      source_record_type: 'note',
      source_id: 'remade',
      target_record_type: 'deal',
    }
    succeed(await call('POST', '/v1/crm/relationships', { ...link, target_id: a }), 201)
    const linksOf = async () =>
      succeed(await call('GET', `/v1/crm/records/deal/${a}/related?direction=incoming`)).data
    expect(await linksOf()).toHaveLength(1)
    succeed(await call('DELETE', at(id, a)))
    succeed(await call('POST', `/v1/${id}/records/deal`, { id: a, data: { stage: 'open' } }), 201)
    const { id: promotion } = succeed(await promote())
    expect(succeed(await call('GET', at('crm', a)))).toMatchObject({
      external_id: null,
      external_source: null,
    })
    expect(await linksOf()).toEqual([])
    succeed(await call('POST', '/v1/crm/promote/rollback', { promotion_id: promotion }))
    expect(succeed(await call('GET', at('crm', a)))).toMatchObject(pair)
    expect(await linksOf()).toHaveLength(1)
  })

  test('a record that production deletes and makes again shows the links of its new life', async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    const note = `again${serial}`
    const link = [{ rel_type: 'about', record_type: 'deal', id: a }]
    for (const remake of [
      () => call('PUT', at('crm', a), { data: { stage: 'open' } }),
      () =>
        call('POST', '/v1/crm/batch', {
          operations: [{ type: 'create_record', record_type: 'deal', id: a, data: {} }],
        }),
      () => call('POST', `${at('crm', a)}/restore`),
    ]) {
      succeed(await call('DELETE', at('crm', a)))
      expect((await remake()).status).toBeLessThan(300)
      succeed(await call('PUT', at('crm', note, 'note'), { data: {}, relationships: link }), 201)
      const related = succeed(await call('GET', `${at(id, a)}/related?direction=incoming`))
      expect(related.data.map(({ record }: { record: { id: string } }) => record.id)).toEqual([note])
      expect((await dataOf(id, a)).stage).toBe('won')
    }
  })

  test('refuses a deletion that would take more with it than was looked at', { tags: 'full' }, async () => {
    succeed(await call('DELETE', at(id, a)))
    const note = `n${serial}`
    const relationships = [{ rel_type: 'about', record_type: 'deal', id: a }]
    succeed(await call('PUT', at('crm', note, 'note'), { data: {}, relationships }), 201)
    const grown = [{ path: `/deal/${a}`, code: 'cascade_grew' }]
    expect((await propose()).breaks).toMatchObject(grown)
    expect(expectFailure(await promote(), 'CONFLICT').details).toMatchObject(grown)
    succeed(await call('GET', at('crm', a)))
    succeed(await patch(id, b, { stage: 'won' }))
    const rest = { resources: [{ kind: 'record', record_type: 'deal', id: b }] }
    expect((await propose(rest)).breaks).toEqual([])
    succeed(await promote(rest))
    const taken = (take: string, id = a) => ({ resolve: [{ record_type: 'deal', id, take }] })
    expect((await propose(taken('preview'))).breaks).toEqual([])
    expect((await propose(taken('production'))).breaks).toEqual([])
    const other = succeed(await promote({ ...taken('preview'), dry_run: true }))
    expect(other.changes.map((change: { id: string }) => change.id)).toEqual([`deal/${a}`])
    succeed(await call('DELETE', at(id, c)))
    // What is said of one deletion is not said of another.
    const about = [{ rel_type: 'about', record_type: 'deal', id: c }]
    succeed(await call('PUT', at('crm', `${note}c`, 'note'), { data: {}, relationships: about }), 201)
    const left = [{ path: `/deal/${c}`, code: 'cascade_grew' }]
    expect(expectFailure(await promote(taken('preview')), 'CONFLICT').details).toMatchObject(left)
    succeed(await call('GET', at('crm', a)))
    const both = [...taken('preview').resolve, ...taken('production', c).resolve]
    const { id: promotion_id } = succeed(await promote({ resolve: both }))
    expectFailure(await call('GET', at('crm', a)), 'NOT_FOUND')
    succeed(await call('GET', at('crm', c)))
    succeed(await call('POST', '/v1/crm/promote/rollback', { promotion_id }))
    succeed(await call('GET', at('crm', a)))
    const links = await call('GET', `/v1/crm/records/note/${note}/related?depth=1`)
    expect(succeed(links).data.map((each: { record: { id: string } }) => each.record.id)).toEqual([a])
  })

  test('a deletion that grew is not said to be taken where it did not grow', { tags: 'full' }, async () => {
    succeed(await call('DELETE', at(id, a)))
    const resolve = [{ record_type: 'deal', id: a, take: 'preview' }]
    const { path, code } = expectFailure(await promote({ resolve }), 'VALIDATION_ERROR').details[0]
    expect({ path, code }).toEqual({ path: '/resolve/0', code: 'unknown_conflict' })
    succeed(await call('GET', at('crm', a)))
  })

  test('a value that production has given away since is refused at its draft, and nothing is written', {
    tags: 'full',
  }, async () => {
    succeed(await patch(id, a, { code: `k${serial}` }))
    succeed(await patch(id, b, { stage: 'won' }))
    succeed(await patch('crm', c, { code: `k${serial}` }))
    const { path, code } = expectFailure(await promote(), 'CONFLICT').details[0]
    expect({ path, code }).toEqual({ path: `/deal/${a}/data/code`, code: 'duplicate_value' })
    expect((await dataOf('crm', b)).stage).toBe('open')
  })

  test('a dry run shows it, and changes neither', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    expect(succeed(await promote({ dry_run: true })).changes).toHaveLength(1)
    expect((await dataOf('crm', a)).stage).toBe('open')
    expect((await dataOf(id, a)).stage).toBe('won')
  })

  test('is taken back by its id, and not where something has changed since', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    succeed(await call('DELETE', at(id, b)))
    succeed(await call('PUT', at(id, `new${serial}`), { data: {} }), 201)
    const { id: promotion_id } = succeed(await promote())
    succeed(await patch('crm', a, { amount: 8 }))
    expectFailure(await call('POST', '/v1/crm/promote/rollback', { promotion_id }), 'CONFLICT')
    expect((await dataOf('crm', a)).stage).toBe('won')
    succeed(await call('POST', '/v1/crm/revert', { last: true }))
    const back = succeed(await call('POST', '/v1/crm/promote/rollback', { promotion_id }))
    expect(back).toMatchObject({ kind: 'rollback', from: id })
    expect(await dataOf('crm', a)).toMatchObject({ stage: 'open', amount: 1 })
    expect((await dataOf('crm', b)).stage).toBe('open')
    expectFailure(await call('GET', at('crm', `new${serial}`)), 'NOT_FOUND')
    expect(succeed(await call('GET', `/v1/crm/promotions/${promotion_id}`)).status).toBe('rolled_back')
  })

  test('is taken back in parts, each once, and the rest stays until the whole is', {
    tags: 'full',
  }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    succeed(await call('DELETE', at(id, b)))
    succeed(await patch(id, c, { stage: 'lost' }))
    const { id: promotion_id } = succeed(await promote())
    const deal = (of: string) => ({ kind: 'record', record_type: 'deal', id: of })
    const rollback = (more: object) => call('POST', '/v1/crm/promote/rollback', { promotion_id, ...more })
    const ofNow = async () => succeed(await call('GET', `/v1/crm/promotions/${promotion_id}`))
    const versionOf = async (of: string) => succeed(await call('GET', at('crm', of))).version
    const others = [await versionOf(a), await versionOf(c)]
    succeed(await rollback({ resources: [deal(b)], dry_run: true }))
    expectFailure(await call('GET', at('crm', b)), 'NOT_FOUND')
    const back = succeed(await rollback({ resources: [deal(b)] }))
    expect(back.changes.map((change: { op: string; id: string }) => `${change.op} ${change.id}`)).toEqual([
      `create deal/${b}`,
    ])
    expect((await dataOf('crm', b)).stage).toBe('open')
    expect([await versionOf(a), await versionOf(c)]).toEqual(others)
    expect((await ofNow()).status).toBe('applied')
    expect((await ofNow()).changes.map((change: { rolled_back?: true }) => change.rolled_back)).toEqual([
      undefined,
      true,
      undefined,
    ])
    const again = expectFailure(await rollback({ resources: [deal(a), deal(b)] }), 'CONFLICT')
    expect(again.details).toMatchObject([{ path: '/resources/1/id', code: 'rolled_back' }])
    const absent = expectFailure(await rollback({ resources: [deal('zz')] }), 'VALIDATION_ERROR')
    expect(absent.details).toMatchObject([{ path: '/resources/0/id', code: 'unknown_resource' }])
    // What has changed since is in the way of itself only.
    succeed(await patch('crm', a, { stage: 'open' }))
    const overtaken = expectFailure(await rollback({}), 'CONFLICT')
    expect(overtaken.message).toMatch(/name the others in resources/)
    expect(overtaken.message).not.toContain('on_conflict')
    expect(overtaken.details).toMatchObject([{ path: `/deal/${a}`, code: 'overtaken' }])
    const reader = await world.newToken([
      { permission: 'read' },
      { record_type: 'person', permission: 'write' },
    ])
    expectFailure(await reader.call('POST', '/v1/crm/promote/rollback', { promotion_id }), 'FORBIDDEN')
    succeed(await call('POST', '/v1/crm/revert', { last: true }))
    succeed(await rollback({}))
    expect([(await dataOf('crm', a)).stage, (await dataOf('crm', c)).stage]).toEqual(['open', 'open'])
    expect((await ofNow()).status).toBe('rolled_back')
    expect(expectFailure(await rollback({ resources: [deal(a)] }), 'CONFLICT').details[0].path).toBe(
      '/promotion_id',
    )
  })

  test('of two rollbacks of one record at once, one is refused', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    succeed(await patch(id, b, { stage: 'won' }))
    const { id: promotion_id } = succeed(await promote())
    const resources = [{ kind: 'record', record_type: 'deal', id: a }]
    const take = () => call('POST', '/v1/crm/promote/rollback', { promotion_id, resources })
    const answers = await Promise.all([take(), take(), take()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect([(await dataOf('crm', a)).stage, (await dataOf('crm', b)).stage]).toEqual(['open', 'won'])
  })
})

test('promotions at once, beside writers of production, lose nothing', { tags: 'full' }, async () => {
  const own = await Promise.all(
    ['p', 'q', 'r', 's'].map(async (field) => {
      const from = succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
      for (const record of [c, b, a]) succeed(await patch(from, record, { [field]: 1 }))
      return from
    }),
  )
  const writes = [a, b, c].map((record) => patch('crm', record, { direct: 1 }))
  const promotions = own.map((from) => call('POST', '/v1/crm/promote', { from }))
  for (const answer of await Promise.all([...promotions, ...writes])) succeed(answer)
  for (const record of [a, b, c])
    expect(await dataOf('crm', record)).toMatchObject({ p: 1, q: 1, r: 1, s: 1, direct: 1 })
})

test('writers of one change-set at once lose nothing', { tags: 'full' }, async () => {
  const fields = ['p', 'q', 'r', 's', 't', 'u']
  for (const answer of await Promise.all(fields.map((field) => patch(id, a, { [field]: 1 })))) succeed(answer)
  expect(Object.keys(await dataOf(id, a))).toEqual(expect.arrayContaining(fields))
  expect((await stateOf()).revision).toBe(fields.length)
})

test('a promotion of it is asked for, and accepted, in the list of what waits for a person', {
  tags: 'full',
}, async () => {
  const agent = await world.newToken([
    { environment: 'preview', permission: 'write' },
    { environment: 'production', permission: 'read' },
  ])
  succeed(await agent.call('PATCH', at(id, a), { data: { stage: 'won' } }))
  const asked = succeed(await agent.call('POST', '/v1/crm/review-requests', { from: id }), 201)
  expect(asked).toMatchObject({ from: id, summary: '1 change', state: 'open' })
  const shown = succeed(await call('GET', `/v1/crm/review-requests/${asked.id}`))
  expect(shown.proposal.changes).toMatchObject([{ kind: 'record', id: `deal/${a}`, op: 'update' }])
  const decision = { decision: 'accept' }
  expectFailure(
    await agent.call('POST', `/v1/crm/review-requests/${asked.id}/decision`, decision),
    'FORBIDDEN',
  )
  const decided = succeed(await call('POST', `/v1/crm/review-requests/${asked.id}/decision`, decision))
  expect(decided).toMatchObject({ state: 'accepted', promotion: { from: id } })
  expect((await dataOf('crm', a)).stage).toBe('won')
})

test('discard brings back what production has, with the links of a record that is gone', {
  tags: 'full',
}, async () => {
  const [made, note] = [`new${serial}`, `n${serial}`]
  succeed(await patch(id, a, { stage: 'won' }))
  succeed(await call('DELETE', at(id, b)))
  succeed(await call('PUT', at(id, made), { data: {} }), 201)
  const relationships = [{ rel_type: 'about', record_type: 'deal', id: made }]
  succeed(await call('PUT', at(id, note, 'note'), { data: {}, relationships }), 201)
  const resources = [a, b, made].map((each) => ({ kind: 'record', record_type: 'deal', id: each }))
  const shown = succeed(await call('POST', `/v1/${id}/discard`, { resources, dry_run: true }))
  expect(shown.changes).toHaveLength(3)
  expect((await dataOf(id, a)).stage).toBe('won')
  succeed(await call('POST', `/v1/${id}/discard`, { resources }))
  expect((await dataOf(id, a)).stage).toBe('open')
  expect((await dataOf(id, b)).stage).toBe('open')
  expectFailure(await call('GET', at(id, made)), 'NOT_FOUND')
  expect(succeed(await call('GET', `${at(id, note, 'note')}/related`)).data).toEqual([])
  expect((await propose()).changes.map((each: { id: string }) => each.id)).toEqual([`note/${note}`])
})

test('discard takes fields out of an update, and leaves the rest of it', { tags: 'full' }, async () => {
  const properties = { title: { type: 'string' }, n: { type: 'integer' } }
  const json_schema = { type: 'object', required: ['title'], properties }
  const type = `kept${serial}`
  const indexes = [{ fields: ['data.n'], unique: true }]
  succeed(await call('PUT', `/v1/crm/record-types/${type}`, { json_schema, indexes }), 201)
  succeed(await call('PUT', at('crm', 'r', type), { data: { title: 'was', n: 1 } }), 201)
  succeed(await call('PATCH', at(id, 'r', type), { data: { title: 'is', n: 2 }, external_id: 'x' }))
  const of = (fields: string[]) => ({ kind: 'record', record_type: type, id: 'r', fields })
  const discard = (fields: string[], more: object = {}) =>
    call('POST', `/v1/${id}/discard`, { resources: [of(fields)], ...more })
  const shown = [{ op: 'update', diff: [{ path: '/data/n', value: 2, before: 1 }] }]
  const dry = succeed(await discard(['data.n'], { dry_run: true }))
  expect(dry).toMatchObject({ from: id, changes: shown, dry_run: true })
  expect(succeed(await call('GET', at(id, 'r', type))).data).toEqual({ title: 'is', n: 2 })
  expect(succeed(await discard(['data.n'])).changes).toMatchObject(shown)
  expect(succeed(await call('GET', at(id, 'r', type)))).toMatchObject({
    data: { title: 'is', n: 1 },
    external_id: 'x',
  })
  expect((await propose()).changes[0].diff.map(({ path }: { path: string }) => path)).not.toContain('/data/n')
  // The value is free again for another record.
  succeed(await call('PUT', at(id, 'other', type), { data: { title: 'two', n: 2 } }), 201)
  succeed(await call('PATCH', at('crm', 'r', type), { data: { n: 7 } }))
  succeed(await discard(['/data/title']))
  succeed(await promote())
  expect(succeed(await call('GET', at('crm', 'r', type)))).toMatchObject({
    data: { title: 'was', n: 7 },
    external_id: 'x',
  })
})

test('fields that a change-set does not change are refused where they are named', {
  tags: 'full',
}, async () => {
  succeed(await patch(id, a, { stage: 'won' }))
  succeed(await call('DELETE', at(id, b)))
  const of = (record: string, fields: string[]) => ({
    resources: [{ kind: 'record', record_type: 'deal', id: record, fields }],
  })
  for (const [record, field, code] of [
    [a, 'stage', 'unknown_resource'],
    [a, 'data.amount', 'unknown_resource'],
    [b, 'data.stage', 'exclusive'],
  ] as const)
    for (const refused of [
      await call('POST', `/v1/${id}/discard`, of(record, [field])),
      await promote(of(record, [field])),
    ])
      expect([field, expectFailure(refused, 'VALIDATION_ERROR').details[0].code]).toEqual([field, code])
  expect((await propose()).changes).toHaveLength(2)
})

test('what it cannot hold is refused by name, and a preview that copies has no drafts', {
  tags: 'full',
}, async () => {
  for (const [method, path, body] of [
    ['PUT', `/v1/${id}/record-types/other`, {}],
    ['GET', `/v1/${id}/changes/stream`, undefined],
    ['GET', `/v1/${id}/records/deal/${a}/history`, undefined],
    ['GET', `/v1/${id}/config`, undefined],
    ['POST', `/v1/${id}/records/deal/claim`, {}],
    ['PATCH', `/v1/${id}/files/doc/a.txt`, { metadata: {} }],
    ['DELETE', `/v1/${id}/files/doc/a.txt`, undefined],
    ['POST', `/v1/${id}/records/deal/${a}/attachments`, { filename: 'a.txt', content: 'x' }],
  ] as const)
    expect([path, expectFailure(await call(method, path, body), 'FORBIDDEN').details[0].code]).toEqual([
      path,
      'not_in_change_sets',
    ])
  expect((await call('GET', `/graphql/${id}/e/any/schema.graphql`)).status).toBe(403)
  const claimed = await call('PATCH', `${at(id, a)}?claim_id=any`, { data: {} })
  expect(expectFailure(claimed, 'FORBIDDEN').details[0].code).toBe('not_in_change_sets')
  const types = [{ type: 'upsert_record_type', id: 'other', body: {} }]
  expectFailure(await call('POST', `/v1/${id}/batch`, { operations: types }), 'FORBIDDEN')
  const copied = succeed(await call('POST', '/v1/crm/preview', { name: `k${serial}` }), 201).id
  const resources = [{ kind: 'record', record_type: 'deal', id: a }]
  for (const answer of [
    await call('POST', `/v1/${copied}/discard`, { resources }),
    await call('POST', '/v1/crm/promote', { from: copied, resources }),
  ])
    expect(expectFailure(answer, 'VALIDATION_ERROR').details[0].code).toBe('not_a_change_set')
})

test('files and attachments of production are read in it, and not written', { tags: 'full' }, async () => {
  const file = `/v1/crm/files/plan${serial}`
  const within = file.replace('/crm/', `/${id}/`)
  succeed(await call('PUT', `/v1/crm/file-types/plan${serial}`, {}), 201)
  succeed(await call('PUT', `${file}/a.txt`, 'of production', { 'content-type': 'text/plain' }), 201)
  const attached = { filename: 'note.txt', content: 'attached' }
  succeed(await call('POST', `${at('crm', a)}/attachments`, attached), 201)
  succeed(await call('PUT', at(id, 'draft'), { data: { stage: 'new' } }), 201)
  succeed(await call('DELETE', at(id, b)))

  expect((await call('GET', `${within}/a.txt`)).text).toBe('of production')
  expect(succeed(await call('GET', within)).data).toMatchObject([{ path: 'a.txt' }])
  expect(succeed(await call('GET', `${at(id, a)}/attachments`)).data).toMatchObject([
    { filename: 'note.txt' },
  ])
  expect(succeed(await call('GET', `${at(id, 'draft')}/attachments`)).data).toEqual([])
  expectFailure(await call('GET', `${at(id, b)}/attachments`), 'NOT_FOUND')

  const written = await call('PUT', `${within}/b.txt`, 'x', { 'content-type': 'text/plain' })
  expect(expectFailure(written, 'FORBIDDEN').details[0].code).toBe('not_in_change_sets')
  expect(succeed(await call('GET', file)).data).toHaveLength(1)
  // The rights are those on both: a token without the files of production sees none of them here.
  const { call: partial } = await world.newToken([
    { permission: 'read', record_type: 'deal' },
    { permission: 'read', environment: 'preview' },
  ])
  expectFailure(await partial('GET', `${within}/a.txt`), 'FORBIDDEN')
})

test('a relationship is named by its type and its ends, added or deleted, in the proposal and in the promotion', {
  tags: 'full',
}, async () => {
  const [person, likes] = [`person${serial}`, `likes${serial}`]
  const json_schema = { type: 'object', properties: { name: { type: 'string' } } }
  succeed(
    await call('PUT', `/v1/crm/record-types/${person}`, { json_schema, display: { title: 'name' } }),
    201,
  )
  const types = { source_record_types: [person], target_record_types: ['deal', person] }
  succeed(await call('PUT', `/v1/crm/relationship-types/${likes}`, types), 201)
  const name = (base: string, to: string) =>
    call('PUT', at(base, to.toLowerCase(), person), { data: { name: to } })
  for (const each of ['Ada', 'Bo']) succeed(await name('crm', each), 201)
  const link = (target_record_type: string, target_id: string) => ({
    ...{ rel_type: likes, source_record_type: person, source_id: 'ada', target_record_type, target_id },
  })
  const old = succeed(await call('POST', '/v1/crm/relationships', link(person, 'bo')), 201).id
  succeed(await call('DELETE', `/v1/${id}/relationships/${old}`))
  succeed(await name(id, 'Cy'), 201)
  for (const ends of [link('deal', a), link(person, 'cy')])
    succeed(await call('POST', `/v1/${id}/relationships`, ends), 201)
  type Edit = { kind: string; op: string; title?: string }
  const named = (changes: Edit[]) =>
    changes.flatMap(({ kind, op, title }) => (kind === 'relationship' ? [`${op} ${title}`] : [])).sort()
  const expected = [
    `create ${likes}: Ada → Cy`,
    `create ${likes}: Ada → deal/${a}`,
    `delete ${likes}: Ada → Bo`,
  ]
  expect(named((await propose()).changes)).toEqual(expected)
  const resources = [{ kind: 'relationship', id: old }]
  expect(
    named(succeed(await call('POST', `/v1/${id}/discard`, { resources, dry_run: true })).changes),
  ).toEqual(expected.slice(2))
  expect(named(succeed(await promote()).changes)).toEqual(expected)
})

test('a whole result has what it shows, and none of it shows outside', { tags: 'full' }, async () => {
  succeed(await patch(id, a, { stage: 'won' }))
  succeed(await call('DELETE', at(id, b)))
  const made = `made${serial}`
  succeed(await call('PUT', at(id, made), { data: { stage: 'new' } }), 201)
  const ids = JSON.stringify({ field: 'id', op: 'in', value: [a, b, c, made] })
  const rowsOf = async (base: string, limit: string) => {
    const query = new URLSearchParams({ limit, filter: ids, sort: 'id', fields: 'id,data.stage' })
    const headers = { authorization: `Bearer ${world.adminToken}`, accept: 'text/csv' }
    const answer = await fetch(`${world.url}/v1/${base}/records/deal?${query}`, { headers })
    expect(answer.status).toBe(200)
    return (await answer.text()).trim().split('\r\n')
  }
  for (const limit of ['all', '10']) {
    expect(await rowsOf(id, limit)).toEqual(['id,stage', `${a},won`, `${c},open`, `${made},new`])
    expect(await rowsOf('crm', limit)).toEqual(['id,stage', `${a},open`, `${b},open`, `${c},open`])
  }
})

test('a type has the profile of the records that it shows, and production its own', async () => {
  const type = await world.newType({})
  const of = (base: string, record: string) => `/v1/${base}/records/${type}/${record}`
  const countOf = async (base: string) =>
    succeed(await call('GET', `/v1/${base}/record-types/${type}/profile`)).count
  succeed(await call('PUT', of('crm', 'one'), { data: { size: 1 } }), 201)
  expect([await countOf('crm'), await countOf(id)]).toEqual([1, 1])
  succeed(await call('PUT', of(id, 'two'), { data: { size: 2 } }), 201)
  expect([await countOf('crm'), await countOf(id)]).toEqual([1, 2])
})

test('it has no past', async () => {
  const moment = encodeURIComponent(new Date().toISOString())
  for (const [method, path, body] of [
    ['GET', `${at(id, a)}?as_of=${moment}`, undefined],
    ['GET', `${at(id, a)}?version=1`, undefined],
    ['GET', `/v1/${id}/records/deal?as_of=${moment}`, undefined],
    [
      'POST',
      `/v1/${id}/records/deal/aggregate`,
      { aggregations: [{ fn: 'count' }], as_of: new Date().toISOString() },
    ],
  ] as const)
    expect([path, expectFailure(await call(method, path, body), 'VALIDATION_ERROR').details[0].code]).toEqual(
      [path, 'not_in_change_sets'],
    )
})

test('an action runs in it as far as it sends nothing, and production keeps no run', {
  tags: 'full',
}, async () => {
  const target = { record_type: 'deal', id: '{{input.id}}' }
  const won = { name: 'won', type: 'patch_record', ...target, data: { stage: 'won' } }
  const http = { name: 'tell', type: 'http', method: 'POST', url: 'https://example.com/told', body: {} }
  succeed(await call('PUT', '/v1/crm/actions/win', { steps: [won] }), 201)
  succeed(await call('PUT', '/v1/crm/actions/tell', { steps: [won, http] }), 201)
  const run = (action: string, more = '', as = call, base = id) =>
    as('POST', `/v1/${base}/actions/${action}/run${more}`, { input: { id: a } })
  for (const more of ['', '?dry_run=true']) {
    const { details } = expectFailure(await run('tell', more), 'CONFLICT')
    expect(details.map(({ code }: { code: string }) => code)).toContain('sends_outside')
  }
  expect((await dataOf(id, a)).stage).toBe('open')
  expect(succeed(await run('win'))).toMatchObject({ status: 'succeeded', change_set: id })
  expect((await dataOf(id, a)).stage).toBe('won')
  expect((await dataOf('crm', a)).stage).toBe('open')
  for (const action of ['win', 'tell'])
    expect(succeed(await call('GET', `/v1/crm/actions/${action}/runs`)).data).toEqual([])
  // A rule lets no action run directly: its requests would be sent before it is judged.
  const rule = { record_type: '*', operations: ['update'], max: 100, per: 'hour' }
  const agent = await world.newToken([{ permission: 'write', writes: { auto: [rule] } }])
  expectFailure(await run('tell', '', agent.call, 'crm'), 'CONFLICT')
  expect(succeed(await run('win', '', agent.call, 'crm')).change_set).toMatch(/^crm--p-/)
  expect((await dataOf('crm', a)).stage).toBe('open')
})

test('a key that production has answered is not answered in a change-set', { tags: 'full' }, async () => {
  const headers = { 'idempotency-key': `key-${serial}` }
  succeed(await call('PUT', at('crm', a), { data: { stage: 'x' } }, headers))
  expectFailure(await call('PUT', at(id, a), { data: { stage: 'x' } }, headers), 'CONFLICT')
  const again = { 'idempotency-key': `own-${serial}` }
  const first = succeed(await call('PUT', at(id, b), { data: { stage: 'y' } }, again))
  const second = await call('PUT', at(id, b), { data: { stage: 'y' } }, again)
  expect(succeed(second)).toEqual(first)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
})

test.each([true, false])(
  'an index that is built later has the entries of drafts, whether production has records: %s',
  {
    tags: 'full',
  },
  async (hasRecords) => {
    const type = await world.newType({})
    const of = (base: string, record: string) => `/v1/${base}/records/${type}/${record}`
    if (hasRecords) succeed(await call('PUT', of('crm', 'one'), { data: { size: 1 } }), 201)
    succeed(await call('PUT', of(id, 'one'), { data: { size: 5 } }), hasRecords ? 200 : 201)
    succeed(await call('PUT', of(id, 'two'), { data: { size: 6 } }), 201)
    succeed(await call('PUT', `/v1/crm/record-types/${type}`, { indexes: [{ fields: ['data.size'] }] }))
    await expect
      .poll(async () => succeed(await call('GET', `/v1/crm/record-types/${type}`)).indexes[0].status)
      .toBe('ready')
    const filter = { field: 'data.size', op: 'gte', value: 5 }
    const query = { filter, sort: [{ field: 'data.size' }] }
    const { data } = succeed(await call('POST', `/v1/${id}/records/${type}/query`, query))
    expect(data.map((each: { id: string }) => each.id)).toEqual(['one', 'two'])
    expect(succeed(await call('POST', `/v1/crm/records/${type}/query`, query)).data).toEqual([])
  },
)

describe('rights', () => {
  const preview = (permission: string, more: object = {}) => ({ environment: 'preview', permission, ...more })
  const production = (permission: string, more: object = {}) => ({
    environment: 'production',
    permission,
    ...more,
  })

  test('write in previews and read on production open and change one, and promote nothing', {
    tags: 'full',
  }, async () => {
    const agent = await world.newToken([preview('write'), production('read')])
    const own = succeed(await agent.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
    succeed(await agent.call('PATCH', at(own, a), { data: { stage: 'won' } }))
    expectFailure(await agent.call('PATCH', at('crm', a), { data: { stage: 'won' } }), 'FORBIDDEN')
    expect(succeed(await agent.call('POST', '/v1/crm/promote/proposal', { from: own })).changes).toHaveLength(
      1,
    )
    expectFailure(await agent.call('POST', '/v1/crm/promote', { from: own }), 'FORBIDDEN')
    expectFailure(await agent.call('POST', '/v1/crm/preview', { name: 'copy' }), 'FORBIDDEN')
    expectFailure(await agent.call('DELETE', `/v1/bases/${id}`), 'FORBIDDEN')
    succeed(await agent.call('DELETE', `/v1/bases/${own}?confirm=${own}`))
  })

  test('a token sees in it what it may read on both sides', { tags: 'full' }, async () => {
    const only = (type: string) => ({ record_type: type })
    const half = await world.newToken([preview('write'), production('read', only('note'))])
    expectFailure(await half.call('GET', at(id, a)), 'FORBIDDEN')
    succeed(await half.call('PUT', at(id, `n${serial}`, 'note'), { data: {} }), 201)
    succeed(await patch(id, a, { stage: 'won' }))
    const { changes } = succeed(await half.call('POST', '/v1/crm/promote/proposal', { from: id }))
    expect(changes.map((each: { id: string }) => each.id)).toEqual([`note/n${serial}`])
    const none = await world.newToken([production('read')])
    expectFailure(await none.call('GET', at(id, a)), 'FORBIDDEN')
    expectFailure(await none.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 'FORBIDDEN')
    const blind = await world.newToken([preview('write')])
    expectFailure(await blind.call('GET', at(id, a)), 'FORBIDDEN')
  })

  test('who may write what it touches promotes it, and nobody else', { tags: 'full' }, async () => {
    succeed(await patch(id, a, { stage: 'won' }))
    const notes = await world.newToken([preview('read'), production('write', { record_type: 'note' })])
    expectFailure(await notes.call('POST', '/v1/crm/promote', { from: id }), 'FORBIDDEN')
    const deals = await world.newToken([preview('read'), production('write', { record_type: 'deal' })])
    succeed(await deals.call('POST', '/v1/crm/promote', { from: id }))
    expect((await dataOf('crm', a)).stage).toBe('won')
  })
})

test('the change-sets that change a record are listed, for those who may read it in both', {
  tags: 'full',
}, async () => {
  await patch(id, a, { stage: 'won' })
  const other = succeed(
    await call('POST', '/v1/crm/preview', { name: `o${serial}`, copy: 'on_write' }),
    201,
  ).id
  await patch(other, a, { stage: 'lost' })
  await patch(other, b, { stage: 'lost' })
  const listed = async (record: string, as: Call = call, more = '') =>
    succeed(await as('GET', `/v1/crm/previews?record_type=deal&record_id=${record}${more}`)).data.map(
      (each: { id: string }) => each.id,
    )
  expect(await listed(a)).toEqual([other, id])
  expect(await listed(b)).toEqual([other])
  expect(await listed(c)).toEqual([])
  expect(await listed(a, call, '&status=submitted')).toEqual([])
  succeed(await call('POST', `/v1/${other}/reviews`, { verdict: 'reject' }), 201)
  expect(await listed(a, call, '&state=open')).toEqual([id])
  expect(await listed(a, call, '&state=closed')).toEqual([other])
  const listing =
    '{ previews(base: "crm", state: closed, recordType: "deal", recordId: "RECORD") { data { id } } }'
  const graphql = await call('POST', '/graphql', { query: listing.replace('RECORD', a) })
  expect(succeed(graphql).data.previews.data).toEqual([{ id: other }])
  const unknown = await call('GET', '/v1/crm/previews?state=done')
  expect(expectFailure(unknown, 'VALIDATION_ERROR').details[0]).toMatchObject({ path: 'query/state' })
  succeed(await call('POST', `/v1/${other}/reopen`, {}))
  await patch(other, b, { stage: 'open' })
  expect(await listed(b), 'a change that was taken back is none').toEqual([])
  const half = await call('GET', `/v1/crm/previews?record_id=${a}`)
  expect(expectFailure(half, 'VALIDATION_ERROR').details[0]).toMatchObject({
    path: 'query/record_type',
    code: 'required',
  })
  const grant = (record_type: string, environment: string) => ({
    ...{ base: 'crm', permission: 'read', record_type, environment },
  })
  const notes = await world.newToken([grant('note', '*')])
  expectFailure(await notes.call('GET', `/v1/crm/previews?record_type=deal&record_id=${a}`), 'FORBIDDEN')
  const inProduction = await world.newToken([grant('deal', 'production'), grant('note', 'preview')])
  expect(await listed(a, inProduction.call)).toEqual([])
})

test('the change-sets that change only relationships of a record are listed for both ends, and for who may read both', {
  tags: 'full',
}, async () => {
  const note = `n${serial}`
  const listed = async (type: string, record: string, as: Call = call) =>
    succeed(await as('GET', `/v1/crm/previews?record_type=${type}&record_id=${record}`)).data.map(
      (each: { id: string }) => each.id,
    )
  const relationships = [{ rel_type: 'about', record_type: 'deal', id: a }]
  succeed(await call('PUT', at('crm', note, 'note'), { data: {}, relationships }), 201)
  const { data } = succeed(await call('GET', `${at('crm', note, 'note')}/related`))
  const link = { source_record_type: 'note', source_id: note, target_record_type: 'deal', target_id: b }
  const made = succeed(await call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...link }), 201).id
  expect([await listed('note', note), await listed('deal', b)]).toEqual([[id], [id]])
  expect(await listed('deal', a), 'its own relationship is as it was').toEqual([])
  succeed(await call('DELETE', `/v1/${id}/relationships/${data[0].relationship.id}`))
  expect(await listed('deal', a)).toEqual([id])
  succeed(await call('DELETE', `/v1/${id}/relationships/${made}`))
  expect(await listed('deal', b), 'a relationship that was taken back is none').toEqual([])
  const deals = await world.newToken([
    { base: 'crm', permission: 'read', record_type: 'deal', environment: '*' },
  ])
  expect(await listed('deal', a, deals.call)).toEqual([])
})
