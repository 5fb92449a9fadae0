// @module-tag full
/** Seeds: rows that a preview is filled with, and returned to. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { settled } from '../../support/indexes.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const OWN = 'seed:demo'
const SEED = {
  name: 'Demo',
  records: [
    { record_type: 'person', external_id: 'ann', data: { name: 'Ann' } },
    { record_type: 'person', external_id: 'bob', data: { name: 'Bob' } },
    { record_type: 'team', external_id: 'red', data: { name: 'Red' } },
  ],
  relationships: [
    {
      rel_type: 'member',
      source: { record_type: 'person', external_id: 'ann' },
      target: { record_type: 'team', external_id: 'red' },
      data: { since: 2020 },
    },
  ],
}
const MEMBER = { source_record_types: ['person'], target_record_types: ['team'] }

const put = async (path: string, body: object, status = 201) =>
  succeed(await world.call('PUT', `/v1/${path}`, body), status)
const get = async (path: string) => succeed(await world.call('GET', `/v1/${path}`))
const run = (dev: string, verb: string, call = world.call) => call('POST', `/v1/${dev}/seeds/demo/${verb}`)
const ran = async (dev: string, verb: string) => succeed(await run(dev, verb))
const NONE = { created: 0, updated: 0, unchanged: 0, deleted: 0 }

/** A preview with the types of the seed, and the seed. */
async function seeded(seed: object = SEED, member: object = MEMBER): Promise<string> {
  const base = `base${++serial}`
  await put(`bases/${base}`, {})
  for (const type of ['person', 'team']) await put(`${base}/record-types/${type}`, {})
  await put(`${base}/relationship-types/member`, member)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  await put(`${base}--dev/seeds/demo`, seed)
  return `${base}--dev`
}
const rowsOf = async (dev: string, type: string): Promise<Body[]> =>
  (await get(`${dev}/records/${type}?sort=created_at`)).data
const personsOf = async (dev: string) =>
  Object.fromEntries(
    (await rowsOf(dev, 'person'))
      .filter(({ external_source }) => external_source === OWN)
      .map((row) => [row['external_id'], row]),
  )
const linksOf = async (dev: string): Promise<Body[]> => (await get(`${dev}/relationships`)).data
const shown = ({ external_id, external_source, status, data, version }: Body) => [
  external_id,
  external_source,
  status,
  data,
  version,
]

