import { afterAll, beforeAll, expect, test } from 'vitest'
import { plinth } from '../../cli/plinth.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
const DAY_MS = 86_400_000

/** What happens to which of a few records, from the oldest to the newest, seven hours apart. */
const STORY = [
  ...['a', 'b', 'c', 'd'].map((id) => [id, 'put'] as const),
  ...([
    'a:put',
    'b:delete',
    'e:put',
    'c:cancel',
    'b:put',
    'a:put',
    'f:put',
    'd:delete',
    'e:put',
    'c:put',
  ] as const),
  ...([
    'f:delete',
    'a:cancel',
    'b:put',
    'g:put',
    'e:delete',
    'f:put',
    'f:put',
    'f:put',
    'a:put',
    'h:put',
  ] as const),
].map((step) => (typeof step === 'string' ? (step.split(':') as [string, string]) : step))

const at = (id: string) => `/v1/crm/records/${type}/${id}`
const aggregate = (body: Body) => world.call('POST', `/v1/crm/records/${type}/aggregate`, body)
const rows = async (body: Body): Promise<Body[]> => succeed(await aggregate({ limit: 1000, ...body })).data
const count = { aggregations: [{ fn: 'count' }] }
const days = (since: string) => ({ interval: 'day', since })

beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({
    json_schema: {
      type: 'object',
      properties: {
        stage: { type: ['string', 'null'] },
        n: { type: 'number' },
        due: { type: 'string', format: 'date' },
      },
    },
  })
  for (const [n, [id, action]] of STORY.entries()) {
    const data = { n: (n * 7) % 11, stage: ['new', 'open', null][n % 3], due: `2026-0${1 + (n % 9)}-11` }
    if (action === 'put') expect((await world.call('PUT', at(id), { data })).status).toBeLessThan(300)
    if (action === 'delete') succeed(await world.call('DELETE', at(id)))
    if (action === 'cancel') succeed(await world.call('POST', `${at(id)}/cancel`))
  }
  // The log and the records, as if each step had been seven hours after the one before.
  await world.database.query(
    `UPDATE plinth.change c SET at = now() - (l.last - c.seq + 1) * interval '7 hours', created_at = NULL
     FROM (SELECT max(seq) AS last FROM plinth.change WHERE base_id = 'crm') l WHERE base_id = 'crm' AND record_type = $1`,
    [type],
  )
  await world.database.query(
    `UPDATE plinth.record r SET updated_at = c.at, created_at = c.at FROM plinth.change c
     WHERE r.record_type = $1 AND c.base_id = r.base_id AND c.record_type = r.record_type AND c.id = r.id AND c.version = r.version`,
    [type],
  )
  await world.database.query(`UPDATE plinth.base SET created_at = now() - interval '90 days'`)
})
afterAll(() => world.close())

const FUNCTIONS = [
  { fn: 'count' },
  { fn: 'count', field: 'data.stage', alias: 'staged' },
  ...['sum', 'avg', 'min', 'max', 'count_distinct'].map((fn) => ({ fn, field: 'data.n' })),
  { fn: 'max', field: 'data.due' },
  { fn: 'min', field: 'updated_at' },
]

test.each([
  ['all', {}],
  ['by a text', { group_by: ['data.stage'] }],
  ['by two keys', { group_by: ['data.stage', 'status'] }],
  ['by a time', { group_by: [{ field: 'updated_at', interval: 'week', alias: 'week' }] }],
  ['of a filter', { filter: { field: 'data.n', op: 'gt', value: 3 }, group_by: ['data.stage'] }],
  ['of a status', { filter: { field: 'status', op: 'eq', value: 'cancelled' } }],
])('over time %s equals as_of at each moment', { tags: 'full' }, async (_, body) => {
  for (const since of ['8d', '3d', '20d']) {
    const over = await rows({ ...body, aggregations: FUNCTIONS, over: days(since) })
    const moments = [...new Set(over.map((row) => row['at']))]
    const then = []
    for (const moment of moments)
      for (const row of await rows({ ...body, aggregations: FUNCTIONS, as_of: moment }))
        then.push({ at: moment, ...row })
    expect(over).toEqual(then)
  }
})

test('400 moments are answered, and one more is refused, wherever the first interval begins', async () => {
  const end = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000
  const time = (ms: number) => new Date(ms).toISOString()
  const over = (minutes: number, shift: number) =>
    aggregate({
      ...{ ...count, limit: 1000 },
      over: { interval: 'minute', since: time(end - minutes * 60_000 + shift), until: time(end + shift) },
    })
  // A span that begins within a minute ends within one: that end is a moment too.
  for (const [most, shift] of [
    [400, 0],
    [399, 30_000],
  ] as const) {
    expect(succeed(await over(most, shift)).data).toHaveLength(400)
    expectFault(await over(most + 1, shift), '/over/interval')
  }
  expectFault(await over(5_000_000, 0), '/over/interval')
})

