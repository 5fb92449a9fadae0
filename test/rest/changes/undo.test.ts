import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import type { Answer, Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

let serial = 0
const named = (name: string) => `${name}-${++serial}`
const batch = async (
  operations: object[],
  request = named('batch'),
  call: Call = world.call,
): Promise<string> => {
  succeed(await call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': request }))
  return request
}
const undo = (body: object, call: Call = world.call, query = ''): Promise<Answer> =>
  call('POST', `/v1/crm/revert${query}`, body, { 'x-request-id': named('undo') })
const get = (type: string, id: string) => world.call('GET', `/v1/crm/records/${type}/${id}`)
const put = async (
  type: string,
  id: string,
  data: object,
  call: Call = world.call,
  more: object = {},
): Promise<string> => {
  const request = named('put')
  const answer = await call(
    'PUT',
    `/v1/crm/records/${type}/${id}`,
    { data, ...more },
    { 'x-request-id': request },
  )
  expect(answer.status, answer.text).toBeLessThan(300)
  return request
}
const changesOf = async (query: string): Promise<Body[]> =>
  succeed(await world.call('GET', `/v1/crm/changes?${query}`)).data
const create = (type: string, id: string, data: object = {}) => ({
  type: 'create_record',
  record_type: type,
  id,
  data,
})
const link = (
  id: string,
  rel_type: string,
  [source_record_type, source_id]: string[],
  [target_record_type, target_id]: string[],
) => ({
  ...{ type: 'upsert_relationship', id, rel_type },
  ...{ source_record_type, source_id, target_record_type, target_id },
})

describe('undo of a request', () => {
  test('reverts its creates, updates, cancels and deletes, each with its cause', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    for (const id of ['a', 'b', 'c']) await put(type, id, { n: 1 })
    const before = await Promise.all(['a', 'b', 'c'].map(async (id) => (await get(type, id)).body))
    const request = await batch([
      { type: 'patch_record', record_type: type, id: 'a', data: { n: 2, more: true } },
      { type: 'cancel_record', record_type: type, id: 'b' },
      { type: 'delete_record', record_type: type, id: 'c' },
      create(type, 'd', { n: 4 }),
    ])
    const made = await changesOf(`request_id=${request}`)
    const done = succeed(await undo({ request_id: request }))
    expect(done).toMatchObject({ count: 4, skipped: [] })
    expect(done.data.map(({ reverts }: Body) => reverts)).toEqual(made.map(({ seq }) => seq).reverse())
    for (const [i, id] of ['a', 'b', 'c'].entries()) {
      const now = (await get(type, id)).body
      expect(now).toMatchObject({ data: before[i].data, status: 'active', created_at: before[i].created_at })
    }
    expect((await get(type, 'd')).status).toBe(404)
    const inverse = await changesOf(`request_id=${done.request_id}`)
    const causes = new Map(inverse.map(({ id, cause, operation }) => [id, [cause, operation]]))
    const seqs = new Map(made.map(({ id, seq }) => [id, String(seq)]))
    expect(causes).toEqual(
      new Map([
        ['a', [seqs.get('a'), 'update']],
        ['b', [seqs.get('b'), 'restore']],
        ['c', [seqs.get('c'), 'restore']],
        ['d', [seqs.get('d'), 'delete']],
      ]),
    )
    const [group] = succeed(
      await world.call('GET', `/v1/crm/changes?group=request&request_id=${request}`),
    ).data
    expect(group.undone_by).toBe(done.request_id)
  })

  test('of a request that was undone writes nothing; an undo of the undo does it again', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 1 })
    const request = await put(type, 'a', { n: 2 })
    const first = succeed(await undo({ request_id: request }))
    expect((await get(type, 'a')).body.data).toEqual({ n: 1 })
    expect(succeed(await undo({ request_id: request }))).toMatchObject({ count: 0, data: [] })
    const again = succeed(await undo({ request_id: first.request_id }))
    expect((await get(type, 'a')).body.data).toEqual({ n: 2 })
    succeed(await undo({ request_id: again.request_id }))
    expect((await get(type, 'a')).body.data).toEqual({ n: 1 })
    succeed(await undo({ request_id: first.request_id }))
    // Its undo was taken back, so it stands, and is undone.
    expect((await get(type, 'a')).body).toMatchObject({ data: { n: 2 }, version: 6 })
  })

  test('a dry run shows the plan and changes nothing', async () => {
    const type = await world.newType()
    const request = await batch([create(type, 'a'), create(type, 'b')])
    const plan = succeed(await undo({ request_id: request }, world.call, '?dry_run=true'))
    expect(plan).toMatchObject({
      count: 2,
      dry_run: true,
      by: [{ kind: 'record', record_type: type, operation: 'delete', count: 2 }],
    })
    expect((await get(type, 'a')).status).toBe(200)
    expect(await changesOf(`request_id=${plan.request_id}`)).toEqual([])
  })

  test('brings back a deletion with all that it cascaded to', { tags: 'full' }, async () => {
    const [owner, part] = [await world.newType(), await world.newType()]
    const rel = named('owns')
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, { on_delete: 'cascade' }), 201)
    await batch([
      create(owner, 'o', { name: 'owner' }),
      create(part, 'p1', { n: 1 }),
      create(part, 'p2', { n: 2 }),
      link(named('l'), rel, [part, 'p1'], [owner, 'o']),
      link(named('l'), rel, [part, 'p2'], [owner, 'o']),
    ])
    const links = async () =>
      succeed(await world.call('GET', `/v1/crm/records/${owner}/o/related?direction=incoming`))
        .data.map(({ record, relationship }: Body) => [record.id, relationship.id])
        .sort()
    const before = await links()
    const request = named('delete')
    succeed(await world.call('DELETE', `/v1/crm/records/${owner}/o`, undefined, { 'x-request-id': request }))
    expect((await get(part, 'p1')).status).toBe(404)
    const done = succeed(await undo({ request_id: request }))
    expect(done.count).toBe(5)
    expect((await get(part, 'p2')).body.data).toEqual({ n: 2 })
    expect(await links()).toEqual(before)
    const causes = (await changesOf(`request_id=${done.request_id}`)).map(({ cause }) => cause)
    expect(new Set(causes).size).toBe(5)
  })

  test('takes back records with their links, also where a link restricts deletion', async () => {
    const type = await world.newType()
    const rel = named('needs')
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, { on_delete: 'restrict' }), 201)
    const request = await batch([
      create(type, 'a'),
      create(type, 'b'),
      link(named('l'), rel, [type, 'a'], [type, 'b']),
      { type: 'patch_record', record_type: type, id: 'b', data: { n: 1 } },
    ])
    expect(succeed(await undo({ request_id: request })).count).toBe(4)
    expect((await get(type, 'b')).status).toBe(404)
  })

  test('moves pairs and unique values back in order', { tags: 'full' }, async () => {
    const type = await world.newType({
      json_schema: { type: 'object', properties: { email: { type: 'string' } } },
      indexes: [{ fields: ['data.email'], unique: true }],
    })
    const pair = (external_id: string) => ({ external_id, external_source: 's' })
    await put(type, 'a', { email: 'x' }, world.call, pair('p'))
    await put(type, 'b', { email: 'y' }, world.call, pair('q'))
    const write = (id: string, email: string, external_id: string) => ({
      ...{ type: 'upsert_record', record_type: type, id, data: { email } },
      ...pair(external_id),
    })
    const { id: actor, call } = await world.newToken([{ permission: 'write' }])
    for (const each of [write('a', 'tmp', 'tmp'), write('b', 'x', 'p'), write('a', 'y', 'q')])
      await put(type, each.id, each.data, call, pair(each.external_id))
    const since = new Date(Date.now() - 60_000).toISOString()
    const done = succeed(await undo({ actor, since }))
    expect(done.count).toBeGreaterThan(0)
    expect((await get(type, 'a')).body).toMatchObject({ data: { email: 'x' }, external_id: 'p' })
    expect((await get(type, 'b')).body).toMatchObject({ data: { email: 'y' }, external_id: 'q' })
  })

  test('reverts configuration together with the records that depend on it', { tags: 'full' }, async () => {
    const type = await world.newType({
      json_schema: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
    })
    await put(type, 'a', { n: 1 })
    const { id: actor, call } = await world.newToken([{ permission: 'manage' }])
    const since = new Date(Date.now() - 1000).toISOString()
    const schema = { type: 'object', properties: { n: { type: 'number' }, s: { type: 'string' } } }
    succeed(await call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: schema }))
    await put(type, 'a', { n: 1, s: 'new' }, call)
    const made = named('type')
    succeed(await call('PUT', `/v1/crm/record-types/${made}`, {}), 201)
    await put(made, 'x', {}, call)
    expect(succeed(await undo({ actor, since })).count).toBe(4)
    expect((await get(type, 'a')).body.data).toEqual({ n: 1 })
    const { json_schema } = succeed(await world.call('GET', `/v1/crm/record-types/${type}`))
    expect(json_schema.additionalProperties).toBe(false)
    expect((await world.call('GET', `/v1/crm/record-types/${made}`)).status).toBe(404)
  })
})

