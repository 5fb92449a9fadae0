/** Data outside the grants of a token appears in no byte of any answer. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { rpc } from '../support/mcp.ts'
import type { Answer, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { type Asked, hostileRequests } from './hostile.ts'

const canary = () => `canary${randomUUID().replaceAll('-', '')}`
/** Planted outside the grants: in data, external ids, types and tokens. */
const CANARIES = { sibling: canary(), neighbour: canary(), token: canary(), hash: '' }

/** Planted inside the grants. */
const OPEN = 'plainsight'

type Asking = { call: Call; token: string }
type Door = (as: Asking, asked: Asked) => Promise<Answer>

const OPERATION = `query ($base: String!, $type: String!, $filter: JSON, $sort: JSON) {
  records(base: $base, recordType: $type, filter: $filter, sort: $sort) { data { id data externalId } }
}`
const inSearch = (values: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString()

let world: World
const tool =
  (name: string, args: (asked: Asked) => object): Door =>
  ({ token }, asked) =>
    rpc(
      world,
      `/mcp/${encodeURIComponent(asked.base)}`,
      'tools/call',
      { name, arguments: args(asked) },
      { token },
    )
/** Encodes hostile names, so that they stay one segment of the path. */
const inPath = (text: unknown) => encodeURIComponent(String(text ?? ''))
const at = ({ base, type }: Asked) => `/v1/${encodeURIComponent(base)}/records/${encodeURIComponent(type)}`

/** Every way to read records; the first test proves that each shows the canary if granted. */
const DOORS: Record<string, Door> = {
  list: ({ call }, { base, type, filter, sort, fields, more }) =>
    call('GET', `${at({ base, type })}?${inSearch({ filter, sort, fields, ...more })}`),
  query: ({ call }, { base, type, filter, sort, fields, more }) =>
    call('POST', `${at({ base, type })}/query`, { filter, sort, fields, ...more }),
  aggregate: ({ call }, { filter, sort, more, ...asked }) =>
    call('POST', `${at(asked)}/aggregate`, {
      aggregations: [{ fn: 'max', field: 'data.note' }],
      group_by: ['data.note'],
      filter,
      sort,
      ...more,
    }),
  'across bases': ({ call }, { base, type, ...rest }) =>
    call('POST', '/v1/accounts/default/query', {
      bases: [base],
      record_type: type,
      ...rest.more,
      filter: rest.filter,
      sort: rest.sort,
    }),
  search: ({ call }, { filter, ...asked }) => {
    const search = { field: 'data', op: 'search', value: 'planted' }
    return call('POST', `${at(asked)}/query`, { filter: filter ? { and: [search, filter] } : search })
  },
  profile: ({ call }, { base, type }) =>
    call('GET', `/v1/${encodeURIComponent(base)}/record-types/${encodeURIComponent(type)}/profile`),
  graphql: ({ call }, { base, type, filter, sort }) =>
    call('POST', '/graphql', { query: OPERATION, variables: { base, type, filter, sort } }),
  query_records: tool('query_records', ({ type, filter, sort, fields, more }) => ({
    record_type: type,
    filter,
    sort,
    fields,
    ...more,
  })),
  aggregate_records: tool('aggregate_records', ({ type, filter, sort, more }) => ({
    record_type: type,
    aggregations: [{ fn: 'max', field: 'data.note' }],
    filter,
    sort,
    ...more,
  })),
  related: ({ call }, { base, type, filter, sort, fields, more }) => {
    const asked = { direction: 'both', depth: 5, filter, sort, fields, ...more }
    return call('GET', `${at({ base, type })}/first/related?${inSearch(asked)}`)
  },
  expand: ({ call }, { base, type, filter, sort }) =>
    call('GET', `${at({ base, type })}?${inSearch({ expand: 'near.~near.near,~near', filter, sort })}`),
  relationships: ({ call }, { base, more }) =>
    call('GET', `/v1/${inPath(base)}/relationships?${inSearch({ limit: 1000, ...more })}`),
  history: ({ call }, { base, type, more }) =>
    call('GET', `${at({ base, type })}/first/history?${inSearch({ limit: 1000, ...more })}`),
  'as of a moment': ({ call }, { base, type, filter, sort }) =>
    call('GET', `${at({ base, type })}?${inSearch({ as_of: new Date().toISOString(), filter, sort })}`),
  changes: ({ call }, { base, more }) =>
    call('GET', `/v1/${inPath(base)}/changes?${inSearch({ limit: 1000, ...more })}`),
  trash: ({ call }, { base, more }) =>
    call('GET', `/v1/${inPath(base)}/trash?${inSearch({ limit: 1000, ...more })}`),
  claim: ({ call }, { base, type, filter, sort }) =>
    call('POST', `${at({ base, type })}/claim`, { filter, sort, limit: 100, lease_seconds: 1 }),
  sql: ({ call }, { base, type }) =>
    call('POST', `/v1/${inPath(base)}/sql`, {
      query: `SELECT * FROM "${String(type).replaceAll('"', '""')}"`,
    }),
  get_related: tool('get_related', ({ type, filter }) => ({
    record_type: type,
    id: 'first',
    direction: 'both',
    depth: 5,
    filter,
  })),
  record_history: tool('record_history', ({ type }) => ({ record_type: type, id: 'first' })),
  resource: ({ token }, { base, type, filter }) => {
    const search = filter === undefined ? '' : `?filter=${encodeURIComponent(JSON.stringify(filter))}`
    const uri = `plinth://${encodeURIComponent(base)}/records/${encodeURIComponent(type)}${search}`
    return rpc(world, '/mcp', 'resources/read', { uri }, { token })
  },
  describe_type: tool('describe_type', ({ type }) => ({ record_type: type })),
}
const NAMES = Object.keys(DOORS)
const through = (name: string): Door => DOORS[name] as Door

/** Links all records of the types with each other; the token may see the links between granted records only. */
async function link(base: string, types: string[], note: string): Promise<void> {
  succeed(await world.call('PUT', `/v1/${base}/relationship-types/near`, {}), 201)
  const ends: { type: string; id: string }[] = []
  for (const type of types) {
    const { data } = succeed(await world.call('GET', `/v1/${base}/records/${type}?limit=10`))
    for (const { id } of data) ends.push({ type, id })
  }
  for (const source of ends)
    for (const target of ends) {
      if (source === target) continue
      const plain = base === 'crm' && source.type === 'granted' && target.type === 'granted'
      succeed(
        await world.call('POST', `/v1/${base}/relationships`, {
          rel_type: 'near',
          ...{ source_record_type: source.type, source_id: source.id },
          ...{ target_record_type: target.type, target_id: target.id },
          data: { note: plain ? OPEN : note },
        }),
        201,
      )
    }
}

let admin: Asking
let limited: Asking
beforeAll(async () => {
  world = await openWorld()
  admin = { call: world.call, token: world.adminToken }
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const plant = async (base: string, type: string, note: string) => {
    const schema = { type: 'object', properties: { note: { type: 'string', description: note } } }
    succeed(
      await world.call('PUT', `/v1/${base}/record-types/${type}`, { json_schema: schema, description: note }),
      201,
    )
    for (const id of ['first', note])
      succeed(
        await world.call('PUT', `/v1/${base}/records/${type}/${id}`, {
          data: { note, text: `planted ${note}` },
          external_id: `${id}-${note}`,
        }),
        201,
      )
  }
  await plant('crm', 'granted', OPEN)
  await plant('crm', 'sibling', CANARIES.sibling)
  await plant('other', 'granted', CANARIES.neighbour)
  await link('crm', ['granted', 'sibling'], CANARIES.sibling)
  await link('other', ['granted'], CANARIES.neighbour)
  for (const type of ['granted', 'sibling']) {
    const gone = `/v1/crm/records/${type}/gone`
    const note = type === 'granted' ? OPEN : CANARIES.sibling
    succeed(await world.call('PUT', gone, { data: { note } }), 201)
    succeed(await world.call('DELETE', gone))
  }
  limited = await world.newToken([{ record_type: 'granted', permission: 'write' }], { name: CANARIES.token })
  await world.newToken([{ permission: 'admin' }], { name: `${CANARIES.token}-2` })
  const [row] = await world.database.query<{ hash: string }>(
    `SELECT encode(hash, 'hex') AS hash FROM plinth.token WHERE name = $1`,
    [CANARIES.token],
  )
  CANARIES.hash = row?.hash ?? ''
  expect(CANARIES.hash).toMatch(/^[0-9a-f]{64}$/)
})
afterAll(() => world.close())

function expectClean({ status, text, headers }: Answer) {
  expect(status).not.toBe(500)
  expect(text).not.toContain('INTERNAL_ERROR')
  const all = `${text}\n${[...headers].join('\n')}`
  for (const [what, secret] of Object.entries(CANARIES))
    expect(all.includes(secret), `the canary of ${what}`).toBe(false)
  expect(all.includes(world.adminToken)).toBe(false)
}

describe.each(NAMES)('Reading with a token (%s)', (name) => {
  const door = through(name)

  test('shows the canary if the token has the grant', async () => {
    const answer = await door(admin, { base: 'crm', type: 'sibling' })
    expect(answer.status, answer.text.slice(0, 300)).toBe(200)
    expect(answer.text).toContain(CANARIES.sibling)
  })

  test('shows granted data, and no canary without the grant', async () => {
    const granted = await door(limited, { base: 'crm', type: 'granted' })
    expect(granted.text).toContain(OPEN)
    expectClean(granted)
    for (const [base, type] of [
      ['crm', 'sibling'],
      ['other', 'granted'],
      ['other', 'sibling'],
      ['*', 'granted'],
    ] as const)
      expectClean(await door(limited, { base, type }))
  })
})

test('no hostile request discloses a canary or causes a server error', {
  tags: ['full', 'sampled'],
  timeout: CASES_TIMEOUT,
}, async () => {
  const requests = fc.record({ name: fc.constantFrom(...NAMES), asked: hostileRequests })
  await forAll(requests, 800, async ({ name, asked }) => expectClean(await through(name)(limited, asked)))
})