describe('apply', () => {
  test('writes the rows with the source of the seed; again it writes nothing', async () => {
    const dev = await seeded()
    expect(await rowsOf(dev, 'person')).toEqual([])
    expect(await ran(dev, 'apply')).toEqual({
      id: 'demo',
      records: { ...NONE, created: 3 },
      relationships: { ...NONE, created: 1 },
    })
    expect((await rowsOf(dev, 'person')).map(shown)).toEqual([
      ['ann', OWN, 'active', { name: 'Ann' }, 1],
      ['bob', OWN, 'active', { name: 'Bob' }, 1],
    ])
    const [link] = await linksOf(dev)
    expect(link).toMatchObject({
      rel_type: 'member',
      data: { since: 2020 },
      external_source: OWN,
      version: 1,
    })
    const log = (await get(`${dev}/changes?record_type=person`)).data
    expect(log.map(({ actor, operation }: Body) => [actor.via, operation])).toEqual([
      ['seed', 'create'],
      ['seed', 'create'],
    ])
    const { seq } = (await get(`${dev}/changes?order=desc&limit=1`)).data[0]
    expect(await ran(dev, 'apply')).toMatchObject({
      records: { ...NONE, unchanged: 3 },
      relationships: { ...NONE, unchanged: 1 },
    })
    expect((await get(`${dev}/changes?after=${seq}`)).data).toEqual([])
  })

  test('replaces edited rows, and leaves rows of others and undeclared ones', async () => {
    const dev = await seeded()
    await put(`${dev}/records/person/mine`, {
      data: { name: 'Mine' },
      external_id: 'ann',
      external_source: 'crm',
    })
    await ran(dev, 'apply')
    const { ann, bob } = await personsOf(dev)
    await put(`${dev}/records/person/${ann?.['id']}`, { data: { name: 'Edited', more: 1 } }, 200)
    await put(`${dev}/seeds/demo`, { ...SEED, records: SEED.records.filter((_, n) => n !== 1) }, 200)
    expect(await ran(dev, 'apply')).toMatchObject({ records: { ...NONE, updated: 1, unchanged: 1 } })
    const after = await personsOf(dev)
    expect([after['ann']?.['id'], after['ann']?.['data']]).toEqual([ann?.['id'], { name: 'Ann' }])
    expect(after['bob']).toEqual(bob)
    expect(await get(`${dev}/records/person/mine`)).toMatchObject({ data: { name: 'Mine' }, version: 1 })
  })

  test('is undone as any request is, and a reset too', async () => {
    const dev = await seeded()
    const undo = async (request_id: string) =>
      succeed(await world.call('POST', `/v1/${dev}/revert`, { request_id })).count
    const send = (verb: string, id: string) =>
      world.call('POST', `/v1/${dev}/seeds/demo/${verb}`, {}, { 'x-request-id': id })
    succeed(await send('apply', `${dev}-1`))
    const { ann } = await personsOf(dev)
    await put(`${dev}/records/person/${ann?.['id']}`, { data: { name: 'Edited' } }, 200)
    succeed(await send('reset', `${dev}-2`))
    expect(await undo(`${dev}-2`)).toBe(1)
    expect((await personsOf(dev))['ann']?.['data']).toEqual({ name: 'Edited' })
    await ran(dev, 'reset')
    const cleared = await send('clear', `${dev}-3`)
    expect([succeed(cleared).records.deleted, await undo(`${dev}-3`)]).toEqual([3, 4])
    expect((await rowsOf(dev, 'person')).map((row) => shown(row).slice(0, 4))).toEqual([
      ['ann', OWN, 'active', { name: 'Ann' }],
      ['bob', OWN, 'active', { name: 'Bob' }],
    ])
    expect(await linksOf(dev)).toHaveLength(1)
    expect(await ran(dev, 'reset')).toMatchObject({ records: { ...NONE, unchanged: 3 } })
  })

  test('fills in the defaults of the types', async () => {
    const dev = await seeded()
    const json_schema = { type: 'object', properties: { level: { type: 'integer', default: 3 } } }
    await put(`${dev}/record-types/person`, { json_schema }, 200)
    await ran(dev, 'apply')
    expect((await personsOf(dev))['ann']?.['data']).toEqual({ name: 'Ann', level: 3 })
    expect(await ran(dev, 'reset')).toMatchObject({ records: { ...NONE, unchanged: 3 } })
  })

  test('writes all or nothing: a unique value that is taken is a 409 at the row', async () => {
    const dev = await seeded()
    await put(`${dev}/records/person/mine`, { data: { name: 'Bob' } })
    await put(`${dev}/record-types/person`, { indexes: [{ fields: ['data.name'], unique: true }] }, 200)
    await settled(world, 'person', dev)
    const error = expectFailure(await run(dev, 'apply'), 'CONFLICT')
    expect(error.details[0].path).toMatch(/^\/records\/1/)
    expect(error.message).not.toContain('Operation')
    expect((await rowsOf(dev, 'person')).map(({ id }) => id)).toEqual(['mine'])
    expect(await rowsOf(dev, 'team')).toEqual([])
  })

  test('a relationship of others between the same records is a 409, and stays', async () => {
    const dev = await seeded({ ...SEED, relationships: [] })
    await ran(dev, 'apply')
    const [ann, red] = [(await personsOf(dev))['ann'], (await rowsOf(dev, 'team'))[0]]
    const { operation: _, ...own } = await put(`${dev}/relationships/own`, {
      rel_type: 'member',
      source_record_type: 'person',
      source_id: ann?.['id'],
      target_record_type: 'team',
      target_id: red?.['id'],
    })
    await put(`${dev}/seeds/demo`, SEED, 200)
    for (const verb of ['apply', 'reset'])
      expect(expectFailure(await run(dev, verb), 'CONFLICT').details[0]).toMatchObject({
        path: '/relationships/0',
        code: 'not_owned',
        received: 'own',
      })
    expect(await get(`${dev}/relationships/own`)).toEqual(own)
  })
})

