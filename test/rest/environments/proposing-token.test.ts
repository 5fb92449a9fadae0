/** A token whose grant proposes: what it writes to production is in a change-set of its own, over every surface. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../../src/rest/plugin.ts'
import { expectDetail, expectFailure, succeed, times } from '../../support/answers.ts'
import { callTool, rpc } from '../../support/mcp.ts'
import { type FilledBase, fillBase, routeSamples, routeValues } from '../../support/route-samples.ts'
import type { Call } from '../../support/server.ts'
import { json, openUpstream } from '../../support/upstream.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let filled: FilledBase
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0', PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  for (const base of ['shop', 'desk']) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  filled = await fillBase(world, 'shop', 'productiononly')
  succeed(await world.call('PUT', '/v1/desk/record-types/deal', {}), 201)
  for (const id of ['a', 'b', 'c'])
    succeed(await world.call('PUT', `/v1/desk/records/deal/${id}`, { data: { n: 1 } }), 201)
})
afterAll(() => world.close())

const proposer = (base: string, more: object = {}) =>
  world.newToken([{ base, permission: 'write', writes: 'propose', ...more }])

const CONTENT = [
  ...[
    'record',
    'record_index',
    'record_text',
    'record_word',
    'relationship',
    'change',
    'claim',
    'attachment',
  ],
  ...['file', 'file_version', 'record_type', 'action', 'trigger', 'endpoint', 'seed'],
]

/** The log of production says of a change-set that it was opened. */
const STEPS: Readonly<Record<string, string>> = { change: ` AND kind <> 'preview'` }