describe('conflicts', () => {
  test('takes configuration back that one push moved between resources', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/moves', {}), 201)
    succeed(await world.call('POST', '/v1/moves/preview', { name: 'dev' }), 201)
    const config = async () => succeed(await world.call('GET', '/v1/moves--dev/config')).hash
    const push = async (lists: object) => {
      const request = named('push')
      const file = { plinth: 1, base: 'moves', ...lists }
      const headers = { 'x-request-id': request }
      succeed(await world.call('PUT', '/v1/moves--dev/config?prune=true', file, headers))
      return request
    }
    const undone = async (request_id: string) =>
      succeed(await world.call('POST', '/v1/moves--dev/revert', { request_id }))
    const deal = { record_type: 'deal', operations: ['get'] }
    const types = {
      record_types: [{ id: 'deal' }, { id: 'note' }],
      relationship_types: [{ id: 'about', source_record_types: ['note'], target_record_types: ['deal'] }],
    }
    const states = [
      {
        toolsets: [{ id: 'common', tools: [deal] }],
        endpoints: [{ id: 'desk', toolsets: ['common'] }],
        ...types,
      },
      {
        toolsets: [{ id: 'common', tools: [] }],
        endpoints: [{ id: 'desk', toolsets: ['common'], tools: [deal] }],
        ...types,
      },
      {
        ...{ record_types: [{ id: 'task' }], relationship_types: [], toolsets: [] },
        endpoints: [{ id: 'desk', tools: [{ record_type: 'task', operations: ['get'] }] }],
      },
    ]
    const [first = {}, ...others] = states
    for (const before of [first, ...others])
      for (const after of states.filter((state) => state !== before)) {
        await push(before)
        const hash = await config()
        await undone(await push(after))
        expect(await config()).toBe(hash)
      }
    await push(first)
    const all = await config()
    await undone(await push({ record_types: [], relationship_types: [], toolsets: [], endpoints: [] }))
    expect(await config()).toBe(all)
  })

  test('of a promotion is refused as a whole, and says to roll it back', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/promoted', {}), 201)
    succeed(await world.call('POST', '/v1/promoted/preview', { name: 'dev' }), 201)
    for (const id of ['one', 'two'])
      succeed(await world.call('PUT', `/v1/promoted--dev/record-types/${id}`, {}), 201)
    const request = named('promote')
    const headers = { 'x-request-id': request }
    succeed(await world.call('POST', '/v1/promoted/promote', { from: 'promoted--dev' }, headers))
    const revert = (more: object = {}) =>
      world.call('POST', '/v1/promoted/revert', { request_id: request, ...more })
    const [fault] = expectFailure(await revert(), 'CONFLICT').details
    expect(fault.message).toMatch(/Roll the promotion back by its id\.$/)
    const { skipped } = succeed(await revert({ on_conflict: 'skip' }))
    expect(skipped.map(({ kind }: Body) => kind).sort()).toEqual(['promotion', 'record_type', 'record_type'])
    succeed(await world.call('GET', '/v1/promoted/record-types/one'))
  })

  test('a change that others followed is undone after theirs, as the 409 says', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 1 })
    const request = await batch([{ type: 'patch_record', record_type: type, id: 'a', data: { n: 2 } }])
    await put(type, 'a', { n: 3 })
    const [later] = (await changesOf(`record_type=${type}&id=a&order=desc&limit=1`)) as [Body]
    const { message } = expectFailure(await undo({ request_id: request }), 'CONFLICT')
    expect(message).toContain('on_conflict=force undoes the changes that came after, too.')
    succeed(await undo({ request_id: later.request_id }))
    succeed(await undo({ request_id: request }))
    expect(succeed(await get(type, 'a')).data).toEqual({ n: 1 })
  })

  test('a record that others changed since is a 409 that lists it, and nothing is undone', async () => {
    const type = await world.newType()
    const request = await batch([create(type, 'a', { n: 1 }), create(type, 'b', { n: 1 })])
    await put(type, 'b', { n: 2 })
    const [later] = (await changesOf(`record_type=${type}&id=b&order=desc&limit=1`)) as [Body]
    const { details } = expectFailure(await undo({ request_id: request }), 'CONFLICT')
    expect(details).toHaveLength(1)
    expect(details[0]).toMatchObject({ code: 'overtaken', expected: later.seq })
    expect(details[0].message).toContain('"b"')
    expect((await get(type, 'a')).status).toBe(200)
    const done = succeed(await undo({ request_id: request, on_conflict: 'skip' }))
    expect(done.count).toBe(1)
    expect(done.skipped).toEqual([
      expect.objectContaining({ record_type: type, id: 'b', code: 'overtaken', overtaken_by: later.seq }),
    ])
    expect((await get(type, 'a')).status).toBe(404)
    expect((await get(type, 'b')).body.data).toEqual({ n: 2 })
  })

  test('a record that others linked since is not deleted', { tags: 'full' }, async () => {
    const type = await world.newType()
    const rel = named('later')
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, { on_delete: 'cascade' }), 201)
    const request = await batch([create(type, 'a'), create(type, 'b')])
    await put(type, 'other', {})
    await batch([link(named('l'), rel, [type, 'other'], [type, 'a'])])
    const { details } = expectFailure(await undo({ request_id: request }), 'CONFLICT')
    expect(details[0]).toMatchObject({ code: 'linked' })
    expect(succeed(await undo({ request_id: request, on_conflict: 'skip' }))).toMatchObject({
      count: 1,
      skipped: [{ id: 'a', code: 'linked' }],
    })
    expect((await get(type, 'other')).status).toBe(200)
  })

  test('a link stays deleted where another one has its place, which stays as it is', async () => {
    const type = await world.newType()
    const rel = named('rel')
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, {}), 201)
    const [former, later] = [named('l'), named('l')]
    const linked = (id: string, n: number) => ({ ...link(id, rel, [type, 'a'], [type, 'b']), data: { n } })
    await batch([create(type, 'a'), create(type, 'b'), linked(former, 1)])
    const request = await batch([{ type: 'delete_relationship', id: former }])
    await batch([linked(later, 2)])
    const [change] = await changesOf(`request_id=${request}`)
    const refused = { id: former, code: 'refused', message: expect.stringContaining('are linked by') }
    expect(succeed(await undo({ request_id: request, on_conflict: 'skip' }))).toMatchObject({
      ...{ count: 0, data: [] },
      skipped: [refused],
    })
    expectFailure(await undo({ request_id: request }), 'CONFLICT')
    expectFailure(await world.call('POST', `/v1/crm/changes/${change.seq}/revert`), 'CONFLICT')
    const kept = succeed(await world.call('GET', `/v1/crm/relationships/${later}`))
    expect(kept).toMatchObject({ version: 1, data: { n: 2 } })
  })

  test('a state that the schema of today refuses is a conflict', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 'text' })
    const request = await put(type, 'a', { n: 1 })
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: schema }))
    const { details } = expectFailure(await undo({ request_id: request }), 'CONFLICT')
    expect(details[0].code).toBe('refused')
  })
})