describe('reset', () => {
  test('brings edited, cancelled and deleted rows back and takes undeclared ones away', async () => {
    const zoe = { record_type: 'person', external_id: 'zoe', data: {} }
    const dev = await seeded({ ...SEED, records: [...SEED.records, zoe] })
    await ran(dev, 'apply')
    await put(`${dev}/seeds/demo`, SEED, 200)
    await put(`${dev}/records/person/mine`, { data: {} })
    const [{ ann, bob }, [red], [link]] = [
      await personsOf(dev),
      await rowsOf(dev, 'team'),
      await linksOf(dev),
    ]
    await put(`${dev}/records/person/${ann?.['id']}`, { data: {} }, 200)
    succeed(await world.call('DELETE', `/v1/${dev}/records/person/${bob?.['id']}`))
    succeed(await world.call('POST', `/v1/${dev}/records/team/${red?.['id']}/cancel`))
    succeed(await world.call('DELETE', `/v1/${dev}/relationships/${link?.['id']}`))
    expect(await ran(dev, 'reset')).toEqual({
      id: 'demo',
      records: { created: 1, updated: 2, unchanged: 0, deleted: 1 },
      relationships: { ...NONE, created: 1 },
    })
    const after = await personsOf(dev)
    expect(Object.keys(after).sort()).toEqual(['ann', 'bob'])
    expect([after['ann']?.['id'], after['ann']?.['data']]).toEqual([ann?.['id'], { name: 'Ann' }])
    expect(await get(`${dev}/records/team/${red?.['id']}`)).toMatchObject({ status: 'active', version: 3 })
    expect((await linksOf(dev)).map(({ data }) => data)).toEqual([{ since: 2020 }])
    expect(await get(`${dev}/records/person/mine`)).toMatchObject({ version: 1 })
    expect(await ran(dev, 'reset')).toMatchObject({ records: { ...NONE, unchanged: 3 } })
  })

  test('brings unique values back that rows of the seed have exchanged; they stay unique', async () => {
    const named = (...names: string[]) =>
      names.map((name) => ({ record_type: 'person', external_id: name, data: { name } }))
    const dev = await seeded({ records: named('ann', 'bob', 'cat', 'dan') })
    await put(`${dev}/record-types/person`, { indexes: [{ fields: ['data.name'], unique: true }] }, 200)
    await settled(world, 'person', dev)
    await ran(dev, 'apply')
    for (const verb of ['reset', 'apply']) {
      const { ann, bob, dan } = await personsOf(dev)
      if (verb === 'reset') succeed(await world.call('DELETE', `/v1/${dev}/records/person/${dan?.['id']}`))
      const rename = (row: Body | undefined, name: string) =>
        put(`${dev}/records/person/${row?.['id']}`, { data: { name } }, 200)
      for (const [row, name] of [
        [ann, 'x'],
        [bob, 'ann'],
        [ann, 'bob'],
      ] as const)
        await rename(row, name)
      const dry = succeed(await run(dev, `${verb}?dry_run=true`))
      const created = verb === 'reset' ? 1 : 0
      const counts = { created, updated: 2, unchanged: 2 - created, deleted: 0 }
      expect([dry.records, (await ran(dev, verb)).records]).toEqual([counts, counts])
      const after = await personsOf(dev)
      expect(Object.entries<Body>(after).every(([id, { data }]) => data.name === id)).toBe(true)
      expect(after['ann']?.['id']).toBe(ann?.['id'])
    }
    succeed(await world.call('POST', `/v1/${dev}/revert`, { last: true }))
    expect((await personsOf(dev))['ann']?.['data']).toEqual({ name: 'bob' })
    await ran(dev, 'apply')
    for (const name of ['ann', 'bob', 'cat', 'dan'])
      expectFailure(await world.call('POST', `/v1/${dev}/records/person`, { data: { name } }), 'CONFLICT')
    const twice = [...named('ann', 'bob', 'cat'), { ...named('cat')[0], external_id: 'tac' }]
    await put(`${dev}/seeds/demo`, { records: twice }, 200)
    for (const verb of ['reset', 'apply'])
      expect(expectFailure(await run(dev, verb), 'CONFLICT').details[0].path).toBe('/records/3/data/name')
    expect(Object.keys(await personsOf(dev)).sort()).toEqual(['ann', 'bob', 'cat', 'dan'])
  })

  test('as a dry run counts the rows and changes none', async () => {
    const dev = await seeded()
    expect(succeed(await run(dev, 'reset?dry_run=true'))).toMatchObject({
      dry_run: true,
      records: { ...NONE, created: 3 },
    })
    expect(await rowsOf(dev, 'person')).toEqual([])
  })

  test('several at once end with the baseline', async () => {
    const dev = await seeded()
    const done = await Promise.all(times(6, (n) => run(dev, n % 2 ? 'apply' : 'reset')))
    for (const each of done) succeed(each)
    expect((await rowsOf(dev, 'person')).map(shown)).toEqual([
      ['ann', OWN, 'active', { name: 'Ann' }, 1],
      ['bob', OWN, 'active', { name: 'Bob' }, 1],
    ])
    expect(await linksOf(dev)).toHaveLength(1)
  })
})

