/** Previews: creation, isolation, rights, deletion. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { cases, sampleOf } from '../../support/cases.ts'
import { settled } from '../../support/indexes.ts'
import { KIND_SAMPLES, putOnProduction, putReferences } from '../../support/kinds.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** A base with one record type `task`. */
async function newBase(type: object = {}): Promise<string> {
  const base = `base${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/task`, type), 201)
  return base
}
const create = (base: string, body: unknown, call: Call = world.call) =>
  call('POST', `/v1/${base}/preview`, body)
const newPreview = async (base: string, body: object = {}): Promise<string> =>
  succeed(await create(base, { name: 'dev', ...body }), 201).id
const put = async (base: string, path: string, body: object = {}) =>
  succeed(await world.call('PUT', `/v1/${base}/${path}`, body), 201)
const get = async (path: string): Promise<Body> => succeed(await world.call('GET', `/v1/${path}`))
const idsOf = async (path: string): Promise<string[]> =>
  (await get(path)).data.map(({ id }: { id: string }) => id).sort()

describe('creating a preview', () => {
  test('makes a base named after production: 201, Location, no records', { tags: 'full' }, async () => {
    const base = await newBase()
    await put(base, 'records/task/t', { data: { n: 1 } })
    const made = await create(base, { name: 'dev', description: 'Trial' })
    expect(succeed(made, 201)).toMatchObject({
      id: `${base}--dev`,
      name: 'dev',
      description: 'Trial',
      environment: 'preview',
      production_base: base,
      version: 1,
    })
    expect(made.headers.get('location')).toBe(`/v1/bases/${base}--dev`)
    expect(await get(`bases/${base}--dev`)).toEqual(made.body)
    expect(await idsOf(`${base}--dev/records/task`)).toEqual([])
    expect(await get(`bases/${base}`)).toMatchObject({ environment: 'production', production_base: null })
  })

  test.each(sampleOf(Object.entries(KIND_SAMPLES)))(
    'copies every %s as its version 1',
    { tags: 'sampled' },
    async (kind, { noun, body, least = {} }) => {
      const base = await newBase()
      await putReferences(world.call, base)
      for (const each of [least, body]) await putOnProduction(world.call, base, kind, 'sample', each)
      const dev = await newPreview(base)
      // What becomes of deliveries is no configuration, and each base has an address of its own.
      const shown = async (of: string) => {
        const { status: _status, ingest_url: _url, ...fields } = await get(`${of}/${noun}/sample`)
        return fields
      }
      const { version, created_at, updated_at, ...original }: Body = await shown(base)
      const { created_at: _, updated_at: __, ...copy }: Body = await shown(dev)
      expect(copy).toEqual({ ...original, version: 1 })
      expect([version, created_at < updated_at]).toEqual([2, true])
      const { data } = await get(`${dev}/${noun}/sample/history`)
      expect(data.map((each: Body) => [each.version, each.operation])).toEqual([[1, 'create']])
      expect(await get(`${dev}/${noun}/sample?version=1`)).toMatchObject(body)
      const log = await get(`${dev}/changes?kind=${kind}&id=sample`)
      expect(log.data).toHaveLength(1)
      expect(log.data[0].actor.via).toBe('rest')
    },
  )

  test('copies indexes, ready at once', { tags: 'full' }, async () => {
    const indexes = [{ fields: ['data.n'] }, { fields: ['data.code'], unique: true }]
    const base = await newBase({ indexes })
    const dev = await newPreview(base)
    const { indexes: copies } = await get(`${dev}/record-types/task`)
    expect(copies).toMatchObject(indexes.map((index) => ({ ...index, status: 'ready' })))
    await put(dev, 'records/task/a', { data: { code: 'x' } })
    expectFailure(await world.call('PUT', `/v1/${dev}/records/task/b`, { data: { code: 'x' } }), 'CONFLICT')
    succeed(await world.call('PUT', `/v1/${base}/records/task/b`, { data: { code: 'x' } }), 201)
  })

  test('a dry run answers 201 and creates nothing', { tags: 'full' }, async () => {
    const base = await newBase()
    const made = await world.call('POST', `/v1/${base}/preview?dry_run=true`, { name: 'dev' })
    expect(succeed(made, 201)).toMatchObject({ id: `${base}--dev`, dry_run: true })
    expectFailure(await world.call('GET', `/v1/bases/${base}--dev`), 'NOT_FOUND')
    expect(await idsOf(`${base}/previews`)).toEqual([])
  })

  test.each([
    ['', '/name'],
    ['x'.repeat(17), '/name'],
    ['a--b', '/name'],
    ['UP', '/name'],
    ['-a', '/name'],
    ['a_b', '/name'],
    [7, '/name'],
    [null, '/name'],
  ])('refuses the name %s', async (name, path) => {
    expectFault(await create('crm', { name }), path)
  })

  test('refuses unknown keys and ways to copy, and names the right ones', async () => {
    expect(expectFault(await create('crm', { name: 'a', copie: 'config' }), '/copie').hint).toBe('copy')
    expect(expectFault(await create('crm', { name: 'a', copy: 'all' }), '/copy').allowed).toEqual([
      'config',
      'config_and_sample',
      'on_write',
    ])
    expect(await idsOf('crm/previews')).toEqual([])
  })

  test('of a preview is 400, of an absent base 404, a second time 409', { tags: 'full' }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    expect(expectFault(await create(dev, { name: 'b' }), 'path/base_id').hint).toBe(base)
    expectFailure(await create('absent', { name: 'dev' }), 'NOT_FOUND')
    expectFailure(await create(base, { name: 'dev' }), 'CONFLICT')
    expect(await idsOf(`${base}/previews`)).toEqual([dev])
  })

  test('of many creations at once with one name, exactly one succeeds', { tags: 'full' }, async () => {
    const base = await newBase()
    const statuses = await Promise.all(times(6, async () => (await create(base, { name: 'dev' })).status))
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409, 409])
  })
})