test('moments are the ends of the intervals in the timezone of the type, and the present', async () => {
  const found = await rows({ ...count, over: days('3d') })
  expect(found).toHaveLength(4)
  for (const row of found.slice(0, -1)) expect(row['at']).toMatch(/T00:00:00.000Z$/)
  expect(Date.now() - Date.parse(found.at(-1)?.['at'])).toBeLessThan(60_000)
  const until = new Date(Date.now() - DAY_MS).toISOString()
  expect((await rows({ ...count, over: { ...days('3d'), until } })).at(-1)?.['at']).toBe(until)
  const hours = await rows({ ...count, over: { interval: 'hour', since: '2h' } })
  expect(hours.map((row) => row['count'])).toEqual(hours.map(() => hours[0]?.['count']))
  const zoned = await world.newType({ timezone: 'America/New_York' })
  const asked = { ...count, over: days('3d') }
  const local = succeed(await world.call('POST', `/v1/crm/records/${zoned}/aggregate`, asked)).data
  expect(local[0].at).toMatch(/T0[45]:00:00.000Z$/)
  // Without group keys, each moment has a row; with them, each group that had records then.
  expect(local).toEqual(local.map((row: Body) => ({ at: row['at'], count: 0 })))
  const grouped = { ...asked, group_by: ['data.n'] }
  expect(succeed(await world.call('POST', `/v1/crm/records/${zoned}/aggregate`, grouped)).data).toEqual([])
})

test('having, sort, total and pages apply to the rows', async () => {
  const until = new Date().toISOString()
  const asked = { ...count, group_by: ['data.stage'], over: { ...days('5d'), until }, sort: '-at,-count' }
  const all = await rows(asked)
  expect(all.map((row) => row['at'])).toEqual(
    all
      .map((row) => row['at'])
      .sort()
      .reverse(),
  )
  const page = succeed(await aggregate({ ...asked, limit: 2, offset: 1, include_total: true }))
  expect(page).toMatchObject({ data: all.slice(1, 3), meta: { total: all.length, has_more: true } })
  const having = { field: 'count', op: 'gt', value: 1 }
  expect(await rows({ ...asked, having })).toEqual(all.filter((row) => row['count'] > 1))
})

test('what is written is seen at once, and a state of long ago still', async () => {
  const other = await world.newType({})
  const put = (id: string) => world.call('PUT', `/v1/crm/records/${other}/${id}`, { data: { n: 1 } })
  succeed(await put('old'), 201)
  const old = `now() - interval '50 days'`
  await world.database.query(`UPDATE plinth.change SET at = ${old} WHERE record_type = $1`, [other])
  await world.database.query(
    `UPDATE plinth.record SET updated_at = ${old}, created_at = ${old} WHERE record_type = $1`,
    [other],
  )
  succeed(await put('new'), 201)
  const asked = { ...count, over: days('2d') }
  const found = succeed(await world.call('POST', `/v1/crm/records/${other}/aggregate`, asked)).data
  expect(found.map((row: Body) => row['count'])).toEqual([1, 1, 2])
})

test('what cannot be answered is refused by name', async () => {
  const refused = async (over: unknown, path: string, more: Body = {}) =>
    expectFault(await aggregate({ ...count, over, ...more }), path)
  await refused({ interval: 'minute', since: '2d' }, '/over/interval')
  await refused({ interval: 'day', since: 'soon' }, '/over/since')
  await refused({ interval: 'day', since: '1d', until: '2d' }, '/over/since')
  await refused({ interval: 'fortnight', since: '30d' }, '/over/interval')
  await refused(days('3d'), '/over', { as_of: new Date().toISOString() })
  await refused(days('3d'), '/aggregations/0', { aggregations: [{ fn: 'count', alias: 'at' }] })
  await world.database.query(`INSERT INTO plinth.retention (base_id, history_from) VALUES ('crm', now())`)
  const { details } = expectFailure(await aggregate({ ...count, over: days('3d') }), 'VALIDATION_ERROR')
  expect(details).toMatchObject([{ path: '/over/since', code: 'history_purged' }])
  await world.database.query('DELETE FROM plinth.retention')
})

test('GraphQL, aggregate_records and plinth aggregate take it too', { tags: 'full' }, async () => {
  const expected = await rows({ ...count, over: days('3d') })
  const sums = expected.map((row) => row['count'])
  const query = `{ aggregate(base: "crm", recordType: "${type}", aggregations: [{fn: "count"}], over: {interval: "day", since: "3d"}) { rows } }`
  const graphql = await world.call('POST', '/graphql', { query })
  expect(graphql.body.data.aggregate.rows.map((row: Body) => row['count'])).toEqual(sums)
  const args = { record_type: type, aggregations: [{ fn: 'count' }], over: days('3d') }
  const { body } = await callTool(world, '/mcp/crm', 'aggregate_records', args, { token: world.adminToken })
  expect(body.data.map((row: Body) => row['count'])).toEqual(sums)
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const shown = await plinth(['aggregate', type, '--fn', 'count', '--over', 'day:3d', '--json'], settings)
  expect(JSON.parse(shown.out).data.map((row: Body) => row['count'])).toEqual(sums)
  expect(await plinth(['aggregate', type, '--fn', 'count', '--over', 'often'], settings)).toMatchObject({
    code: 2,
  })
})