describe('clear', () => {
  test('deletes what the seed owns and nothing else, and may be repeated', async () => {
    const dev = await seeded()
    await put(`${dev}/seeds/other`, { records: [{ record_type: 'person', external_id: 'ann', data: {} }] })
    await put(`${dev}/records/person/mine`, { data: {} })
    await ran(dev, 'apply')
    succeed(await world.call('POST', `/v1/${dev}/seeds/other/apply`))
    expect(await ran(dev, 'clear')).toEqual({
      id: 'demo',
      records: { ...NONE, deleted: 3 },
      relationships: { ...NONE, deleted: 1 },
    })
    const left = async () =>
      (await rowsOf(dev, 'person')).map(({ id, external_source }) => external_source ?? id)
    expect([await left(), await rowsOf(dev, 'team')]).toEqual([['mine', 'seed:other'], []])
    expect(await ran(dev, 'clear')).toMatchObject({ records: NONE, relationships: NONE })
    expect(await get(`${dev}/seeds/demo`)).toMatchObject(SEED)
  })

  test('is a 409 where a relationship would cascade to rows of others; a reset is too', async () => {
    const dev = await seeded(SEED, { ...MEMBER, on_delete: 'cascade' })
    await ran(dev, 'apply')
    await put(`${dev}/records/person/mine`, { data: {} })
    const [red] = await rowsOf(dev, 'team')
    await put(`${dev}/relationships/own`, {
      rel_type: 'member',
      source_record_type: 'person',
      source_id: 'mine',
      target_record_type: 'team',
      target_id: red?.['id'],
    })
    const error = expectFailure(await run(dev, 'clear'), 'CONFLICT')
    expect(error.details[0]).toMatchObject({
      code: 'not_owned',
      count: 1,
      samples: [{ record_type: 'person', id: 'mine' }],
    })
    await put(`${dev}/seeds/demo`, { ...SEED, records: SEED.records.slice(0, 2), relationships: [] }, 200)
    expectFailure(await run(dev, 'reset'), 'CONFLICT')
    expect(await rowsOf(dev, 'person')).toHaveLength(3)
    succeed(await world.call('DELETE', `/v1/${dev}/relationships/own`))
    expect(await ran(dev, 'clear')).toMatchObject({ records: { deleted: 3 } })
    expect((await rowsOf(dev, 'person')).map(({ id }) => id)).toEqual(['mine'])
  })
})

describe('a seed that does not fit its types', () => {
  const [ann, , red] = SEED.records
  const [link] = SEED.relationships
  test.each([
    [
      'a type that is absent',
      { records: [{ ...ann, record_type: 'persn' }] },
      '/records/0/record_type',
      'unknown_record_type',
    ],
    [
      'data that its type refuses',
      { records: [red, { ...ann, data: { age: 'x' } }] },
      '/records/1/data/age',
      'type',
    ],
    ['a record twice', { records: [ann, red, ann] }, '/records/2/external_id', 'duplicate'],
    [
      'an external id that is none',
      { records: [{ ...ann, external_id: '' }] },
      '/records/0/external_id',
      'invalid_external_id',
    ],
    [
      'a relationship type that is absent',
      { ...SEED, relationships: [{ ...link, rel_type: 'membr' }] },
      '/relationships/0/rel_type',
      'unknown_relationship_type',
    ],
    [
      'an end that is no record of it',
      { ...SEED, records: [ann] },
      '/relationships/0/target',
      'unknown_record',
    ],
    [
      'an end of another type',
      { ...SEED, relationships: [{ ...link, target: link?.source }] },
      '/relationships/0/target/record_type',
      'end_not_allowed',
    ],
    [
      'data that the relationship type refuses',
      { ...SEED, relationships: [{ ...link, data: { since: 'x' } }] },
      '/relationships/0/data/since',
      'type',
    ],
    ['a relationship twice', { ...SEED, relationships: [link, link] }, '/relationships/1', 'duplicate'],
    ['a key that is none', { records: [{ ...ann, dta: {} }] }, '/records/0/dta', 'unknown_key'],
  ])('for %s is a 400 at its place', async (_, seed, path, code) => {
    const dev = await seeded({}, { ...MEMBER, data_schema: { properties: { since: { type: 'integer' } } } })
    const json_schema = { type: 'object', properties: { age: { type: 'integer' } } }
    await put(`${dev}/record-types/person`, { json_schema }, 200)
    expect(expectFault(await world.call('PUT', `/v1/${dev}/seeds/demo`, seed), path).code).toBe(code)
    expect((await get(`${dev}/seeds/demo`)).records).toEqual([])
  })

  test('any more, is a 400 at apply and reset, and nothing is written; clear works', async () => {
    const dev = await seeded()
    await ran(dev, 'apply')
    const json_schema = { type: 'object', properties: { name: { maxLength: 1 } } }
    succeed(await world.call('PUT', `/v1/${dev}/record-types/team?on_invalid=allow`, { json_schema }))
    for (const verb of ['apply', 'reset']) expectFault(await run(dev, verb), '/records/2/data/name')
    succeed(await world.call('DELETE', `/v1/${dev}/record-types/team?confirm=team`))
    expectFault(await run(dev, 'apply'), '/records/2/record_type')
    expect(await rowsOf(dev, 'person')).toHaveLength(2)
    expect(await ran(dev, 'clear')).toMatchObject({ records: { deleted: 2 } })
  })

  test('has at most 1,000 records', { tags: 'full' }, async () => {
    const dev = await seeded()
    const records = times(1001, (n) => ({ record_type: 'person', external_id: `e${n}`, data: {} }))
    expectFault(await world.call('PUT', `/v1/${dev}/seeds/demo`, { records }), '/records')
    await put(`${dev}/seeds/demo`, { records: records.slice(1) }, 200)
    expect(await ran(dev, 'reset')).toMatchObject({ records: { ...NONE, created: 1000 } })
  })
})

