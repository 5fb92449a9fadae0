import { Client } from 'pg'
import { applyPatch } from 'rfc6902'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const changes = async (query: string, call: Call = world.call): Promise<Body> =>
  succeed(await call('GET', `/v1/crm/changes?${query}`))
const seqs = (data: Body[]): number[] => data.map((entry) => entry.seq)
const head = async (from = 0): Promise<number> => {
  const { meta } = await changes(`after=${from}&since=2999-01-01T00:00:00Z`)
  return meta.has_more ? head(meta.next_after) : meta.next_after
}
const put = async (type: string, id: string, data: object, more: object = {}) =>
  world.call('PUT', `/v1/crm/records/${type}/${id}`, { data, ...more })

/** Applies a JSON Patch that may add or remove the whole document. */
function patched(document: Body, diff: Body[]): Body {
  const held = structuredClone(document === undefined ? {} : { document })
  const failed = applyPatch(
    held,
    diff.map((step) => ({ ...step, path: `/document${step.path}` })),
  )
  expect(failed.filter(Boolean)).toEqual([])
  return held.document
}

test('a change has actor, surface, time and operation, and its patches rebuild the record', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const begin = await head()
  const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'a writer' })
  const at = `/v1/crm/records/${type}/a`
  const pair = { external_id: 'e', external_source: 's' }
  succeed(await call('PUT', at, { data: { n: 1, list: [1, 2] }, ...pair }, { 'x-request-id': 'req-1' }), 201)
  succeed(await call('PATCH', at, { data: { list: [2, 3] } }))
  succeed(await call('POST', `${at}/cancel`))
  succeed(await call('POST', `${at}/restore`))
  const before = succeed(await call('GET', at))
  succeed(await call('DELETE', at))
  succeed(await call('PUT', at, { data: { n: 9 } }), 201)

  const { data, meta } = await changes(`after=${begin}`)
  expect(meta).toEqual({ has_more: false, limit: 50, next_after: expect.any(Number) })
  expect(data[0]).toEqual({
    seq: expect.any(Number),
    at: before.created_at,
    actor: { token_id: tokenId, name: 'a writer', kind: 'program', via: 'rest' },
    request_id: 'req-1',
    kind: 'record',
    record_type: type,
    id: 'a',
    operation: 'create',
    version: 1,
    diff: [{ op: 'add', path: '', value: expect.anything() }],
    call: null,
    cause: null,
  })
  const operations = data.map((entry: Body) => entry.operation)
  expect(operations).toEqual(['create', 'update', 'cancel', 'restore', 'delete', 'create'])
  const documents: Body[] = []
  for (const { diff } of data) documents.push(patched(documents.at(-1), diff))
  const { external_id, external_source } = before
  expect(documents[3]).toEqual({ data: before.data, status: 'active', external_id, external_source })
  expect(documents[2].status).toBe('cancelled')
  expect(documents[4]).toBeUndefined()
  expect(documents[5].data).toEqual({ n: 9 })
})

test('changes of configuration have the form of the API', { tags: 'full' }, async () => {
  const begin = await head()
  const type = await world.newType()
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: { type: 'object' } }))
  const { data } = await changes(`after=${begin}&kind=record_type`)
  expect(data.map((entry: Body) => [entry.kind, entry.record_type, entry.id, entry.operation])).toEqual([
    ['record_type', null, type, 'create'],
    ['record_type', null, type, 'update'],
  ])
  expect(data[0].diff[0].value).toMatchObject({ id: type, json_schema: {} })
  expect(data[1].diff).toContainEqual({ op: 'add', path: '/json_schema/type', value: 'object' })
})

test('paging by next_after returns each change once at every page size', { tags: 'full' }, async () => {
  const type = await world.newType()
  const begin = await head()
  for (const n of times(25, (index) => index)) succeed(await put(type, `r${n}`, { n }), 201)
  const whole = (await changes(`after=${begin}&limit=1000`)).data
  expect(whole).toHaveLength(25)
  for (const limit of [1, 7, 25, 26]) {
    const seen: Body[] = []
    for (let after = begin, more = true; more; ) {
      const page = await changes(`after=${after}&limit=${limit}`)
      seen.push(...page.data)
      more = page.meta.has_more
      after = page.meta.next_after
    }
    expect(seen).toEqual(whole)
  }
  const all = await changes('limit=1000')
  expect(all.data[0]).toMatchObject({ kind: 'base', id: 'crm', operation: 'create' })
})