describe('a sample', () => {
  test('has the newest 100 records of each type and the relationships among them', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    await put(base, 'record-types/area')
    await put(base, 'relationship-types/in')
    const operations = times(130, (n) => [
      { type: 'create_record', record_type: 'task', id: `t${n}`, data: { n }, external_id: `e${n}` },
    ]).flat()
    succeed(await world.call('POST', `/v1/${base}/batch`, { operations }))
    await put(base, 'records/area/home', { data: { name: 'Home' } })
    const link = (n: number, data: object = {}) =>
      put(base, `relationships/l${n}`, {
        rel_type: 'in',
        source_record_type: 'task',
        source_id: `t${n}`,
        target_record_type: 'area',
        target_id: 'home',
        data,
      })
    const all = await get(`${base}/records/task?limit=1000&sort=-created_at`)
    const kept = new Set(all.data.slice(0, 100).map(({ id }: Body) => id))
    const left = times(130, (n) => n).find((n) => !kept.has(`t${n}`)) as number
    const taken = times(130, (n) => n).find((n) => kept.has(`t${n}`)) as number
    await link(left)
    await link(taken, { since: 2020 })
    const dev = await newPreview(base, { copy: 'config_and_sample' })
    const copies = await get(`${dev}/records/task?limit=1000&sort=-created_at`)
    expect(copies.data.map(({ id }: Body) => id)).toEqual([...kept])
    expect(copies.data[0]).toEqual(all.data[0])
    const links = await get(`${dev}/relationships`)
    expect(links.data.map(({ id, data }: Body) => [id, data])).toEqual([[`l${taken}`, { since: 2020 }]])
    expect((await get(`${dev}/records/area/home/related?direction=incoming`)).data).toHaveLength(1)
    const history = await get(`${dev}/records/task/t${taken}/history`)
    expect(history.data.map((each: Body) => [each.version, each.operation])).toEqual([[1, 'create']])
    expect(await get(`${dev}/records/task/t${taken}?version=1`)).toMatchObject({ data: { n: taken } })
  })

  test('is found by index and can be written: production stays as it was', { tags: 'full' }, async () => {
    const base = await newBase({ indexes: [{ fields: ['data.n'] }, { fields: ['data.t'], type: 'text' }] })
    for (const n of [1, 2])
      await put(base, `records/task/t${n}`, { data: { n, t: n === 1 ? 'river' : 'mountain' } })
    const dev = await newPreview(base, { copy: 'config_and_sample' })
    await settled(world, 'task', dev)
    const found = (field: string, op: string, value: unknown) =>
      idsOf(`${dev}/records/task?filter=${encodeURIComponent(JSON.stringify({ field, op, value }))}`)
    expect(await found('data.n', 'eq', 2)).toEqual(['t2'])
    expect(await found('data', 'search', 'river')).toEqual(['t1'])
    succeed(await world.call('PUT', `/v1/${dev}/records/task/t1`, { data: { n: 9 } }))
    expect((await get(`${base}/records/task/t1`)).data.n).toBe(1)
    expect((await get(`${base}/records/task/t1/history`)).data).toHaveLength(1)
  })
})