describe('selection', () => {
  test('an actor needs a time, and something must be selected', async () => {
    expectFault(await undo({}), '/request_id')
    expectFault(await undo({ actor: 'x' }), '/since')
    expectFailure(await undo({ request_id: 'none' }), 'NOT_FOUND')
    expectFailure(await world.call('POST', '/v1/absent/revert', { request_id: 'x' }), 'NOT_FOUND')
    expectFault(await undo({ request_id: 'x', on_conflict: 'no' }), '/on_conflict')
  })

  test('takes back what one actor did since a time, and not what others did', { tags: 'full' }, async () => {
    const type = await world.newType()
    const [one, other] = [
      await world.newToken([{ permission: 'write' }]),
      await world.newToken([{ permission: 'write' }]),
    ]
    await put(type, 'before', { n: 0 }, one.call)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const since = new Date().toISOString()
    await put(type, 'mine', {}, one.call)
    await put(type, 'theirs', {}, other.call)
    await put(type, 'before', { n: 1 }, one.call)
    await put(type, 'before', { n: 2 }, one.call)
    expect(succeed(await undo({ actor: one.id, since, record_type: type })).count).toBe(3)
    expect((await get(type, 'before')).body.data).toEqual({ n: 0 })
    expect((await get(type, 'mine')).status).toBe(404)
    expect((await get(type, 'theirs')).status).toBe(200)
    expect(succeed(await undo({ actor: other.id, since: '15m', until: '0s' })).count).toBe(1)
    expect((await get(type, 'theirs')).status).toBe(404)
    expectFault(await undo({ actor: other.id, since: 'soon' }), '/since')
  })

  test('needs write on all of it, and ignores what the token cannot see', { tags: 'full' }, async () => {
    const [open, closed] = [await world.newType(), await world.newType()]
    const request = await batch([create(open, 'a'), create(closed, 'b')])
    const reader = await world.newToken([{ record_type: open, permission: 'read' }])
    expectFailure(await undo({ request_id: request }, reader.call), 'FORBIDDEN')
    const writer = await world.newToken([{ record_type: open, permission: 'write' }])
    const done = await undo({ request_id: request }, writer.call)
    expect(succeed(done).count).toBe(1)
    expect(done.text).not.toContain(`"${closed}"`)
    expect((await get(closed, 'b')).status).toBe(200)
  })

  test('many changes of one record are reverted one by one, newest first, and leave the state before them', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 0 })
    const before = (await get(type, 'a')).body
    const change = (n: number) => ({ type: 'patch_record', record_type: type, id: 'a', data: { n } })
    const steps = Array.from({ length: 240 }, (_, n) => change(n + 1))
    const cancel = { type: 'cancel_record', record_type: type, id: 'a' }
    const request = await batch([...steps.slice(0, 120), cancel, ...steps.slice(120)])
    const made = await changesOf(`request_id=${request}&limit=1000`)
    const done = succeed(await undo({ request_id: request }))
    expect(done.count).toBe(241)
    const { body } = await get(type, 'a')
    expect(body).toMatchObject({ data: { n: 0 }, status: 'active', version: 1 + 2 * 241 })
    expect(body.created_at).toBe(before.created_at)
    const reverts = await changesOf(`request_id=${done.request_id}&limit=1000`)
    expect(reverts.map(({ cause }) => cause)).toEqual(made.map(({ seq }) => String(seq)).reverse())
    expect(reverts.map(({ version }) => version)).toEqual(made.map((_, i) => 243 + i))
    expect(reverts.filter(({ operation }) => operation === 'restore')).toHaveLength(1)
    expect(reverts.at(-1)?.['diff']).toEqual([{ op: 'replace', path: '/data/n', value: 0 }])
    expect(succeed(await undo({ request_id: done.request_id })).count).toBe(241)
    expect((await get(type, 'a')).body).toMatchObject({ data: { n: 240 }, status: 'cancelled' })
  })

  test('a state in between that the schema of today refuses is a conflict, and nothing is undone', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 0 })
    const { id: actor, call } = await world.newToken([{ permission: 'write' }])
    for (const n of [1, 'text', 3]) await put(type, 'a', { n }, call)
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: schema }))
    const since = new Date(Date.now() - 60_000).toISOString()
    const { details } = expectFailure(await undo({ actor, since }), 'CONFLICT')
    expect(details[0].code).toBe('refused')
    expect((await get(type, 'a')).body).toMatchObject({ data: { n: 3 }, version: 4 })
  })

  test('more than 10,000 changes are refused, and the error names the limit', { tags: 'full' }, async () => {
    await world.database.query(
      `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
       SELECT 'crm', 'record', 'gone', 'r' || n, 'create', 1, '{}', 'x', 'system', 'ten-thousand' FROM generate_series(1, 10001) n`,
    )
    const { details } = expectFailure(await undo({ request_id: 'ten-thousand' }), 'VALIDATION_ERROR')
    expect(details).toEqual([expect.objectContaining({ code: 'too_many', expected: 10_000 })])
  })

  test('a record that others changed very often since is a conflict like any other', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    const request = await batch([create(type, 'a'), create(type, 'b')])
    await world.database.query(
      `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
       SELECT 'crm', 'record', $1, 'a', 'update', n, '{}', 'x', 'system', 'often' FROM generate_series(2, 12000) n`,
      [type],
    )
    const done = succeed(await undo({ request_id: request, on_conflict: 'skip' }))
    expect(done).toMatchObject({ count: 1, skipped: [{ id: 'a', code: 'overtaken' }] })
    expect((await get(type, 'b')).status).toBe(404)
  })

  test('a thousand changes of one batch are undone together', { tags: 'full' }, async () => {
    const type = await world.newType()
    const ids = Array.from({ length: 1000 }, (_, i) => `r${i}`)
    await batch(ids.map((id) => create(type, id, { n: 1 })))
    const request = await batch(
      ids.map((id) => ({ type: 'patch_record', record_type: type, id, data: { n: 2 } })),
    )
    expect(succeed(await undo({ request_id: request })).count).toBe(1000)
    const { data } = succeed(
      await world.call('POST', `/v1/crm/records/${type}/aggregate`, {
        aggregations: [{ fn: 'count' }],
        filter: { field: 'data.n', op: 'eq', value: 1 },
      }),
    )
    expect(data[0].count).toBe(1000)
  })
})