test('filters select changes, and next_after advances past changes that do not match', {
  tags: 'full',
}, async () => {
  const [one, two] = [await world.newType(), await world.newType()]
  const begin = await head()
  const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'filterer' })
  succeed(await put(one, 'a', { n: 1 }), 201)
  succeed(await put(two, 'a', { n: 1 }), 201)
  succeed(await call('PUT', `/v1/crm/records/${two}/b`, { data: {} }), 201)
  const all = (await changes(`after=${begin}`)).data
  expect(all).toHaveLength(3)
  const [first, second, third] = all
  const only = async (query: string) => (await changes(`after=${begin}&${query}`)).data
  expect(await only(`record_type=${two}`)).toEqual([second, third])
  expect(await only('id=a')).toEqual([first, second])
  expect(await only('kind=record')).toEqual(all)
  expect(await only('kind=base')).toEqual([])
  expect(await only(`actor=${tokenId}`)).toEqual([third])
  expect(await only('actor=filterer')).toEqual([third])
  expect(await only(`since=${third.at}`)).toContainEqual(third)
  expect(await only(`until=${first.at}`)).toEqual([])
  expect(await only('since=2999-01-01T00:00:00%2B02:00')).toEqual([])
  for (const age of ['90s', '15m', '2h', '7d', '999999w']) {
    expect(await only(`since=${age}`), age).toEqual(all)
    expect(await only(`until=${age}`), age).toEqual([])
  }
  expect(await only('until=9999-12-31T23:59:59-14:00')).toEqual(all)
  const { meta } = await changes(`after=${begin}&record_type=${one}&limit=1`)
  expect(meta).toMatchObject({ has_more: false })
  expect(meta.next_after).toBeGreaterThanOrEqual(third.seq)
})

test('invalid query parameters are refused by name', async () => {
  const refused = async (query: string, path: string) =>
    expectFault(await world.call('GET', `/v1/crm/changes?${query}`), path)
  expect((await refused('afer=1', 'query/afer')).hint).toBe('after')
  expect((await refused('kind=recrd', 'query/kind')).hint).toBe('record')
  for (const [query, path] of [
    ['after=-1', 'query/after'],
    ['after=1.5', 'query/after'],
    ['after=x', 'query/after'],
    ['limit=0', 'query/limit'],
    ['limit=1001', 'query/limit'],
    ['since=yesterday', 'query/since'],
    ['until=2026-01-01', 'query/until'],
    ['record_type=a%20b', 'query/record_type'],
    ['id=', 'query/id'],
    ['cursor=x', 'query/cursor'],
    ['after=1&after=2', 'query/after'],
  ])
    await refused(query ?? '', path ?? '')
  const { code, message } = await refused('since=2026-13-01T00:00:00Z', 'query/since')
  expect({ code, message }).toEqual({
    code: 'invalid_time',
    message: '"since" must be a time such as 2026-01-31T09:30:00Z, or an age such as 90m, 2h or 7d.',
  })
  const lost = await refused('until=2026-01-31T09:30:00+02:00', 'query/until')
  expect(lost.message).toMatch(/or 7d\. In a URL, "\+" is written %2B\.$/)
  expectFailure(await world.call('GET', '/v1/nowhere/changes'), 'NOT_FOUND')
})

test('a token reads only the changes of types that it can read', { tags: 'full' }, async () => {
  const [open, shut] = [await world.newType(), await world.newType()]
  const begin = await head()
  const { call } = await world.newToken([{ record_type: open, permission: 'read' }])
  const { call: outside } = await world.newToken([
    { base: 'crm', environment: 'preview', permission: 'read' },
  ])
  succeed(await put(shut, 's', { secret: 'canary-1' }), 201)
  succeed(await put(open, 'o', { n: 1 }), 201)
  succeed(await world.call('PATCH', `/v1/crm/record-types/${shut}`, { name: 'canary-2' }))
  succeed(await world.call('PATCH', `/v1/crm/record-types/${open}`, { name: 'Open' }))
  succeed(await put(shut, 's', { secret: 'canary-3' }))
  const seen = await changes(`after=${begin}`, call)
  expect(seen.data.map((entry: Body) => [entry.kind, entry.id])).toEqual([
    ['record', 'o'],
    ['record_type', open],
  ])
  const all = await call('GET', '/v1/crm/changes?limit=1000')
  expect(all.text).not.toMatch(/canary|secret/)
  expect(all.text).not.toContain(`"${shut}"`)
  for (const type of [shut, 'never-was']) {
    const error = expectFailure(await call('GET', `/v1/crm/changes?record_type=${type}`), 'FORBIDDEN')
    expect(error.details[0].code).toBe('missing_permission')
  }
  expectFailure(await outside('GET', '/v1/crm/changes'), 'FORBIDDEN')
  expectFailure(await outside('GET', '/v1/nowhere/changes'), 'FORBIDDEN')
})