describe('a preview and its production', () => {
  test('do not see each other, on any surface', { tags: 'full' }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    await put(base, 'records/task/same', { data: { at: 'production' }, external_id: 'x' })
    await put(dev, 'records/task/same', { data: { at: 'preview' }, external_id: 'x' })
    await put(dev, 'record-types/extra')
    const at = async (of: string) => (await get(`${of}/records/task/same`)).data.at
    expect([await at(base), await at(dev)]).toEqual(['production', 'preview'])
    expectFailure(await world.call('GET', `/v1/${base}/record-types/extra`), 'NOT_FOUND')
    const sql = await world.call('POST', `/v1/${dev}/sql`, { query: "SELECT data->>'at' AS at FROM task" })
    expect(succeed(sql).data).toEqual([{ at: 'preview' }])
    const across = await world.call('POST', '/v1/accounts/default/query', {
      bases: [base],
      record_type: 'task',
    })
    expect(succeed(across).data.map(({ data }: Body) => data.at)).toEqual(['production'])
    const changes = JSON.stringify(await get(`${base}/changes`))
    expect([changes.includes('extra'), changes.includes('--dev')]).toEqual([false, false])
    succeed(await world.call('DELETE', `/v1/${dev}/records/task/same`))
    expect(await at(base)).toBe('production')
  })

  test('preview_only refuses configuration on production and takes it in the preview', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    succeed(await world.call('PUT', `/v1/bases/${base}`, { settings: { schema_changes: 'preview_only' } }))
    const dev = await newPreview(base)
    expect((await get(`bases/${dev}`)).settings.schema_changes).toBe('direct')
    expectFailure(await world.call('PUT', `/v1/${base}/record-types/new`, {}), 'FORBIDDEN')
    await put(dev, 'record-types/new')
    await put(base, 'records/task/t', { data: {} })
  })

  test('MCP serves the preview at its own address', { tags: 'full' }, async () => {
    const base = await newBase({ json_schema: { type: 'object', properties: { title: { type: 'string' } } } })
    const dev = await newPreview(base)
    const call = (address: string, method: string, params: object = {}) =>
      world.call('POST', `/mcp/${address}`, { jsonrpc: '2.0', id: 1, method, params }, MCP_HEADERS)
    const made = await call(dev, 'tools/call', { name: 'create_task', arguments: { title: 'here' } })
    expect(made.text).toContain('here')
    expect([await idsOf(`${base}/records/task`), (await idsOf(`${dev}/records/task`)).length]).toEqual([
      [],
      1,
    ])
  })
})

const MCP_HEADERS = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
}

describe('rights', () => {
  test('creating and deleting need manage on previews and read on production', { tags: 'full' }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    const token = async (...grants: [string, string][]) =>
      (await world.newToken(grants.map(([permission, environment]) => ({ base, permission, environment }))))
        .call
    const short: [string, string][][] = [
      [['manage', 'preview']],
      [['read', 'production']],
      [['manage', 'production']],
      [
        ['write', 'preview'],
        ['read', 'production'],
      ],
    ]
    for (const grants of short) {
      const call = await token(...grants)
      expectFailure(await create(base, { name: 'no' }, call), 'FORBIDDEN')
      // With `write` in previews one may open a change-set, so the body is read.
      const isRead = grants[0]?.[0] === 'write'
      expectFailure(await create(base, { nonsense: 1 }, call), isRead ? 'VALIDATION_ERROR' : 'FORBIDDEN')
      expectFailure(await call('DELETE', `/v1/bases/${dev}`), 'FORBIDDEN')
    }
    const both = await token(['manage', 'preview'], ['read', 'production'])
    succeed(await create(base, { name: 'mine' }, both), 201)
    expectFailure(await both('DELETE', `/v1/bases/${base}`), 'FORBIDDEN')
    expectFailure(await both('PUT', `/v1/${base}/record-types/task`, { name: 'x' }), 'FORBIDDEN')
    succeed(await both('PUT', `/v1/${base}--mine/record-types/task`, { name: 'x' }))
    succeed(await both('DELETE', `/v1/bases/${base}--mine`))
    expect(await idsOf(`${base}/previews`)).toEqual([dev])
  })

  test('a grant on a record type only creates no preview', { tags: 'full' }, async () => {
    const base = await newBase()
    const { call } = await world.newToken([{ base, record_type: 'task', permission: 'admin' }])
    expectFailure(await create(base, { name: 'no' }, call), 'FORBIDDEN')
  })

  test('a token for previews lists them and does not see production', { tags: 'full' }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    const { call } = await world.newToken([{ base, environment: 'preview', permission: 'read' }])
    expect(succeed(await call('GET', `/v1/${base}/previews`)).data).toMatchObject([{ id: dev }])
    expectFailure(await call('GET', `/v1/bases/${base}`), 'FORBIDDEN')
    expectFailure(await call('GET', `/v1/${base}/record-types`), 'FORBIDDEN')
    expect(succeed(await call('GET', `/v1/${dev}/record-types`)).data).toHaveLength(1)
  })

  test('a token for production lists no preview, and one for another base is refused', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    await newPreview(base)
    const production = await world.newToken([{ base, environment: 'production', permission: 'read' }])
    expect(succeed(await production.call('GET', `/v1/${base}/previews`)).data).toEqual([])
    expectFailure(await production.call('GET', `/v1/${base}--dev/record-types`), 'FORBIDDEN')
    const foreign = await world.newToken([{ base: 'crm', permission: 'admin' }])
    expectFailure(await foreign.call('GET', `/v1/${base}/previews`), 'FORBIDDEN')
  })
})