test('an undo that races with writers undoes all or reports a conflict, and loses no write', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  for (let round = 0; round < 6; round++) {
    const ids = ['a', 'b', 'c'].map((id) => `${id}${round}`)
    for (const id of ids) await put(type, id, { n: 0 })
    const request = await batch(
      ids.map((id) => ({ type: 'patch_record', record_type: type, id, data: { n: 1 } })),
    )
    const [undone, written] = await Promise.all([
      undo({ request_id: request }),
      world.call('PATCH', `/v1/crm/records/${type}/${ids[1]}`, { data: { other: round } }),
    ])
    expect(written.status).toBe(200)
    const values = await Promise.all(ids.map(async (id) => (await get(type, id)).body.data))
    expect(values[1].other).toBe(round)
    if (undone.status === 200) expect(values.map(({ n }) => n)).toEqual([0, 0, 0])
    else {
      expectFailure(undone, 'CONFLICT')
      expect(values.map(({ n }) => n)).toEqual([1, 1, 1])
    }
  }
})

test('an undo beside which another writer brings the record back says what overtook it', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  await put(type, 'a', { n: 1 })
  const request = await batch([{ type: 'delete_record', record_type: type, id: 'a' }])
  const other = await holdOpen(world.database)
  // The undo has made its plan, and is to write.
  await other.query('LOCK TABLE plinth.record IN SHARE MODE')
  const undone = undo({ request_id: request })
  await expect.poll(() => other.waiting()).toHaveLength(1)
  await other.query(
    `WITH w AS (
       INSERT INTO plinth.record (base_id, record_type, id, data, version) VALUES ('crm', $1, 'a', '{"n":2}', 3) RETURNING *)
     INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, created_at, actor_name, via, request_id)
     SELECT base_id, 'record', record_type, id, 'create', version, data, created_at, 'other', 'rest', 'other' FROM w`,
    [type],
  )
  await other.end('COMMIT')
  expect(expectFailure(await undone, 'CONFLICT').details).toMatchObject([{ code: 'overtaken' }])
  expect(succeed(await get(type, 'a'))).toMatchObject({ version: 3, data: { n: 2 } })
})