/** A digest of the content of a production base, by table. */
async function rowsOf(base: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const table of CONTENT) {
    const [row] = await world.database.query<{ rows: string }>(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM plinth.${table} t WHERE base_id = $1${STEPS[table] ?? ''}`,
      [base],
    )
    digests[table] = row?.rows ?? ''
  }
  return digests
}

const ownOf = async (id: string, base = 'desk'): Promise<string[]> => {
  const { data } = succeed(await world.call('GET', `/v1/${base}/previews`))
  return data
    .filter((each: { change_set?: { created_by: string } }) => each.change_set?.created_by === id)
    .map((each: { id: string }) => each.id)
}

/** All records of the type, as a whole result. */
const wholeOf = async (call: World['call']): Promise<string> => {
  const path = '/v1/desk/records/deal?limit=all&sort=id&fields=id'
  return (await call('GET', path, undefined, { accept: 'application/x-ndjson' })).text
}

test('a write is proposed: the token reads it back, production and other tokens do not see it', {
  tags: 'full',
}, async () => {
  const { id, call } = await proposer('desk')
  const other = await proposer('desk')
  const before = await rowsOf('desk')
  expect(await ownOf(id)).toEqual([])
  const written = succeed(await call('PATCH', '/v1/desk/records/deal/a', { data: { n: 2 } }))
  expect([written.change_set]).toEqual(await ownOf(id))
  succeed(await call('PUT', '/v1/desk/records/deal/new', { data: { n: 9 } }), 201)
  succeed(await call('DELETE', '/v1/desk/records/deal/b'))
  expect(await ownOf(id)).toHaveLength(1)
  expect(succeed(await call('GET', '/v1/desk/records/deal/a')).data).toEqual({ n: 2 })
  expect((await call('GET', '/v1/desk/records/deal/b')).status).toBe(404)
  const listed = succeed(await call('GET', '/v1/desk/records/deal?sort=id')).data
  expect(listed.map((each: { id: string }) => each.id)).toEqual(['a', 'c', 'new'])
  expect(await wholeOf(call)).toBe('{"id":"a"}\n{"id":"c"}\n{"id":"new"}\n')
  for (const reader of [world.call, other.call]) {
    expect(succeed(await reader('GET', '/v1/desk/records/deal/a')).data).toEqual({ n: 1 })
    expect((await reader('GET', '/v1/desk/records/deal/new')).status).toBe(404)
    expect((await reader('GET', '/v1/desk/records/deal/b')).status).toBe(200)
  }
  expect(await rowsOf('desk')).toEqual(before)
})

test('the ETag of a record is that of the change-set, once there is one', { tags: 'full' }, async () => {
  const { id, call } = await proposer('desk')
  const write = (match: string | null) =>
    call('PATCH', '/v1/desk/records/deal/c', { data: { at: match } }, { 'if-match': match ?? '' })
  const first = (await call('GET', '/v1/desk/records/deal/c')).headers.get('etag')
  expect(first).toBe('"1"')
  const tag = (await write(first)).headers.get('etag')
  const [own = ''] = await ownOf(id)
  expect(tag).toBe(`"2-${own.slice('desk--'.length)}"`)
  succeed(await write((await call('GET', '/v1/desk/records/deal/c')).headers.get('etag')))
  expectFailure(await write(tag), 'CONFLICT')
  // Nobody else can use it.
  expectFailure(
    await world.call('PATCH', '/v1/desk/records/deal/c', { data: { n: 1 } }, { 'if-match': tag ?? '' }),
    'CONFLICT',
  )
})

test('first writes at once open one change-set', { tags: 'full' }, async () => {
  const { id, call } = await proposer('desk')
  const answers = await Promise.all(
    times(8, (n) => call('PUT', `/v1/desk/records/deal/at-once-${n}`, { data: { n } })),
  )
  for (const answer of answers) succeed(answer, 201)
  expect(await ownOf(id)).toHaveLength(1)
})

test('a read opens no change-set, and shows production', { tags: 'full' }, async () => {
  const { id, call } = await proposer('desk')
  expect(succeed(await call('GET', '/v1/desk/records/deal/a')).data).toEqual({ n: 1 })
  expect(await wholeOf(call)).toBe(await wholeOf(world.call))
  const { body } = await rpc(world, '/mcp/desk', 'tools/list', {}, { token: (await proposer('desk')).token })
  const names = body.result.tools.map(({ name }: { name: string }) => name)
  expect(names).toContain('create_deal')
  expect(await ownOf(id)).toEqual([])
})

test('a tool call of either kind is proposed', { tags: 'full' }, async () => {
  const { id, token } = await proposer('desk')
  const before = await rowsOf('desk')
  const made = await callTool(world, '/mcp/desk', 'create_deal', { n: 5 }, { token })
  expect(made.error).toBeUndefined()
  const patched = await callTool(
    world,
    '/mcp/desk',
    'update_record',
    { record_type: 'deal', id: 'c', data: { n: 6 } },
    { token },
  )
  expect(patched.error).toBeUndefined()
  expect(await ownOf(id)).toHaveLength(1)
  expect(await rowsOf('desk')).toEqual(before)
})

test('rights on other types are not proposed', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/desk/record-types/note', {}), 201)
  const { call } = await proposer('desk', { record_type: ['deal'] })
  expectFailure(await call('PUT', '/v1/desk/records/note/n', { data: {} }), 'FORBIDDEN')
  succeed(await call('PUT', '/v1/desk/records/deal/of-a-type', { data: {} }), 201)
})

test('it promotes nothing: an empty change-set of another stays open', { tags: 'full' }, async () => {
  const { call } = await proposer('desk')
  const { id } = succeed(
    await world.call('POST', '/v1/desk/preview', { name: 'empty', copy: 'on_write' }),
    201,
  )
  expectFailure(await call('POST', '/v1/desk/promote', { from: id }), 'FORBIDDEN')
  succeed(await world.call('PUT', `/v1/${id}/records/deal/late`, { data: {} }), 201)
  expectFailure(await call('POST', '/v1/desk/promote', { from: id }), 'FORBIDDEN')
})

describe('a token with rules', () => {
  const STAGES = { record_type: 'deal', operations: ['update'], fields: ['data.stage'], max: 3, per: 'hour' }
  const ruled = (...auto: object[]) => proposer('desk', { writes: { auto } })
  const seen = async (id: string) => succeed(await world.call('GET', `/v1/desk/records/deal/${id}`)).data
  const put = async (id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/desk/records/deal/${id}`, { data }), 201)

  test('writes directly what they allow, and proposes the rest', { tags: 'full' }, async () => {
    await put('r1', { stage: 'open', n: 1 })
    const { id, call } = await ruled(STAGES)
    succeed(await call('PATCH', '/v1/desk/records/deal/r1', { data: { stage: 'won' } }))
    expect(await seen('r1')).toEqual({ stage: 'won', n: 1 })
    expect(await ownOf(id)).toEqual([])
    succeed(await call('PATCH', '/v1/desk/records/deal/r1', { data: { stage: 'lost', n: 2 } }))
    succeed(await call('PUT', '/v1/desk/records/deal/r1-new', { data: { stage: 'open' } }), 201)
    expect(await seen('r1')).toEqual({ stage: 'won', n: 1 })
    expect((await world.call('GET', '/v1/desk/records/deal/r1-new')).status).toBe(404)
    expect(await ownOf(id)).toHaveLength(1)
    // What it has drafted is not written past the draft.
    succeed(await call('PATCH', '/v1/desk/records/deal/r1', { data: { stage: 'open' } }))
    expect(await seen('r1')).toEqual({ stage: 'won', n: 1 })
    expect(succeed(await call('GET', '/v1/desk/records/deal/r1')).data).toEqual({ stage: 'open', n: 2 })
  })

  test('judges by a property under the name that it has now', { tags: 'full' }, async () => {
    succeed(
      await world.call('PUT', '/v1/desk/record-types/lock', { json_schema: { properties: { by: {} } } }),
      201,
    )
    for (const [id, data] of Object.entries({ free: {}, held: { by: 'ann' } }))
      succeed(await world.call('PUT', `/v1/desk/records/lock/${id}`, { data }), 201)
    const filter = { field: 'previous.data.by', op: 'is_null' }
    const { call } = await ruled({ ...STAGES, record_type: 'lock', filter })
    const migration = [{ op: 'rename', field: 'data.by', to: 'data.holder' }]
    succeed(await world.call('PATCH', '/v1/desk/record-types/lock', { migration }))
    for (const id of ['free', 'held'])
      succeed(await call('PATCH', `/v1/desk/records/lock/${id}`, { data: { stage: 'won' } }))
    const now = async (id: string) => succeed(await world.call('GET', `/v1/desk/records/lock/${id}`)).data
    expect([await now('free'), await now('held')]).toEqual([{ stage: 'won' }, { holder: 'ann' }])
  })

  test('never writes more than they allow, with requests at once too', { tags: 'full' }, async () => {
    const ids = times(10, (n) => `bound-${n}`)
    for (const id of ids) await put(id, { stage: 'open' })
    const { call } = await ruled(STAGES)
    const answers = await Promise.all(
      ids.map((id) => call('PATCH', `/v1/desk/records/deal/${id}`, { data: { stage: 'won' } })),
    )
    for (const answer of answers) succeed(answer)
    const states = await Promise.all(ids.map(seen))
    expect(states.filter(({ stage }) => stage === 'won')).toHaveLength(3)
    for (const id of ids)
      expect(succeed(await call('GET', `/v1/desk/records/deal/${id}`)).data).toEqual({ stage: 'won' })
  })

  test('a batch and a cascade are judged by all that they do', { tags: 'full' }, async () => {
    for (const id of ['b1', 'b2']) await put(id, { stage: 'open', n: 1 })
    const { call } = await ruled({ ...STAGES, per: 'request' })
    const patch = (id: string, data: object) => ({ type: 'patch_record', record_type: 'deal', id, data })
    const mixed = [patch('b1', { stage: 'won' }), patch('b2', { n: 2 })]
    succeed(await call('POST', '/v1/desk/batch', { operations: mixed }))
    expect([await seen('b1'), await seen('b2')]).toEqual([
      { stage: 'open', n: 1 },
      { stage: 'open', n: 1 },
    ])
    const other = await ruled({ ...STAGES, per: 'request' })
    const stages = ['b1', 'b2'].map((id) => patch(id, { stage: 'won' }))
    succeed(await other.call('POST', '/v1/desk/batch', { operations: stages }))
    expect((await seen('b2')).stage).toBe('won')
  })

  test('a request of several mutations writes no more than a rule allows a request', {
    tags: 'full',
  }, async () => {
    const ids = times(3, (n) => `request-${n}`)
    for (const id of ids) await put(id, { stage: 'open' })
    const { token } = await ruled({ ...STAGES, max: 1, per: 'request' })
    const send = async (chosen: readonly string[]) => {
      const fields = chosen.map(
        (id, n) =>
          `f${n}: patchRecord(base: "desk", recordType: "deal", id: "${id}", merge: { stage: "won" }) { id }`,
      )
      const query = `mutation { ${fields.join(' ')} }`
      expect(succeed(await world.as(token)('POST', '/graphql', { query })).errors).toBeUndefined()
    }
    await send(ids)
    expect((await Promise.all(ids.map(seen))).map(({ stage }) => stage)).toEqual(['won', 'open', 'open'])
    await put('request-next', { stage: 'open' })
    await send(['request-next'])
    expect((await seen('request-next')).stage).toBe('won')
  })

  test('holds its filter against the record before and after', { tags: 'full' }, async () => {
    await put('f1', { stage: 'open' })
    await put('f2', { stage: 'closed' })
    const filter = { field: 'previous.data.stage', op: 'eq', value: 'open' }
    const { call } = await ruled({ ...STAGES, filter })
    for (const id of ['f1', 'f2'])
      succeed(await call('PATCH', `/v1/desk/records/deal/${id}`, { data: { stage: 'won' } }))
    expect([(await seen('f1')).stage, (await seen('f2')).stage]).toEqual(['won', 'closed'])
  })

  test('goes on with what it has proposed, as it sees it', { tags: 'full' }, async () => {
    await put('own-2', { stage: 'open' })
    const { call } = await ruled({ ...STAGES, operations: ['update'], fields: undefined, max: 100 })
    const key = { 'idempotency-key': 'own-1' }
    const body = { id: 'own-1', data: { stage: 'new' } }
    const made = succeed(await call('POST', '/v1/desk/records/deal', body, key), 201)
    // A retry is answered as the first, and not by what production holds of the key.
    expect(succeed(await call('POST', '/v1/desk/records/deal', body, key), 201)).toEqual(made)
    succeed(await call('PATCH', '/v1/desk/records/deal/own-1', { data: { n: 1 } }))
    const operations = [
      { type: 'patch_record', record_type: 'deal', id: 'own-1', data: { n: 2 } },
      { type: 'delete_record', record_type: 'deal', id: 'own-2' },
    ]
    succeed(await call('POST', '/v1/desk/batch', { operations }))
    const statements = `UPDATE deal SET data = data || '{"n": 3}' WHERE data ->> 'n' = '2'`
    const found = succeed(await call('POST', '/v1/desk/sql/execute', { statements }))
    expect(found).toMatchObject({ data: [{ count: 1 }], change_set: made.change_set })
    expect(succeed(await call('GET', '/v1/desk/records/deal/own-1')).data).toEqual({ stage: 'new', n: 3 })
    succeed(await call('POST', '/v1/desk/records/deal', { id: 'own-2', data: { stage: 'again' } }), 201)
    // What it takes back to the state of production is no write of production that changes nothing.
    succeed(await call('PUT', '/v1/desk/records/deal/own-2', { data: { stage: 'open' } }))
    expect(succeed(await call('GET', '/v1/desk/records/deal/own-2')).data).toEqual({ stage: 'open' })
    expect((await world.call('GET', '/v1/desk/records/deal/own-1')).status).toBe(404)
    expect(await seen('own-2')).toEqual({ stage: 'open' })
    // By its pair as well, where the rule would let it be created directly.
    const creator = await ruled({ ...STAGES, operations: ['create'], fields: undefined, max: 1 })
    const upsert = (external_id: string, data: object) => ({
      operations: [{ type: 'upsert_record', record_type: 'deal', external_id, data }],
    })
    succeed(await creator.call('POST', '/v1/desk/batch', upsert('pair-0', { n: 0 })))
    for (const n of [1, 2]) succeed(await creator.call('POST', '/v1/desk/batch', upsert('pair-1', { n })))
    await world.database.query('DELETE FROM plinth.automatic_write WHERE token_id = $1', [creator.id])
    const again = succeed(await creator.call('POST', '/v1/desk/batch', upsert('pair-1', { n: 3 })))
    expect(again).toMatchObject({ data: [{ operation: 'updated' }], change_set: expect.any(String) })
    const filter = { field: 'external_id', op: 'in', value: ['pair-0', 'pair-1'] }
    const there = succeed(await world.call('POST', '/v1/desk/records/deal/query', { filter })).data
    expect(there).toMatchObject([{ external_id: 'pair-0' }])
    // Of what it has no draft, the rules let pass.
    await put('own-3', { stage: 'open' })
    const direct = succeed(await call('PATCH', '/v1/desk/records/deal/own-3', { data: { stage: 'won' } }))
    expect(direct).not.toHaveProperty('change_set')
    expect(await seen('own-3')).toEqual({ stage: 'won' })
  })

  test('deletes without a plan: by a rule, or as a proposal', { tags: 'full' }, async () => {
    const many = `DELETE FROM deal WHERE id LIKE 'plan-%'`
    for (const id of ['plan-1', 'plan-2', 'plan-3']) await put(id, {})
    const proposes = await ruled(STAGES)
    const proposed = succeed(await proposes.call('POST', '/v1/desk/sql/execute', { statements: many }))
    expect(proposed).toMatchObject({ data: [{ count: 3 }], change_set: expect.any(String) })
    await seen('plan-1')
    const remover = await ruled({ ...STAGES, operations: ['delete'], max: 3 })
    const ends = { source_record_types: ['deal'], target_record_types: ['deal'], on_delete: 'cascade' }
    succeed(await world.call('PUT', '/v1/desk/relationship-types/below', ends), 201)
    const relationships = [{ rel_type: 'below', record_type: 'deal', id: 'tree' }]
    for (const more of [{ id: 'tree' }, { id: 'leaf', relationships }])
      succeed(await world.call('POST', '/v1/desk/records/deal', { data: {}, ...more }), 201)
    const args = { record_type: 'deal', id: 'tree' }
    const gone = await callTool(world, '/mcp/desk', 'delete_record', args, { token: remover.token })
    expect(gone.body).toMatchObject({ deleted: true, change_set: expect.any(String) })
    await seen('leaf')
    const other = await ruled({ ...STAGES, operations: ['delete'], max: 3 })
    const done = succeed(await other.call('POST', '/v1/desk/sql/execute', { statements: many }))
    expect(done).not.toHaveProperty('change_set')
    for (const id of ['plan-1', 'plan-2', 'plan-3'])
      expect((await world.call('GET', `/v1/desk/records/deal/${id}`)).status).toBe(404)
  })

  type Agent = { readonly call: Call; readonly token: string }
  const id = 'dry'
  const patched = (data: object) => [{ type: 'patch_record', record_type: 'deal', id, data }]
  const inGraphQL = (data: object) => JSON.stringify(data).replace(/"(\w+)":/g, '$1: ')
  const SURFACES: readonly [string, (agent: Agent, data: object, isDry: boolean) => Promise<unknown>][] = [
    [
      'REST',
      ({ call }, data, isDry) => call('PATCH', `/v1/desk/records/deal/${id}?dry_run=${isDry}`, { data }),
    ],
    [
      'a batch',
      ({ call }, data, isDry) =>
        call('POST', `/v1/desk/batch?dry_run=${isDry}`, { operations: patched(data) }),
    ],
    [
      'SQL',
      ({ call }, data, isDry) =>
        call('POST', `/v1/desk/sql/execute?dry_run=${isDry}`, {
          statements: `UPDATE deal SET data = data || '${JSON.stringify(data)}' WHERE id = '${id}'`,
        }),
    ],
    [
      'GraphQL',
      ({ call }, data, isDry) =>
        call('POST', '/graphql', {
          query: `mutation { patchRecord(base: "desk", recordType: "deal", id: "${id}", merge: ${inGraphQL(data)}, dryRun: ${isDry}) { id } }`,
        }),
    ],
    [
      'a tool',
      ({ token }, data, isDry) =>
        callTool(
          world,
          '/mcp/desk',
          'update_record',
          { record_type: 'deal', id, data, dry_run: isDry },
          { token },
        ),
    ],
  ]
  test.each(SURFACES)(
    '%s: a dry run is judged as the write, and uses up nothing',
    { tags: 'full' },
    async (_, write) => {
      const start = { data: { stage: 'open', n: 1 } }
      expect((await world.call('PUT', `/v1/desk/records/deal/${id}`, start)).status).toBeLessThan(300)
      const agent = await ruled({ ...STAGES, max: 1 })
      const goesTo = async (data: object, isDry: boolean) =>
        /desk--[\w-]+/.exec(JSON.stringify(await write(agent, data, isDry)))?.[0]
      for (const _ of times(2, () => null)) expect(await goesTo({ stage: 'won' }, true)).toBeUndefined()
      const proposed = await goesTo({ n: 2 }, true)
      expect(proposed).toMatch(/^desk--p-/)
      expect(await ownOf(agent.id)).toEqual([])
      expect(await seen(id)).toEqual({ stage: 'open', n: 1 })
      expect(await goesTo({ stage: 'won' }, false)).toBeUndefined()
      expect(await seen(id)).toEqual({ stage: 'won', n: 1 })
      // The rule is used up.
      expect(await goesTo({ stage: 'lost' }, true)).toBe(proposed)
      expect(await goesTo({ n: 2 }, false)).toBe(proposed)
      expect(await ownOf(agent.id)).toEqual([proposed])
      expect(await goesTo({ n: 3 }, true)).toBe(proposed)
      expect(await seen(id)).toEqual({ stage: 'won', n: 1 })
    },
  )

  test('a rule lets nothing pass on types that its grant does not name', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/desk/record-types/memo', {}), 201)
    const anything = { ...STAGES, record_type: '*', operations: ['create'], fields: undefined, max: 100 }
    const { call } = await world.newToken([
      { base: 'desk', record_type: ['deal'], permission: 'write', writes: { auto: [anything] } },
      { base: 'desk', environment: 'preview', permission: 'write' },
      { base: 'desk', permission: 'read' },
    ])
    const operations = [{ type: 'create_record', record_type: 'memo', id: 'm1', data: {} }]
    succeed(await call('POST', '/v1/desk/batch', { operations }))
    const statements = `INSERT INTO memo (id) VALUES ('m2')`
    succeed(await call('POST', '/v1/desk/sql/execute', { statements }))
    const query = `mutation { createRecord(base: "desk", recordType: "memo", id: "m3", data: {}) { id } }`
    expect(succeed(await call('POST', '/graphql', { query })).errors).toBeUndefined()
    expect(succeed(await world.call('GET', '/v1/desk/records/memo')).data).toEqual([])
    expect(succeed(await call('GET', '/v1/desk/records/memo')).data).toHaveLength(3)
    succeed(await call('PUT', '/v1/desk/records/deal/of-the-grant', { data: {} }), 201)
    await seen('of-the-grant')
  })

  test('no rule lets it write to an external source', { tags: 'full' }, async () => {
    const upstream = await openUpstream()
    const sent: string[] = []
    upstream.on(/^\/people/, (asked, response) => {
      sent.push(`${asked.method} ${asked.url.pathname}`)
      json({ id: 'p1' }, 201)(asked, response)
    })
    const hub = {
      ...{ name: 'hub', field_mapping: { to_plinth: { external_id: '$.id' } } },
      create: { url: `${upstream.url}/people` },
      update: { url: `${upstream.url}/people/{{external_id}}`, method: 'PATCH' },
    }
    try {
      succeed(await world.call('PUT', '/v1/desk/record-types/person', { sources: [hub] }), 201)
      const anything = { record_type: '*', operations: ['create', 'update'], max: 100, per: 'hour' }
      const { call } = await ruled(anything)
      const body = { external_source: 'hub', data: { name: 'Ada' } }
      for (const [method, path] of [
        ['POST', 'person'],
        ['PUT', 'person/p1'],
        ['PATCH', 'person/p1'],
      ] as const)
        expectDetail(await call(method, `/v1/desk/records/${path}`, body), 403, {
          code: 'not_in_change_sets',
        })
      expect(sent).toEqual([])
      succeed(await world.call('POST', '/v1/desk/records/person', body), 201)
      expect(sent).toEqual(['POST /people'])
    } finally {
      await upstream.close()
    }
  })

  test.each([
    ['filter', { ...STAGES, filter: { field: 'nothing', op: 'is', value: 1 } }],
    ['max', { ...STAGES, max: 0 }],
    ['per', { ...STAGES, per: 'month' }],
  ])('a rule with a wrong %s is refused by its path', async (name, rule) => {
    const grant = { base: 'desk', record_type: '*', environment: '*', permission: 'write' }
    const body = { name: 'x', grants: [{ ...grant, writes: { auto: [rule] } }] }
    const { details } = expectFailure(await world.call('POST', '/v1/tokens', body), 'VALIDATION_ERROR')
    expect(details[0].path).toContain(name)
  })
})