test('a change of a link needs read on both ends; of a relationship type, read on all types that it names', {
  tags: 'full',
}, async () => {
  const [open, shut] = [await world.newType(), await world.newType()]
  const begin = await head()
  const types = { source_record_types: [open], target_record_types: [open, shut] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/knows', types), 201)
  for (const [type, id] of [
    [open, 'o'],
    [open, 'p'],
    [shut, 's'],
  ])
    succeed(await put(type ?? '', id ?? '', {}), 201)
  const link = (target: object, data: object) => ({
    rel_type: 'knows',
    source_record_type: open,
    source_id: 'o',
    ...target,
    data,
  })
  const inside = link({ target_record_type: open, target_id: 'p' }, { since: 1 })
  const across = link({ target_record_type: shut, target_id: 's' }, { canary: 1 })
  succeed(await world.call('PUT', '/v1/crm/relationships/in', inside), 201)
  succeed(await world.call('PUT', '/v1/crm/relationships/in', { ...inside, data: { since: 2 } }))
  succeed(await world.call('PUT', '/v1/crm/relationships/out', across), 201)
  succeed(await world.call('DELETE', '/v1/crm/relationships/out'))

  const { call } = await world.newToken([{ record_type: open, permission: 'read' }])
  const own = (await changes(`after=${begin}&kind=relationship`, call)).data
  expect(own.map((entry: Body) => [entry.id, entry.version])).toEqual([
    ['in', 1],
    ['in', 2],
  ])
  expect(own[1].diff).toEqual([{ op: 'replace', path: '/data/since', value: 2 }])
  expect((await changes(`after=${begin}&kind=relationship_type`, call)).data).toEqual([])
  const all = (await changes(`after=${begin}`)).data.map((entry: Body) => `${entry.kind} ${entry.id}`)
  expect(all).toEqual([
    'relationship_type knows',
    ...['record o', 'record p', 'record s'],
    ...['relationship in', 'relationship in', 'relationship out', 'relationship out'],
  ])
})

test('the changes of a base exclude tokens and other bases', async () => {
  await world.newToken([{ permission: 'read' }])
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const { data } = await changes('limit=1000')
  expect(data.filter((entry: Body) => entry.kind === 'token' || entry.id === 'other')).toEqual([])
})

test('an open transaction delays later changes, and none are skipped when it commits', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const begin = await head()
  const late = new Client({ connectionString: world.database.url })
  await late.connect()
  await late.query('BEGIN')
  // It has drawn its sequence number, and commits after transactions with later numbers.
  await late.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
     VALUES ('crm', 'record', $1, 'late', 'create', 1, '{}', 'x', 'system', 'late')`,
    [type],
  )
  succeed(await put(type, 'early', { n: 1 }), 201)
  const held = await changes(`after=${begin}`)
  expect(held.data).toEqual([])
  expect(held.meta.next_after).toBeLessThanOrEqual(begin + 1)
  await late.query('COMMIT')
  await late.end()
  const { data } = await changes(`after=${held.meta.next_after}`)
  expect(data.map((entry: Body) => entry.id)).toEqual(['late', 'early'])
  expect(seqs(data)).toEqual([...seqs(data)].sort((a, b) => a - b))
})

test('an open transaction in another database of the server does not delay changes', async () => {
  const type = await world.newType()
  const begin = await head()
  const elsewhere = new URL(world.database.url)
  elsewhere.pathname = '/postgres'
  const other = new Client({ connectionString: elsewhere.href })
  await other.connect()
  await other.query('BEGIN')
  await other.query('SELECT pg_current_xact_id()')
  try {
    succeed(await put(type, 'x', { n: 1 }), 201)
    // Jobs of this database may have open transactions for a moment, and the other one stays open.
    const ids = async () => (await changes(`after=${begin}`)).data.map((entry: Body) => entry.id)
    await expect.poll(ids).toEqual(['x'])
  } finally {
    await other.end()
  }
})

test('a dry run logs no change and does not delay later ones', async () => {
  const type = await world.newType()
  const begin = await head()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/x?dry_run=true`, { data: {} }), 201)
  expect((await changes(`after=${begin}`)).data).toEqual([])
  succeed(await put(type, 'y', {}), 201)
  expect((await changes(`after=${begin}`)).data).toHaveLength(1)
})

test('a page that has entries scans a limited number, and next_after continues; an empty one goes on', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const begin = await head()
  succeed(await put(type, 'last', { n: 0 }), 201)
  await world.database.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
     SELECT 'crm', 'record', $1, 'many' || n, 'create', 1, '{}', 'x', 'system', 'many' FROM generate_series(1, 21000) AS n`,
    [type],
  )
  const { meta } = await changes(`after=${begin}&limit=1000`)
  succeed(await put(type, 'last', { n: 1 }))
  const seen = await world.newType()
  const { call } = await world.newToken([{ permission: 'read', record_type: seen }])
  const limited = await changes(`after=${begin}`, call)
  expect(limited.data.map(({ id }: Body) => id)).toEqual([seen])
  expect(limited.meta.has_more).toBe(false)
  const rare = await changes(`after=${begin}&id=last`)
  expect(rare.data).toHaveLength(1)
  expect(rare.meta.has_more).toBe(true)
  const far = await changes(`after=${meta.next_after}&id=last`)
  expect(far.data).toHaveLength(1)
  const rest = await changes(`after=${rare.meta.next_after}&id=last`)
  expect(rest.data.map((entry: Body) => entry.id)).toEqual(['last'])
  expect(rest.meta.has_more).toBe(false)
  // The entries of one record are found by index, whatever the number of others.
  const own = await changes(`after=${begin}&id=last&record_type=${type}`)
  expect(own.data.map((entry: Body) => entry.id)).toEqual(['last', 'last'])
  expect(own.meta.has_more).toBe(false)
})