test('an undo beside which another writer makes the link again leaves that one as it is', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const [rel, id] = [named('rel'), named('l')]
  succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, {}), 201)
  await batch([create(type, 'a'), create(type, 'b'), link(id, rel, [type, 'a'], [type, 'b'])])
  const request = await batch([{ type: 'delete_relationship', id }])
  const other = await holdOpen(world.database)
  await other.query(
    `WITH w AS (
       INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row,
         target_record_type, target_id, target_row, data, version, one_target, one_source)
       SELECT 'crm', $1, $2, $3, s.id, s.row_no, $3, t.id, t.row_no, '{"n":2}', 3, false, false
       FROM plinth.record s, plinth.record t
       WHERE s.base_id = 'crm' AND s.record_type = $3 AND s.id = 'a'
         AND t.base_id = 'crm' AND t.record_type = $3 AND t.id = 'b' RETURNING *)
     INSERT INTO plinth.change (base_id, kind, id, operation, version, data, created_at, actor_name, via, request_id)
     SELECT base_id, 'relationship', id, 'create', version, to_jsonb(w), created_at, 'other', 'rest', 'other' FROM w`,
    [id, rel, type],
  )
  const undone = undo({ request_id: request })
  await expect.poll(() => other.waiting()).toHaveLength(1)
  await other.end('COMMIT')
  expect(expectFailure(await undone, 'CONFLICT').details).toMatchObject([{ code: 'overtaken' }])
  expect(succeed(await world.call('GET', `/v1/crm/relationships/${id}`))).toMatchObject({ data: { n: 2 } })
})

describe('while an older write is open, which the feed waits for', () => {
  test('what was answered is undone at once and whole, and the last request is the last', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'kept', { n: 1 })
    const late = await holdOpen(world.database)
    await late.query(
      `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
       VALUES ('crm', 'record', $1, 'late', 'create', 1, '{}', 'x', 'system', 'late')`,
      [type],
    )
    const request = await batch([create(type, 'a'), create(type, 'b')])
    expect(await changesOf(`request_id=${request}`)).toEqual([])
    expect(succeed(await undo({ request_id: request })).count).toBe(2)
    await put(type, 'newest', { n: 2 })
    expect(succeed(await undo({ last: true })).count).toBe(1)
    const left = await Promise.all(['kept', 'a', 'b', 'newest'].map((id) => get(type, id)))
    expect(left.map(({ status }) => status)).toEqual([200, 404, 404, 404])
  })
})