describe('deleting', () => {
  test('a preview deletes its data; one created again under its name is empty', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    await put(dev, 'record-types/extra')
    await put(dev, 'records/task/t', { data: {} })
    expectFailure(await world.call('DELETE', `/v1/bases/${dev}`), 'CONFLICT')
    succeed(await world.call('DELETE', `/v1/bases/${dev}?confirm=${dev}`))
    expectFailure(await world.call('GET', `/v1/${dev}/records/task`), 'NOT_FOUND')
    await newPreview(base)
    expect(await idsOf(`${dev}/record-types`)).toEqual(['task'])
    expect(await idsOf(`${dev}/records/task`)).toEqual([])
    expect((await get(`${dev}/changes?kind=record`)).data).toEqual([])
  })

  test('a preview or a base that is created again has no version of the deleted one', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    const versions = async (of: string) =>
      Promise.all(
        ['bases', `${of}/record-types`].map(
          async (path, n) => (await get(`${path}/${n ? 'task' : of}`)).version,
        ),
      )
    for (const name of ['A', 'B', 'C'])
      succeed(await world.call('PATCH', `/v1/${dev}/record-types/task`, { name }))
    const [first] = [await versions(dev)]
    expect(first).toEqual([1, 4])
    succeed(await world.call('DELETE', `/v1/bases/${dev}`))
    await newPreview(base)
    const second = await versions(dev)
    expect(Math.min(...second)).toBeGreaterThan(4)
    const stale = await world.call(
      'PATCH',
      `/v1/${dev}/record-types/task`,
      { name: 'D' },
      { 'if-match': '"4"' },
    )
    expectFailure(stale, 'CONFLICT')
    // The types of previews go with their base, and so do its own.
    succeed(await world.call('DELETE', `/v1/bases/${base}`))
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    succeed(await world.call('PUT', `/v1/${base}/record-types/task`, {}), 201)
    expect(Math.min(...(await versions(base)))).toBeGreaterThan(Math.max(...second))
    await newPreview(base)
    expect(Math.min(...(await versions(dev)))).toBeGreaterThan(Math.max(...second))
    expectFailure(await world.call('GET', `/v1/${dev}/record-types/task?version=4`), 'NOT_FOUND')
  })

  test('records and relationships of a base that is created again have no version of the deleted ones', {
    tags: 'full',
  }, async () => {
    const base = `base${++serial}`
    const link = (data: object) => ({
      ...{ rel_type: 'next', source_record_type: 'task', source_id: 'a' },
      ...{ target_record_type: 'task', target_id: 'b', data },
    })
    const [task, rel] = [`/v1/${base}/records/task`, `/v1/${base}/relationships/l`]
    const live = async () => {
      succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
      succeed(await world.call('PUT', `/v1/${base}/record-types/task`, {}), 201)
      succeed(await world.call('PUT', `/v1/${base}/relationship-types/next`, {}), 201)
      const operations = [{ type: 'upsert_record', record_type: 'task', id: 'b', data: {} }]
      const batch = succeed(await world.call('POST', `/v1/${base}/batch`, { operations }))
      const put = succeed(await world.call('PUT', `${task}/a`, { data: {} }), 201)
      const more = { id: 'c', data: {} }
      const wave = [
        { type: 'create_record', record_type: 'task', ...more },
        { type: 'patch_record', record_type: 'task', id: 'c', data: { n: 1 } },
      ]
      const [made] = succeed(await world.call('POST', `/v1/${base}/batch`, { operations: wave })).data
      const linked = succeed(await world.call('PUT', rel, link({})), 201)
      return [batch.data[0].version, put.version, made.version, linked.version]
    }
    expect(await live()).toEqual([1, 1, 1, 1])
    for (const n of [1, 2, 3]) succeed(await world.call('PUT', `${task}/a`, { data: { n } }))
    succeed(await world.call('PUT', rel, link({ n: 1 })))
    succeed(await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`))
    expect(Math.min(...(await live()))).toBeGreaterThan(4)
    for (const version of [1, 2, 4]) {
      const guard = { 'if-match': `"${version}"` }
      expectFailure(await world.call('PUT', `${task}/a`, { data: {} }, guard), 'CONFLICT')
      expectFailure(await world.call('PUT', rel, link({}), guard), 'CONFLICT')
    }
    const of = async (at: string) => (await get(`${at}/records/task/a`)).version
    const dev = await newPreview(base, { copy: 'config_and_sample' })
    const first = await of(dev)
    succeed(await world.call('PUT', `/v1/${dev}/records/task/a`, { data: { of: 'preview' } }))
    succeed(await world.call('DELETE', `/v1/bases/${dev}?confirm=${dev}`))
    await newPreview(base, { copy: 'config_and_sample' })
    expect(await of(dev)).toBeGreaterThan(first + 1)
  })

  test('production deletes its previews, and nothing of them is left in the database', {
    tags: 'full',
  }, async () => {
    const base = await newBase()
    const dev = await newPreview(base)
    succeed(await world.call('DELETE', `/v1/bases/${base}`))
    expectFailure(await world.call('GET', `/v1/bases/${dev}`), 'NOT_FOUND')
    for (const table of ['fork', 'record_type', 'change']) {
      const left = await world.database.query(`SELECT 1 FROM plinth.${table} WHERE base_id = $1`, [dev])
      expect([table, left]).toEqual([table, []])
    }
  })
})

test('production and its preview are deleted at once: neither request fails, nor a promotion or rollback', {
  tags: ['full', 'sampled'],
}, async () => {
  for (let round = 0; round < cases(6, 2); round++) {
    const base = await newBase()
    const dev = await newPreview(base)
    await put(dev, 'record-types/extra')
    const promote = () => world.call('POST', `/v1/${base}/promote`, { from: dev })
    const { id } = succeed(await promote())
    await put(dev, 'record-types/more')
    const undo = { promotion_id: id }
    const answers = await Promise.all([
      promote(),
      world.call('DELETE', `/v1/bases/${dev}`),
      world.call('POST', `/v1/${base}/promote/rollback`, undo),
      create(base, { name: 'qa' }),
      world.call('DELETE', `/v1/bases/${base}`),
      world.call('DELETE', `/v1/bases/${dev}`),
    ])
    for (const { status, body } of answers)
      expect([200, 201, 404, 409], JSON.stringify(body)).toContain(status)
    expectFailure(await world.call('GET', `/v1/bases/${base}`), 'NOT_FOUND')
    for (const preview of [dev, `${base}--qa`])
      expectFailure(await world.call('GET', `/v1/bases/${preview}`), 'NOT_FOUND')
  }
})

test('a base has a limited number of previews, and a deleted one makes room', { tags: 'full' }, async () => {
  const base = await newBase()
  await world.database.query(
    `INSERT INTO plinth.base (id, name, environment, production_base, settings, version, types_version)
     SELECT $1 || '--p' || n, 'p', 'preview', $1, '{}', 1, 1 FROM generate_series(1, 100) n`,
    [base],
  )
  const refused = await world.call('POST', `/v1/${base}/preview`, { name: 'more' })
  expect(expectFailure(refused, 'CONFLICT').details).toMatchObject([
    { code: 'too_many_previews', expected: 100 },
  ])
  succeed(await world.call('DELETE', `/v1/bases/${base}--p1`))
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'more' }), 201)
})

test('previews are listed newest first, in pages', { tags: 'full' }, async () => {
  const base = await newBase()
  for (const name of ['a', 'b', 'c']) await newPreview(base, { name })
  const first = await get(`${base}/previews?limit=2&include_total=true`)
  expect([first.data.map(({ id }: Body) => id), first.meta]).toMatchObject([
    [`${base}--c`, `${base}--b`],
    { has_more: true, total: 3 },
  ])
  expect(await idsOf(`${base}/previews?limit=2&cursor=${first.meta.next_cursor}`)).toEqual([`${base}--a`])
  expectFailure(await world.call('GET', '/v1/absent/previews'), 'NOT_FOUND')
})