describe('a grant that proposes', () => {
  const refused: [string, object[], string][] = [
    ['manages', [{ permission: 'manage' }], '/grants/0/permission'],
    ['reads', [{ permission: 'read' }], '/grants/0/permission'],
    ['is of production only', [{ environment: 'production' }], '/grants/0/environment'],
    ['is beside one that writes directly', [{}, { writes: 'direct' }], '/grants/1/writes'],
    ['is beside one for all bases', [{}, { base: '*', writes: undefined }], '/grants/1/writes'],
  ]
  test.each(refused)('is refused when it %s', async (_, grants, path) => {
    const all = grants.map((grant) => ({
      ...{ base: 'desk', record_type: '*', environment: '*', permission: 'write', writes: 'propose' },
      ...grant,
    }))
    const { details } = expectFailure(
      await world.call('POST', '/v1/tokens', { name: 'x', grants: all }),
      'VALIDATION_ERROR',
    )
    expect(details.map((each: { path: string }) => each.path)).toContain(path)
  })

  test('stands beside one that reads, and beside one of another base', async () => {
    const grants = [
      { base: 'desk', record_type: '*', environment: '*', permission: 'write', writes: 'propose' },
      { base: '*', record_type: '*', environment: '*', permission: 'read' },
      { base: 'shop', record_type: '*', environment: '*', permission: 'write' },
    ]
    const { token } = succeed(await world.call('POST', '/v1/tokens', { name: 'x', grants }), 201)
    const call = world.as(token)
    succeed(await call('PUT', '/v1/shop/records/task/direct', { data: {} }), 201)
    expect((await world.call('GET', '/v1/shop/records/task/direct')).status).toBe(200)
    succeed(await call('PUT', '/v1/desk/records/deal/proposed', { data: {} }), 201)
    expect((await world.call('GET', '/v1/desk/records/deal/proposed')).status).toBe(404)
  })
})

/** Requests of a token that writes by proposals only, to each route that writes. */
const writing = ROUTES.filter(({ method, path }) => method !== 'GET' && path.startsWith('/:base_id/'))

test('no route writes to production for it', { tags: 'full' }, async () => {
  const { call } = await proposer('shop')
  const before = await rowsOf('shop')
  for (const { method, path } of writing) await send(call, method, path)
  expect(await rowsOf('shop')).toEqual(before)
})

async function send(call: Call, method: string, pattern: string): Promise<void> {
  const { query, body } = routeSamples('shop')[`${method} ${pattern}`] ?? {}
  const values = routeValues(pattern, filled)
  const path = pattern.replace(/:([a-z_]+)/g, (_, name: string) => values[name] ?? 'absent')
  const answer = await call(method, `/v1${path}${query ? `?${query}` : ''}`, body)
  expect(answer.status, `${method} ${pattern} ${answer.text}`).toBeLessThan(500)
}
