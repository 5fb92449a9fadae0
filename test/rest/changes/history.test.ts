import { applyPatch, type Operation } from 'rfc6902'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const historyOf = async (type: string, id: string, query = ''): Promise<Body> =>
  succeed(await world.call('GET', `/v1/crm/records/${type}/${id}/history${query}`))

/** The documents that result from applying the diffs in order. */
function rebuilt(versions: Body[]): unknown[] {
  let holder: { held: unknown } = { held: null }
  return versions.map(({ diff }) => {
    holder = structuredClone(holder)
    for (const step of diff as Operation[]) {
      if (step.path === '') holder.held = step.op === 'remove' ? null : structuredClone((step as Body).value)
      else expect(applyPatch(holder.held, [structuredClone(step)])).toEqual([null])
    }
    return holder.held
  })
}

test('the history of a record has one version per write, newest first, with actor, time and diff', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'a writer' })
  const at = `/v1/crm/records/${type}/a`
  const pair = { external_id: 'e', external_source: 's' }
  succeed(await call('PUT', at, { data: { n: 1 } }, { 'x-request-id': 'first-write' }), 201)
  succeed(await call('PUT', at, { data: { n: 1 }, ...pair }))
  succeed(await call('PUT', at, { data: { n: 1 } }))
  succeed(await call('POST', `${at}/cancel`))
  succeed(await call('PATCH', at, { data: { n: 2, list: [1] } }))
  succeed(await call('DELETE', at))
  succeed(await call('PUT', at, { data: { again: true } }), 201)

  const { data, meta } = await historyOf(type, 'a', '?include_total=true')
  expect(meta).toEqual({ has_more: false, limit: 50, offset: 0, total: 6 })
  expect(data.map((each: Body) => [each.version, each.operation])).toEqual([
    [6, 'create'],
    [5, 'delete'],
    [4, 'update'],
    [3, 'cancel'],
    [2, 'update'],
    [1, 'create'],
  ])
  expect(data.at(-1)).toEqual({
    version: 1,
    operation: 'create',
    at: expect.stringMatching(TIME),
    actor: { token_id: tokenId, name: 'a writer', kind: 'program', via: 'rest' },
    request_id: 'first-write',
    seq: expect.any(Number),
    call: null,
    cause: null,
    diff: [
      {
        op: 'add',
        path: '',
        value: { data: { n: 1 }, status: 'active', external_id: null, external_source: null },
      },
    ],
  })
  expect(data[1].diff).toEqual([{ op: 'remove', path: '' }])
  expect(data[3].diff).toEqual([{ op: 'replace', path: '/status', value: 'cancelled' }])
  const cancelled = { status: 'cancelled', external_id: 'e', external_source: 's' }
  expect(rebuilt([...data].reverse())).toEqual([
    { data: { n: 1 }, status: 'active', external_id: null, external_source: null },
    { data: { n: 1 }, ...cancelled, status: 'active' },
    { data: { n: 1 }, ...cancelled },
    { data: { n: 2, list: [1] }, ...cancelled },
    null,
    { data: { again: true }, status: 'active', external_id: null, external_source: null },
  ])
})

test('paging a history by cursor or offset returns each version once, also during writes', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const at = `/v1/crm/records/${type}/a`
  for (const n of times(7, (i) => i)) await world.call('PUT', at, { data: { n } })
  const seen: Body[] = []
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await historyOf(type, 'a', `?limit=3${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...page.data)
    more = page.meta.has_more
    cursor = page.meta.next_cursor
    expect(cursor !== undefined).toBe(more)
    succeed(await world.call('PUT', at, { data: { new: seen.length } }))
  }
  expect(seen.map(({ version }) => version)).toEqual([7, 6, 5, 4, 3, 2, 1])
  expect(rebuilt(seen.reverse()).map((each) => (each as Body).data.n)).toEqual([0, 1, 2, 3, 4, 5, 6])
  const second = await historyOf(type, 'a', '?limit=2&offset=3')
  expect(second.data.map((each: Body) => each.version)).toEqual([7, 6])
  const beyond = await historyOf(type, 'a', '?offset=100')
  expect(beyond).toMatchObject({ data: [], meta: { has_more: false } })
})

test('a history refuses a cursor of another record and a sort', async () => {
  const type = await world.newType()
  for (const id of ['a', 'b'])
    for (const n of [1, 2]) await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: { n } })
  const { meta } = await historyOf(type, 'a', '?limit=1')
  const path = `/v1/crm/records/${type}/b/history`
  expectFault(await world.call('GET', `${path}?limit=1&cursor=${meta.next_cursor}`), 'query/cursor')
  expectFault(await world.call('GET', `${path}?sort=at`), 'query/sort')
})

test('a history is 404 for an unknown record or type, and 403 for both without a grant', async () => {
  const type = await world.newType()
  const other = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/a`, { data: {} }), 201)
  const never = expectFailure(await world.call('GET', `/v1/crm/records/${type}/b/history`), 'NOT_FOUND')
  expect(never.details[0].code).toBe('record_not_found')
  const gone = expectFailure(await world.call('GET', '/v1/crm/records/absent/b/history'), 'NOT_FOUND')
  expect(gone.details[0].code).toBe('record_type_not_found')
  const { call } = await world.newToken([{ record_type: other, permission: 'write' }])
  const ungranted = expectFailure(await call('GET', `/v1/crm/records/${type}/a/history`), 'FORBIDDEN')
  const absent = expectFailure(await call('GET', `/v1/crm/records/absent/a/history`), 'FORBIDDEN')
  expect(ungranted.message.replaceAll(type, '')).toBe(absent.message.replaceAll('absent', ''))
})

test('a page of a history uses the index on versions', { tags: 'full' }, async () => {
  await world.database.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, created_at, actor_name, via, request_id)
     SELECT 'crm', 'record', 'filler', 'r' || n % 5000, CASE WHEN n <= 5000 THEN 'create' ELSE 'update' END, 1 + (n - 1) / 5000,
       '{"n":1}', now(), 'a', 'rest', 'r' FROM generate_series(1, 20000) n`,
  )
  await world.database.query('ANALYZE plinth.change')
  const rows = await world.database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT * FROM plinth.change WHERE kind = 'record' AND base_id = 'crm' AND record_type = 'filler' AND id = 'r7'
     ORDER BY version DESC LIMIT 51`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('Index Scan Backward using change_version')
})