describe('in an environment', () => {
  test('a seed of production is read, and neither written nor run', async () => {
    const dev = await seeded()
    const base = dev.replace('--dev', '')
    const { changes } = succeed(await world.call('POST', `/v1/${base}/promote`, { from: dev }))
    expect(changes.map(({ op, kind, id }: Body) => [op, kind, id])).toEqual([['create', 'seed', 'demo']])
    expect(await get(`${base}/seeds/demo`)).toMatchObject(SEED)
    expect((await get(`${base}/seeds`)).data).toHaveLength(1)
    for (const [method, path, body] of [
      ['PUT', 'demo', SEED],
      ['DELETE', 'demo', undefined],
      ['POST', 'demo/apply', undefined],
      ['POST', 'demo/reset', undefined],
      ['POST', 'demo/clear', undefined],
    ] as const)
      expect(
        expectFailure(await world.call(method, `/v1/${base}/seeds/${path}`, body), 'FORBIDDEN').details[0]
          .code,
      ).toBe('production_base')
    expect([await rowsOf(base, 'person'), await get(`${base}/seeds/demo`)]).toEqual([
      [],
      expect.objectContaining({ version: 1 }),
    ])
    const [{ seq }] = (await get(`${base}/changes?kind=seed`)).data
    expectFailure(await world.call('POST', `/v1/${base}/changes/${seq}/revert`), 'FORBIDDEN')
  })

  test('a config file carries seeds, and names the place of a row that does not fit', async () => {
    const dev = await seeded()
    const config = await get(`${dev}/config`)
    expect(config.seeds).toEqual([{ id: 'demo', description: null, ...SEED }])
    const { hash: _, ...file } = config
    const push = (seeds: unknown) =>
      world.call('PUT', `/v1/${dev}/config?prune=true`, {
        ...file,
        record_types: [...file.record_types, { id: 'new' }],
        seeds,
      })
    const records = [{ record_type: 'new', external_id: 'n', data: {} }]
    expect(succeed(await push([{ id: 'fresh', records }])).summary).toEqual({
      create: 2,
      update: 0,
      delete: 1,
    })
    succeed(await world.call('POST', `/v1/${dev}/seeds/fresh/apply`))
    expectFault(
      await push([{ id: 'fresh', records: [{ ...records[0], record_type: 'nw' }] }]),
      '/seeds/0/records/0/record_type',
    )
  })

  test('needs manage on the whole preview; a seed that is absent is a 404', async () => {
    const dev = await seeded()
    const base = dev.replace('--dev', '')
    const tokenOf = async (...grants: Parameters<World['newToken']>[0]) =>
      (await world.newToken(grants.map((grant) => ({ base, ...grant })))).call
    const agent = await tokenOf(
      { permission: 'manage', environment: 'preview' },
      { permission: 'read', environment: 'production' },
    )
    for (const verb of ['apply', 'reset', 'clear']) succeed(await run(dev, verb, agent))
    for (const call of [
      await tokenOf({ permission: 'write' }),
      await tokenOf({ permission: 'admin', environment: 'production' }),
      await tokenOf({ permission: 'admin', record_type: ['person', 'team'] }),
    ])
      for (const verb of ['apply', 'reset', 'clear']) expectFailure(await run(dev, verb, call), 'FORBIDDEN')
    expectFailure(await world.call('POST', `/v1/${dev}/seeds/absent/apply`), 'NOT_FOUND')
    expectFailure(await world.call('POST', `/v1/${base}--absent/seeds/demo/apply`), 'NOT_FOUND')
    expectFault(await world.call('POST', `/v1/${dev}/seeds/demo/apply`, { force: true }), '/force')
  })
})
