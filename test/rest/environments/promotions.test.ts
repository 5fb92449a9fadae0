/** Promotion and rollback. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times, UUID7 } from '../../support/answers.ts'
import { cases } from '../../support/cases.ts'
import { startChild } from '../../support/child-server.ts'
import { holdOpen } from '../../support/holding.ts'
import { KIND_SAMPLES, putReferences } from '../../support/kinds.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** A base with the record types given, and its preview. */
async function fork(...types: string[]): Promise<[base: string, dev: string]> {
  const base = `base${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  for (const type of types) await put(base, type)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  return [base, `${base}--dev`]
}
async function put(base: string, type: string, body: object = {}): Promise<Body> {
  const answer = await world.call('PUT', `/v1/${base}/record-types/${type}`, body)
  expect([200, 201], answer.text).toContain(answer.status)
  return answer.body
}
const about = (base: string, type: string, description: string) => put(base, type, { description })
const get = async (path: string): Promise<Body> => succeed(await world.call('GET', `/v1/${path}`))
const aboutOf = async (base: string, ...types: string[]) =>
  Promise.all(types.map(async (type) => (await get(`${base}/record-types/${type}`)).description))
const hashOf = async (base: string): Promise<string> => (await get(`${base}/config`)).hash
const promote = (base: string, over: object = {}, call: Call = world.call) =>
  call('POST', `/v1/${base}/promote`, { from: `${base}--dev`, ...over })
const promoted = async (base: string, over: object = {}): Promise<Body> => succeed(await promote(base, over))
const rollback = (base: string, { id }: Body, over: object = {}) =>
  world.call('POST', `/v1/${base}/promote/rollback`, { promotion_id: id, ...over })
const opsOf = ({ changes }: Body): string[] => changes.map(({ op, kind, id }: Body) => `${op} ${kind} ${id}`)
const historyOf = async (base: string) =>
  (await get(`${base}/promotions`)).data.map(({ kind, status }: Body) => `${kind} ${status}`)

describe('a promotion', () => {
  test('applies what the preview changed, and is in the history', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    await about(dev, 'task', 'new')
    await put(dev, 'fresh')
    const done = await promoted(base)
    expect(done).toEqual({
      id: expect.stringMatching(UUID7),
      kind: 'promotion',
      from: dev,
      base_id: base,
      status: 'applied',
      changes: [
        {
          kind: 'record_type',
          id: 'fresh',
          op: 'create',
          diff: [expect.objectContaining({ op: 'add', path: '' })],
        },
        {
          kind: 'record_type',
          id: 'task',
          op: 'update',
          diff: [{ op: 'replace', path: '/description', value: 'new', before: null }],
        },
      ],
      conflicts: [],
      created_by: expect.stringMatching(UUID7),
      created_by_name: 'admin',
      created_at: expect.stringMatching(TIME),
    })
    expect(await hashOf(base)).toBe(await hashOf(dev))
    expect((await get(`${base}/promotions`)).data).toEqual([done])
    expect(await get(`${base}/promotions/${done.id}`)).toEqual(done)
    const [entry] = (await get(`${base}/record-types/task/history`)).data
    expect([entry.actor.via, entry.cause]).toEqual(['promotion', done.id])
    expectFailure(await world.call('GET', `/v1/${base}/promotions/absent`), 'NOT_FOUND')
  })

  test('carries every kind, created, updated and with prune deleted; tools keep their names', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    await putReferences(world.call, dev)
    for (const { noun, body } of Object.values(KIND_SAMPLES))
      succeed(await world.call('PUT', `/v1/${dev}/${noun}/sample`, body), 201)
    await put(dev, 'a.b')
    await put(dev, 'a_b')
    expect((await promoted(base)).changes.every(({ op }: Body) => op === 'create')).toBe(true)
    expect(await hashOf(base)).toBe(await hashOf(dev))
    const portable = (of: string) =>
      world.database.query('SELECT id, portable_id FROM plinth.record_type WHERE base_id = $1 ORDER BY id', [
        of,
      ])
    expect(await portable(base)).toEqual(await portable(dev))
    for (const [kind, { noun }] of Object.entries(KIND_SAMPLES).reverse())
      succeed(
        await world.call(
          'DELETE',
          `/v1/${dev}/${noun}/sample?${kind.endsWith('_type') ? 'confirm=sample' : ''}`,
        ),
      )
    expect(opsOf(await promoted(base))).toEqual([])
    expect(opsOf(await promoted(base, { prune: true })).sort()).toEqual(
      Object.keys(KIND_SAMPLES)
        .map((kind) => `delete ${kind} sample`)
        .sort(),
    )
    expect(await hashOf(base)).toBe(await hashOf(dev))
  })

  test('leaves the records of both sides alone', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    for (const id of [base, dev])
      succeed(await world.call('PUT', `/v1/${id}/records/task/${id === base ? 'p' : 'd'}`, { data: {} }), 201)
    await about(dev, 'task', 'new')
    await promoted(base)
    const [row] = (await get(`${base}/records/task`)).data
    expect([row.id, row.version]).toEqual(['p', 1])
    expect((await get(`${base}/records/task`)).data).toHaveLength(1)
  })

  test('as a dry run shows the changes and stores nothing', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    await about(dev, 'task', 'new')
    const before = await hashOf(base)
    for (const answer of [
      await promote(base, { dry_run: true }),
      await world.call('POST', `/v1/${base}/promote?dry_run=true`, { from: dev }),
    ])
      expect([succeed(answer).dry_run, opsOf(answer.body)]).toEqual([true, ['update record_type task']])
    expect([await hashOf(base), await historyOf(base)]).toEqual([before, []])
    expect(opsOf(await promoted(base))).toEqual(['update record_type task'])
  })

  test('moves the fork: what production changes afterwards stays', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    for (const text of ['one', 'two']) {
      await about(dev, 'task', text)
      await promoted(base)
      expect(await aboutOf(base, 'task')).toEqual([text])
    }
    await about(base, 'task', 'three')
    expect(opsOf(await promoted(base))).toEqual([])
    expect(await aboutOf(base, 'task')).toEqual(['three'])
    await about(dev, 'task', 'four')
    expectFailure(await promote(base), 'CONFLICT')
  })

  test('of a resource that both sides changed is 409 with both diffs; force takes the preview', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('alpha', 'beta')
    await about(base, 'alpha', 'of production')
    await about(dev, 'alpha', 'of preview')
    await about(dev, 'beta', 'new')
    const before = await hashOf(base)
    const step = (value: string) => [{ op: 'replace', path: '/description', value }]
    const both = { production: step('of production'), preview: step('of preview') }
    expect(expectFailure(await promote(base), 'CONFLICT').details).toMatchObject([
      { path: '/record_type/alpha', code: 'changed_on_both_sides', samples: [both] },
    ])
    expect([await hashOf(base), await historyOf(base)]).toEqual([before, []])
    const { conflicts } = await promoted(base, { force: true })
    expect(conflicts).toEqual([{ kind: 'record_type', id: 'alpha', ...both }])
    expect(await aboutOf(base, 'alpha', 'beta')).toEqual(['of preview', 'new'])
  })

  test('of what a rollback took back from force is 409 again: it replaces the same change of production', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('alpha')
    for (const [id, text] of [
      [base, 'of production'],
      [dev, 'of preview'],
    ] as const) {
      await about(id, 'alpha', text)
      await about(id, 'made', text)
    }
    const conflict = expectFailure(await promote(base), 'CONFLICT').details
    const done = await promoted(base, { force: true })
    succeed(await rollback(base, done))
    expect(await aboutOf(base, 'alpha', 'made')).toEqual(['of production', 'of production'])
    expect(expectFailure(await promote(base), 'CONFLICT').details).toEqual(conflict)
    expect((await promoted(base, { force: true })).conflicts).toEqual(done.conflicts)
  })

  test('takes changes of different resources on both sides, and the same change on both', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('ours', 'theirs', 'same')
    await about(base, 'ours', 'production')
    await put(base, 'added')
    await about(dev, 'theirs', 'preview')
    for (const id of [base, dev]) await about(id, 'same', 'agreed')
    expect(opsOf(await promoted(base))).toEqual(['update record_type theirs'])
    expect(await aboutOf(base, 'ours', 'theirs', 'same', 'added')).toEqual([
      'production',
      'preview',
      'agreed',
      null,
    ])
  })

  test('deletes only with prune, and a type with records only with force', { tags: 'full' }, async () => {
    const [base, dev] = await fork('keep', 'full')
    succeed(await world.call('PUT', `/v1/${base}/records/full/r`, { data: {} }), 201)
    succeed(await world.call('DELETE', `/v1/${dev}/record-types/full`))
    const proposal = await world.call('POST', `/v1/${base}/promote/proposal`, { from: dev })
    const kept = [{ kind: 'record_type', id: 'full' }]
    expect([succeed(proposal).kept, opsOf(await promoted(base))]).toEqual([kept, []])
    expect((await promoted(base, { dry_run: true })).kept).toEqual(kept)
    const others = { resources: [{ kind: 'record_type', id: 'keep' }] }
    expect(await promoted(base, others)).not.toHaveProperty('kept')
    expect(expectFailure(await promote(base, { prune: true }), 'CONFLICT').details).toMatchObject([
      { path: '/record_type/full', code: 'force_required' },
    ])
    succeed(await world.call('GET', `/v1/${base}/records/full/r`))
    expect(await promoted(base, { prune: true, force: true })).not.toHaveProperty('kept')
    expectFailure(await world.call('GET', `/v1/${base}/record-types/full`), 'NOT_FOUND')
  })

  test('of a schema that production records break is 409 with count and samples, and applies nothing', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item', 'side')
    for (const n of times(12, (each) => each))
      succeed(await world.call('PUT', `/v1/${base}/records/item/bad${n}`, { data: { qty: 'many' } }), 201)
    await put(dev, 'item', { json_schema: { type: 'object', properties: { qty: { type: 'integer' } } } })
    await about(dev, 'side', 'new')
    const before = await hashOf(base)
    const { details } = expectFailure(await promote(base), 'CONFLICT')
    expect([details[0].path, details[0].count]).toEqual([expect.stringMatching(/^\/record_type\/item/), 12])
    expect(details[0].samples).toHaveLength(10)
    expect(await hashOf(base)).toBe(before)
  })

  test('of a schema that production records break migrates them in the same transaction', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item', 'side')
    const of = (id: string) => `/v1/${base}/records/item/${id}`
    for (const id of ['a', 'b']) succeed(await world.call('PUT', of(id), { data: { qty: '7' } }), 201)
    const properties = { count: { type: 'integer' } }
    await put(dev, 'item', { json_schema: { type: 'object', properties, additionalProperties: false } })
    await about(dev, 'side', 'new')
    const migration = {
      item: [
        { op: 'rename', field: 'data.qty', to: 'data.count' },
        { op: 'cast', field: 'data.count', type: 'integer' },
      ],
    }
    const before = await hashOf(base)
    const [first] = expectFailure(await promote(base), 'CONFLICT').details
    expect([first.code, first.count, first.hint]).toEqual([
      'records_invalid',
      2,
      expect.stringMatching(/"migration"/),
    ])
    succeed(await world.call('PUT', of('none'), { data: {} }), 201)
    const proposal = { from: dev, migration }
    const proposed = succeed(await world.call('POST', `/v1/${base}/promote/proposal`, proposal))
    const dry = await promoted(base, { migration, dry_run: true })
    expect([opsOf(dry).length, dry.meta.records_rewritten, proposed.meta.records_rewritten]).toEqual([
      2,
      { item: 2 },
      { item: 2 },
    ])
    const halfway = { item: migration.item.slice(0, 1) }
    expect(expectFailure(await promote(base, { migration: halfway }), 'CONFLICT').details[0].count).toBe(2)
    expect([await hashOf(base), succeed(await world.call('GET', of('a'))).version]).toEqual([before, 1])
    const done = await promoted(base, { migration })
    expect(done.meta.records_rewritten).toEqual({ item: 2 })
    const { data, version } = succeed(await world.call('GET', of('a')))
    expect([data, version]).toEqual([{ count: 7 }, 2])
    const entries = await world.logOf('item', 'a', base)
    expect(entries.at(-1)).toMatchObject({ via: 'promotion', cause: done.id, operation: 'update' })
    expect(await hashOf(base)).toBe(await hashOf(dev))
    // A rollback restores the schema, which the migrated records fit, or migrates them back.
    const back = { item: [{ op: 'rename', field: 'data.count', to: 'data.qty' }] }
    expect(succeed(await rollback(base, done, { migration: back })).meta.records_rewritten).toEqual({
      item: 2,
    })
    expect(succeed(await world.call('GET', of('a'))).data).toEqual({ qty: 7 })
    expect(await hashOf(base)).toBe(before)
  })

  test('names the properties that a schema drops or renames, unless a migration takes them along', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    const schema = { type: 'object', properties: { sum: { type: 'number' }, note: {}, status: {} } }
    await put(base, 'deal', { json_schema: schema })
    succeed(await world.call('DELETE', `/v1/bases/${dev}`))
    succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
    const rename = [{ op: 'rename', field: 'data.sum', to: 'data.amount' }]
    const renamed = await world.call('PATCH', `/v1/${dev}/record-types/deal?migrate=true`, {
      migration: rename,
    })
    const { status, amount } = succeed(renamed).json_schema.properties
    await put(dev, 'deal', { json_schema: { type: 'object', properties: { status, amount } } })
    const renaming =
      'record_type deal: The property "sum" is called "amount" in json_schema now. Records keep what they hold of "sum": a migration with the op "rename" moves it.'
    const dropping =
      'record_type deal: The property "note" is no longer in json_schema. Records keep what they hold of it.'
    const ofRecords = ({ meta }: Body) => meta.warnings.filter((each: string) => !each.startsWith('Clients'))
    const propose = async (over: object = {}) =>
      succeed(await world.call('POST', `/v1/${base}/promote/proposal`, { from: dev, ...over }))
    const { hash: _, ...pulled } = await get(`${dev}/config`)
    const file = { ...pulled, base }
    const repeat =
      'record_type deal: The preview migrated its records, and this does not migrate those of production. Repeat it with "migration": {"deal":[{"op":"rename","to":"data.amount","field":"data.sum"}]}'
    expect(ofRecords(await propose())).toEqual([repeat, renaming, dropping])
    expect(ofRecords(succeed(await world.call('POST', `/v1/${base}/config/diff`, file)))).toEqual([
      renaming,
      dropping,
    ])
    expect(ofRecords(await promoted(base, { dry_run: true }))).toEqual([repeat, renaming, dropping])
    expect(ofRecords(await propose({ migration: { deal: rename } }))).toEqual([dropping])
    const done = await promoted(base, { migration: { deal: rename } })
    expect(ofRecords(done)).toEqual([dropping])
    const undone = succeed(await rollback(base, done))
    expect(ofRecords(undone)).toEqual([
      'record_type deal: The property "amount" is no longer in json_schema. Records keep what they hold of it.',
    ])
    // What is taken back needs the migration again.
    expect(ofRecords(await propose())).toEqual([repeat, renaming, dropping])
    await put(dev, 'deal', { json_schema: schema })
    const pushed = await world.call('PUT', `/v1/${dev}/config`, file)
    expect(ofRecords(succeed(pushed))).toEqual([renaming, dropping])
  })

  test('refuses a migration of a type that it does not change, and one that is malformed', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item', 'other')
    await about(dev, 'item', 'new')
    const step = { op: 'drop', field: 'data.x' }
    expect(
      expectFault(await promote(base, { migration: { items: [step] } }), '/migration/items'),
    ).toMatchObject({
      code: 'unknown_resource',
      hint: 'item',
    })
    expectFault(await promote(base, { migration: { other: [step] } }), '/migration/other')
    expectFault(
      await promote(base, { migration: { item: [{ op: 'melt', field: 'x' }] } }),
      '/migration/item/0/op',
    )
    expectFault(await promote(base, { migration: [step] }), '/migration')
    expect(await aboutOf(base, 'item')).toEqual([null])
  })

  test('leaves no record that its schema refuses, whatever is written meanwhile', {
    tags: ['full', 'sampled'],
  }, async () => {
    const [base, dev] = await fork('item')
    const properties = { qty: { type: 'integer' } }
    let stop = false
    const write = async (w: number) => {
      for (let n = 0; !stop; n++) {
        const data = n % 5 === 0 ? {} : { qty: n }
        const body = { data: n % 97 === 96 ? { qty: 'many' } : data }
        await world.call('PUT', `/v1/${base}/records/item/w${w}-${n % 40}`, body)
      }
    }
    const writing = Promise.all(times(3, write))
    const statuses = new Set<number>()
    for (const n of times(cases(8, 3), (each) => each)) {
      await put(dev, 'item', { json_schema: n % 2 === 0 ? { type: 'object', properties } : {} })
      statuses.add((await promote(base, { force: true })).status)
    }
    stop = true
    await writing
    for (const status of statuses) expect([200, 409]).toContain(status)
    const schema = { type: 'object', properties }
    await put(dev, 'item', { json_schema: schema })
    const bad = `SELECT id FROM plinth.record WHERE base_id = $1 AND valid AND jsonb_typeof(data -> 'qty') = 'string'`
    const last = await promote(base, { force: true })
    const left = await world.database.query(bad, [base])
    expect(last.status).toBe(left.length > 0 ? 409 : 200)
  })

  test('leaves no relationship that its type refuses, whatever is written meanwhile', {
    tags: ['full', 'sampled'],
  }, async () => {
    const [base, dev] = await fork('item')
    const relType = (body: object, of = dev) => world.call('PUT', `/v1/${of}/relationship-types/near`, body)
    const loose = { source_record_types: ['item'], target_record_types: ['item'] }
    const strict = { ...loose, data_schema: { type: 'object', properties: { n: { type: 'integer' } } } }
    succeed(await relType(loose), 201)
    await promoted(base)
    for (const id of times(6, (n) => `i${n}`))
      succeed(await world.call('PUT', `/v1/${base}/records/item/${id}`, { data: {} }), 201)
    let stop = false
    const write = async (w: number) => {
      for (let n = 0; !stop; n++) {
        const ends = { source_id: `i${w}`, target_id: `i${n % 6}`, rel_type: 'near' }
        const types = { source_record_type: 'item', target_record_type: 'item' }
        const data = { n: n % 31 === 30 ? 'many' : n }
        await world.call('PUT', `/v1/${base}/relationships`, { ...ends, ...types, data })
      }
    }
    const writing = Promise.all(times(3, write))
    for (const n of times(cases(8, 3), (each) => each)) {
      succeed(await relType(n % 2 === 0 ? strict : loose))
      expect([200, 409]).toContain((await promote(base, { force: true })).status)
    }
    stop = true
    await writing
    succeed(await relType(strict))
    const bad = `SELECT id FROM plinth.relationship WHERE base_id = $1 AND valid AND jsonb_typeof(data -> 'n') = 'string'`
    const last = await promote(base, { force: true })
    const left = await world.database.query(bad, [base])
    expect(last.status).toBe(left.length > 0 ? 409 : 200)
  })

  test('flags and unflags records, and counts all that its stricter schemas refuse', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item', 'other')
    const typeOf = (qty: object) => ({ json_schema: { type: 'object', properties: { qty } } })
    for (const [id, qty] of Object.entries({ a: 5, b: 50, c: 'many', d: null, e: [1] }))
      for (const type of ['item', 'other'])
        succeed(await world.call('PUT', `/v1/${base}/records/${type}/${id}`, { data: { qty } }), 201)
    await put(dev, 'item', typeOf({ type: ['integer', 'string', 'null', 'array'], maximum: 9, maxLength: 4 }))
    await put(dev, 'other', typeOf({ enum: [5, 'many', null] }))
    const refused = expectFailure(await promote(base), 'CONFLICT').details
    expect([refused[0].count, refused[0].samples.map(({ id }: Body) => id)]).toEqual([1, ['b']])
    const { breaks } = succeed(await world.call('POST', `/v1/${base}/promote/proposal`, { from: dev }))
    expect(breaks.map(({ path, count }: Body) => [path.split('/')[2], count])).toEqual([
      ['item', 1],
      ['other', 2],
    ])
    succeed(
      await world.call('PUT', `/v1/${base}/record-types/item?on_invalid=allow`, typeOf({ type: 'string' })),
    )
    const flagged = async () =>
      (await get(`${base}/records/item?sort=id`)).data.map((each: Body) => each.valid !== false)
    expect(await flagged()).toEqual([false, false, true, false, false])
    await put(dev, 'item', typeOf({ type: ['integer', 'string', 'null', 'array'] }))
    await promoted(base, { force: true, resources: [{ kind: 'record_type', id: 'item' }] })
    expect(await flagged()).toEqual([true, true, true, true, true])
  })

  test('can be proposed with read on both sides, with a migration too, and the proposal changes nothing', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item')
    succeed(await world.call('PUT', `/v1/${base}/records/item/a`, { data: { qty: '7' } }), 201)
    const properties = { qty: { type: 'integer' } }
    await put(dev, 'item', { json_schema: { type: 'object', properties } })
    const reader = await world.newToken([{ base, permission: 'read' }])
    const propose = (over: object = {}, call: Call = reader.call) =>
      call('POST', `/v1/${base}/promote/proposal`, { from: dev, ...over })
    const shown = succeed(await propose())
    expect(shown).toMatchObject({
      ...{ from: dev, base_id: base, conflicts: [], summary: { create: 0, update: 1, delete: 0 } },
      changes: [{ kind: 'record_type', id: 'item', op: 'update' }],
      breaks: [{ path: '/record_type/item/json_schema', code: 'records_invalid', count: 1 }],
    })
    const cast = { item: [{ op: 'cast', field: 'data.qty', type: 'integer' }] }
    expect(succeed(await propose({ migration: cast })).breaks).toEqual([])
    const drop = { item: [{ op: 'rename', field: 'data.qty', to: 'data.q' }] }
    expect(succeed(await propose({ migration: drop })).breaks).toEqual([])
    expectFault(await propose({ migration: { none: cast.item } }), '/migration/none')
    expectFault(await propose({ force: true }), '/force')
    const preview = await world.newToken([{ base, environment: 'preview', permission: 'admin' }])
    expectFailure(await propose({}, preview.call), 'FORBIDDEN')
    expect((await get(`${base}/records/item/a`)).data).toEqual({ qty: '7' })
    expect(await historyOf(base)).toEqual([])
  })

  test('with the hash of a proposal lets nothing pass that the proposal did not show', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('one', 'two')
    await about(dev, 'one', 'shown')
    const propose = async (): Promise<string> =>
      succeed(await world.call('POST', `/v1/${base}/promote/proposal`, { from: dev })).hash
    const hash = await propose()
    expect(hash).toBe(await hashOf(dev))
    await about(dev, 'two', 'written since')
    for (const over of [{}, { dry_run: true }, { force: true }])
      expect(expectFailure(await promote(base, { hash, ...over }), 'CONFLICT').details).toMatchObject([
        { path: '/hash', code: 'hash_mismatch' },
      ])
    expect(await aboutOf(base, 'one', 'two')).toEqual([null, null])
    const resources = [{ kind: 'record_type', id: 'one' }]
    const seen = await propose()
    expect(opsOf(await promoted(base, { hash: seen, resources }))).toEqual(['update record_type one'])
    const mutation = `mutation ($hash: String) { promote(base: "${base}", from: "${dev}", hash: $hash) { status } }`
    const asked = (of: string) => world.call('POST', '/graphql', { query: mutation, variables: { hash: of } })
    expect((await asked(hash)).body.errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }])
    expect((await asked(seen)).body.data.promote).toEqual({ status: 'applied' })
    expect(await aboutOf(base, 'one', 'two')).toEqual(['shown', 'written since'])
    succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'set', copy: 'on_write' }), 201)
    const ofSet = await promote(base, { from: `${base}--set`, hash: seen })
    expect(expectFault(ofSet, '/hash').code).toBe('exclusive')
  })

  test('takes the named resources only, and refuses names that do not exist', { tags: 'full' }, async () => {
    const [base, dev] = await fork('one', 'two')
    for (const type of ['one', 'two']) await about(dev, type, 'new')
    const named = (kind: string, id: string) => ({ resources: [{ kind, id }] })
    expect(opsOf(await promoted(base, named('record_type', 'two')))).toEqual(['update record_type two'])
    expect(await aboutOf(base, 'one', 'two')).toEqual([null, 'new'])
    expectFault(await promote(base, named('record_type', 'absent')), '/resources/0/id')
    expect(
      expectFault(await promote(base, named('record_types', 'two')), '/resources/0/kind').allowed,
    ).toContain('record_type')
    expect(opsOf(await promoted(base))).toEqual(['update record_type one'])
  })

  test('of a resource without what it refers to is 400, and names what to add', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('item')
    await put(dev, 'fresh')
    const desk = { tools: [{ record_type: 'fresh', operations: ['get'] }] }
    succeed(await world.call('PUT', `/v1/${dev}/endpoints/desk`, desk), 201)
    const resources = [{ kind: 'endpoint', id: 'desk' }]
    const fault = expectFault(await promote(base, { resources }), '/endpoint/desk/tools/0/record_type')
    expect(fault).toMatchObject({ code: 'unknown_record_type', hint: expect.stringContaining('resources') })
    const propose = async (over: object) =>
      succeed(await world.call('POST', `/v1/${base}/promote/proposal`, { from: dev, ...over })).breaks
    expect(await propose({ resources })).toEqual([fault])
    expect(await propose({})).toEqual([])
    const [, added = ''] = /add (\{.*\}) to/.exec(fault.hint) ?? []
    expect(opsOf(await promoted(base, { resources: [...resources, JSON.parse(added)] }))).toEqual([
      'create record_type fresh',
      'create endpoint desk',
    ])
  })

  test('refuses what is not a preview of the base', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    const [, foreign] = await fork('task')
    for (const from of [foreign, 'crm', base, '']) expectFault(await promote(base, { from }), '/from')
    expectFailure(await promote(base, { from: `${base}--none` }), 'NOT_FOUND')
    expect(expectFault(await promote(base, { purne: true }), '/purne').hint).toBe('prune')
    expectFault(await world.call('POST', `/v1/${dev}/promote`, { from: dev }), 'path/base_id')
  })

  test('and a rollback need admin on production and read on the preview, dry or not', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('task')
    await about(dev, 'task', 'new')
    const token = async (...grants: [string, string][]) =>
      (await world.newToken(grants.map(([permission, environment]) => ({ base, permission, environment }))))
        .call
    const short = [
      await token(['manage', '*']),
      await token(['admin', 'preview'], ['manage', 'production']),
      await token(['admin', 'production']),
    ]
    for (const call of short)
      for (const over of [{}, { dry_run: true }]) expectFailure(await promote(base, over, call), 'FORBIDDEN')
    expect(await aboutOf(base, 'task')).toEqual([null])
    const done = succeed(await promote(base, {}, await token(['admin', 'production'], ['read', 'preview'])))
    for (const call of short) {
      const answer = await call('POST', `/v1/${base}/promote/rollback`, { promotion_id: done.id })
      expectFailure(answer, 'FORBIDDEN')
    }
    expect(await aboutOf(base, 'task')).toEqual(['new'])
  })

  test('reaches a base whose schema_changes are preview_only', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    succeed(await world.call('PUT', `/v1/bases/${base}`, { settings: { schema_changes: 'preview_only' } }))
    expectFailure(await world.call('PUT', `/v1/${base}/record-types/task`, { name: 'x' }), 'FORBIDDEN')
    await about(dev, 'task', 'new')
    const done = await promoted(base)
    expect(await aboutOf(base, 'task')).toEqual(['new'])
    succeed(await rollback(base, done))
    expect(await aboutOf(base, 'task')).toEqual([null])
  })

  test('of many at once, one applies the changes and the others find none', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    await about(dev, 'task', 'new')
    const all = await Promise.all(times(5, () => promoted(base)))
    expect(all.flatMap(opsOf)).toEqual(['update record_type task'])
    expect((await get(`${base}/record-types/task`)).version).toBe(2)
    expect(all.filter(({ id }) => id !== null)).toHaveLength(1)
    expect(await historyOf(base)).toEqual(['promotion applied'])
  })

  test('of nothing makes no entry of the history or the log; of the same change on both sides, neither', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('task')
    const nothing = { id: null, kind: 'promotion', from: dev, base_id: base, status: 'applied', changes: [] }
    const logged = async () => (await get(`${base}/changes?limit=1000`)).data.length
    const before = await logged()
    expect(await promoted(base)).toMatchObject({ ...nothing, created_at: TIME })
    expect(await logged()).toBe(before)
    for (const side of [base, dev]) await about(side, 'task', 'same')
    expect(await promoted(base)).toMatchObject(nothing)
    expect(await historyOf(base)).toEqual([])
    // The fork moved: what production changes now is no conflict.
    await about(base, 'task', 'later')
    await about(dev, 'task', 'same')
    expect(await promoted(base)).toMatchObject(nothing)
    expect(await aboutOf(base, 'task')).toEqual(['later'])
  })
})

describe('a rollback', () => {
  test('takes one resource back, and the rest later', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task', 'note')
    const before = await hashOf(base)
    await about(dev, 'task', 'new')
    await about(dev, 'note', 'new')
    const done = await promoted(base)
    const resources = [{ kind: 'record_type', id: 'note' }]
    expect(opsOf(succeed(await rollback(base, done, { resources })))).toEqual(['update record_type note'])
    expect(await aboutOf(base, 'task', 'note')).toEqual(['new', null])
    // The preview still proposes it, and only it.
    expect(opsOf(succeed(await promote(base, { dry_run: true })))).toEqual(['update record_type note'])
    expectFailure(await rollback(base, done, { resources }), 'CONFLICT')
    expect(opsOf(succeed(await rollback(base, done)))).toEqual(['update record_type task'])
    expect(await hashOf(base)).toBe(before)
    expect(await historyOf(base)).toEqual(['rollback applied', 'rollback applied', 'promotion rolled_back'])
  })

  test('is the exact inverse, as a new entry, and once only', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task', 'gone')
    const before = await hashOf(base)
    await put(dev, 'task', { description: 'new', json_schema: { type: 'object', properties: { a: {} } } })
    await put(dev, 'fresh')
    succeed(await world.call('DELETE', `/v1/${dev}/record-types/gone`))
    const done = await promoted(base, { prune: true })
    expect(await hashOf(base)).not.toBe(before)
    const undone = succeed(await rollback(base, done))
    expect([undone.kind, undone.status, opsOf(undone).sort()]).toEqual([
      'rollback',
      'applied',
      ['create record_type gone', 'delete record_type fresh', 'update record_type task'],
    ])
    expect(await hashOf(base)).toBe(before)
    expect(await historyOf(base)).toEqual(['rollback applied', 'promotion rolled_back'])
    for (const each of [done, undone]) expectFailure(await rollback(base, each), 'CONFLICT')
    expectFailure(await rollback(base, { id: 'absent' }), 'NOT_FOUND')
    expect((await promoted(base, { prune: true })).changes).toEqual(done.changes)
  })

  test('is 409 when a later change touches the same resource, and passes when it touches another', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('task', 'other')
    await about(dev, 'task', 'promoted')
    const done = await promoted(base)
    await about(base, 'other', 'later')
    await about(base, 'task', 'later')
    expect(expectFailure(await rollback(base, done), 'CONFLICT').details).toMatchObject([
      { path: '/record_type/task', code: 'changed_since' },
    ])
    expect(await aboutOf(base, 'task')).toEqual(['later'])
    await about(base, 'task', 'promoted')
    expect(succeed(await rollback(base, done, { dry_run: true })).dry_run).toBe(true)
    succeed(await rollback(base, done))
    expect(await aboutOf(base, 'task', 'other')).toEqual([null, 'later'])
  })

  test('deletes many resources together, and none while one of them is in use', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('task')
    const before = await hashOf(base)
    const indexes = [{ fields: ['data.n'] }]
    for (const id of ['x', 'y', 'z']) await put(dev, id, { indexes })
    for (const id of ['s', 't'])
      succeed(
        await world.call('PUT', `/v1/${dev}/toolsets/${id}`, {
          tools: [{ record_type: 'x', operations: ['get'] }],
        }),
        201,
      )
    for (const id of ['r', 'q'])
      succeed(await world.call('PUT', `/v1/${dev}/relationship-types/${id}`, {}), 201)
    const done = await promoted(base)
    const user = { toolsets: ['t'] }
    succeed(await world.call('PUT', `/v1/${base}/endpoints/user`, user), 201)
    expect(expectFailure(await rollback(base, done), 'CONFLICT').details).toMatchObject([
      { path: '/toolset/t/id', code: 'in_use' },
    ])
    succeed(await world.call('DELETE', `/v1/${base}/endpoints/user`))
    succeed(await world.call('PUT', `/v1/${base}/records/y/one`, { data: { n: 1 } }), 201)
    expect(expectFailure(await rollback(base, done), 'CONFLICT').details).toMatchObject([
      { path: '/record_type/y', code: 'force_required' },
    ])
    expect(await hashOf(base)).not.toBe(before)
    succeed(await world.call('DELETE', `/v1/${base}/records/y/one`))
    succeed(await rollback(base, done))
    expect(await hashOf(base)).toBe(before)
    const left = await world.database.query('SELECT 1 FROM plinth.record_type_index WHERE base_id = $1', [
      base,
    ])
    expect(left).toEqual([])
    expect((await get(`${base}/record-types/z/history`)).data[0]).toMatchObject({
      operation: 'delete',
      version: 2,
    })
  })

  test('works after the preview is deleted, and never deletes records', { tags: 'full' }, async () => {
    const [base, dev] = await fork('task')
    await put(dev, 'fresh')
    const done = await promoted(base)
    succeed(await world.call('DELETE', `/v1/bases/${dev}`))
    succeed(await world.call('PUT', `/v1/${base}/records/fresh/r`, { data: {} }), 201)
    const [held] = expectFailure(await rollback(base, done), 'CONFLICT').details
    expect([held.code, held.message, held.hint]).toEqual([
      'force_required',
      expect.stringMatching(/^In production, the record type "fresh" has .* Delete them first\.$/),
      undefined,
    ])
    succeed(await world.call('DELETE', `/v1/${base}/records/fresh/r`))
    succeed(await rollback(base, done))
    expectFailure(await world.call('GET', `/v1/${base}/record-types/fresh`), 'NOT_FOUND')
  })

  test('is not promoted again by a preview that was made again under the same name', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork('task')
    await about(dev, 'task', 'undone')
    const done = await promoted(base)
    succeed(await world.call('DELETE', `/v1/bases/${dev}`))
    succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
    await put(dev, 'fresh')
    succeed(await rollback(base, done))
    expect(opsOf(await promoted(base))).toEqual(['create record_type fresh'])
    expect(await aboutOf(base, 'task')).toEqual([null])
  })
})

test.each(['relationship_type', 'toolset', 'fork', 'promotion', 'promotion_edit'])(
  'a server killed while a promotion waits to write %s leaves production as it was',
  { tags: 'full', timeout: 600_000 },
  async (table) => {
    const [base, dev] = await fork()
    const child = await startChild(world)
    for (const id of ['t1', 't2']) succeed(await world.call('PUT', `/v1/${dev}/record-types/${id}`, {}), 201)
    succeed(await world.call('PUT', `/v1/${dev}/relationship-types/joins`, {}), 201)
    const tools = { tools: [{ record_type: 't1', operations: ['get'] }] }
    succeed(await world.call('PUT', `/v1/${dev}/toolsets/reads`, tools), 201)
    const before = [await hashOf(base), await historyOf(base)]
    const holding = await holdOpen(world.database)
    await holding.query(`LOCK TABLE plinth.${table} IN SHARE MODE`)
    const sent = child.call('POST', `/v1/${base}/promote`, { from: dev }).catch(() => undefined)
    await vi.waitFor(async () => expect(await holding.waiting()).not.toEqual([]), { timeout: 30_000 })
    await child.kill()
    await sent
    await holding.end()
    expect([await hashOf(base), await historyOf(base)]).toEqual(before)
    await promoted(base)
    expect(await hashOf(base)).toBe(await hashOf(dev))
  },
)

test('a server killed during promotions leaves production before or after one, and the preview as it was', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  const [base, dev] = await fork()
  const types = times(30, (n) => ({ id: `t${n}` }))
  const file = (description: string) => ({
    plinth: 1,
    base,
    record_types: types.map((type) => ({ ...type, description })),
  })
  succeed(await world.call('PUT', `/v1/${dev}/config`, file('0')))
  await promoted(base)
  for (const n of [1, 2, 3]) {
    succeed(await world.call('PUT', `/v1/${dev}/config`, file(`${n}`)))
    const child = await startChild(world)
    const sent = child.call('POST', `/v1/${base}/promote`, { from: dev }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20 * n * n))
    await child.kill()
    const answer = await sent
    // PostgreSQL may still be committing the transaction of the killed server.
    const seen = await vi.waitFor(
      async () => {
        const shown = new Set(await aboutOf(base, ...types.map(({ id }) => id)))
        expect(shown.size).toBe(1)
        return [...shown][0]
      },
      { timeout: 20_000 },
    )
    expect([`${n - 1}`, `${n}`]).toContain(seen)
    if (answer?.status === 200) expect(seen).toBe(`${n}`)
    expect(await hashOf(dev)).not.toBe('')
    await promoted(base)
    expect([await hashOf(base), await aboutOf(base, 't0')]).toEqual([await hashOf(dev), [`${n}`]])
  }
})
