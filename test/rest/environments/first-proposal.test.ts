/** The first write of a token that proposes opens its change-set, in the transaction of that write: with it, or not at all. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectDetail, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  const schema = { type: 'object', properties: { n: { type: 'number' } } }
  const indexes = [{ fields: ['data.code'], unique: true }]
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: schema, indexes }), 201)
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
  const step = { name: 'p', type: 'patch_record', record_type: 'deal', id: '{{input.id}}', data: { n: 5 } }
  succeed(await world.call('PUT', '/v1/crm/actions/note', { steps: [step] }), 201)
  for (const id of ['a', 'b'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: { n: 1, code: id } }), 201)
})
afterAll(() => world.close())

type Agent = Awaited<ReturnType<World['newToken']>>
const newAgent = (): Promise<Agent> => world.newToken([{ permission: 'write', writes: 'propose' }])

/** What is left of change-sets of a token, of their bases, and of the steps that the logs keep of them. */
async function left({ id }: Agent): Promise<Body[]> {
  const { rows } = await world.database
    .query<{ rows: Body[] }>(
      `SELECT (SELECT coalesce(json_agg(base_id), '[]') FROM plinth.change_set WHERE token_id = $1)::jsonb ||
       (SELECT coalesce(json_agg(kind || ' ' || id), '[]') FROM plinth.change WHERE token_id = $1 AND kind IN ('base', 'preview'))::jsonb AS rows`,
      [id],
    )
    .then(([row]) => row ?? { rows: [] })
  return rows
}

const patch = (id: string, data: object) => ({ type: 'patch_record', record_type: 'deal', id, data })
const graphql =
  (path: string, field: string) =>
  ({ call }: Agent) =>
    call('POST', path, { query: `mutation { ${field} }` })
const rest =
  (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  ({ call }: Agent) =>
    call(method, `/v1/crm${path}`, body, headers)
const tool =
  (name: string, args: Record<string, unknown>) =>
  ({ token }: Agent) =>
    callTool(world, '/mcp/crm', name, args, { token })

/** Writes that change nothing, on each surface: refused, of what is not there, rehearsed, or of what is so already. */
const WITHOUT_EFFECT: readonly [string, (agent: Agent) => Promise<unknown>, RegExp][] = [
  ['REST, against the schema', rest('PUT', '/records/deal/x', { data: { n: 'one' } }), /VALIDATION_ERROR/],
  [
    'REST, with a stale version',
    rest('PATCH', '/records/deal/a', { data: { n: 2 } }, { 'if-match': '"9"' }),
    /CONFLICT/,
  ],
  [
    'REST, of a record that is not there',
    rest('PATCH', '/records/deal/none', { data: { n: 2 } }),
    /NOT_FOUND/,
  ],
  ['REST, a deletion of none', rest('DELETE', '/records/deal/none'), /NOT_FOUND/],
  ['REST, a unique value that is taken', rest('PUT', '/records/deal/x', { data: { code: 'a' } }), /unique/],
  ['REST, a dry run', rest('PUT', '/records/deal/x?dry_run=true', { data: { n: 2 } }), /"dry_run":true/],
  ['REST, what is so already', rest('PUT', '/records/deal/a', { data: { n: 1, code: 'a' } }), /"version":1/],
  [
    'REST, a link to none',
    rest('POST', '/relationships', {
      type: 'near',
      source: { record_type: 'deal', id: 'a' },
      target: { record_type: 'deal', id: 'none' },
    }),
    /error/,
  ],
  [
    'a batch with an operation that is refused',
    rest('POST', '/batch', { operations: [patch('a', { n: 2 }), patch('none', {})] }),
    /NOT_FOUND/,
  ],
  [
    'a batch as a dry run',
    rest('POST', '/batch?dry_run=true', { operations: [patch('a', { n: 2 })] }),
    /dry_run/,
  ],
  [
    'an action that is refused',
    rest('POST', '/actions/note/run', { input: { id: 'none' } }),
    /NOT_FOUND|CONFLICT/,
  ],
  [
    'GraphQL',
    graphql('/graphql', 'patchRecord(base: "crm", recordType: "deal", id: "none", merge: {}) { id }'),
    /NOT_FOUND/,
  ],
  [
    'GraphQL, a dry run',
    graphql(
      '/graphql',
      'patchRecord(base: "crm", recordType: "deal", id: "a", merge: { n: 3 }, dryRun: true) { id version }',
    ),
    /"version":2/,
  ],
  [
    'the typed schema',
    graphql('/graphql/crm', 'updateDeal(id: "none", data: { n: 2 }) { deal { _version } }'),
    /NOT_FOUND/,
  ],
  ['a tool', tool('update_record', { record_type: 'deal', id: 'none', data: {} }), /NOT_FOUND/],
  ['a tool, as a dry run', tool('create_deal', { n: 5, dry_run: true }), /dry_run/],
  [
    'SQL that meets no row',
    rest('POST', '/sql/execute', { statements: `UPDATE deal SET n = 2 WHERE id = 'none'` }),
    /affected|rows|count/,
  ],
  [
    'SQL, as a dry run',
    rest('POST', '/sql/execute?dry_run=true', { statements: `UPDATE deal SET n = 2 WHERE id = 'a'` }),
    /dry_run/,
  ],
]

test.each(WITHOUT_EFFECT)('%s: a write without effect opens none', async (name, write, says) => {
  const agent = await newAgent()
  const answer = JSON.stringify(await write(agent))
  expect(answer.replaceAll('\\', '')).toMatch(says)
  // A dry run names the one that the write would open.
  expect(answer.includes('crm--')).toBe(name.includes('dry run'))
  expect(await left(agent)).toEqual([])
})

/** The same on each surface, with an effect: `n` of `deal/a` is 2. */
const WITH_EFFECT: readonly [string, (agent: Agent) => Promise<unknown>][] = [
  ['REST', rest('PATCH', '/records/deal/a', { data: { n: 2 } })],
  ['a batch', rest('POST', '/batch', { operations: [patch('a', { n: 2 })] })],
  [
    'GraphQL',
    graphql('/graphql', 'patchRecord(base: "crm", recordType: "deal", id: "a", merge: { n: 2 }) { id }'),
  ],
  ['the typed schema', graphql('/graphql/crm', 'updateDeal(id: "a", data: { n: 2 }) { deal { _version } }')],
  ['a tool', tool('update_record', { record_type: 'deal', id: 'a', data: { n: 2 } })],
  ['SQL', rest('POST', '/sql/execute', { statements: `UPDATE deal SET n = 2 WHERE id = 'a'` })],
]

test.each(WITH_EFFECT)('%s: the first write opens one, and the answer names it', async (_, write) => {
  const agent = await newAgent()
  const answer = JSON.stringify(await write(agent)).replaceAll('\\', '')
  const [id, ...logged] = await left(agent)
  expect(id).toMatch(/^crm--p-[0-9a-f]{12}$/)
  expect(answer).toContain(`"${id}"`)
  expect(logged.sort()).toEqual([`base ${id}`, `preview ${id}`])
  expect(succeed(await agent.call('GET', '/v1/crm/records/deal/a')).data.n).toBe(2)
  const { change_set: state } = succeed(await world.call('GET', `/v1/bases/${id}`))
  expect(state).toMatchObject({ revision: 1, counts: { create: 0, update: 1, delete: 0 } })
})

test('first writes at once, some of them refused, open one with what was written', {
  tags: 'full',
}, async () => {
  const agent = await newAgent()
  const at = (n: number) => `/v1/crm/records/deal/race-${n}`
  const answers = await Promise.all(
    times(10, (n) => agent.call('PUT', at(n), { data: { n: n % 3 === 0 ? 'refused' : n } })),
  )
  expect(answers.map(({ status }) => status)).toEqual(times(10, (n) => (n % 3 === 0 ? 400 : 201)))
  const [id, ...more] = await left(agent)
  expect(more.sort()).toEqual([`base ${id}`, `preview ${id}`])
  const { change_set: state } = succeed(await world.call('GET', `/v1/bases/${id}`))
  expect(state).toMatchObject({ revision: 6, counts: { create: 6, update: 0, delete: 0 } })
  for (const { status, body } of answers) if (status === 201) expect(body.change_set).toBe(id)
})

test('a refused first write with an Idempotency-Key is stored, and its repetition answers the same', async () => {
  const agent = await newAgent()
  const headers = { 'idempotency-key': 'first', 'if-match': '"9"' }
  const write = () => agent.call('PATCH', '/v1/crm/records/deal/a', { data: { n: 2 } }, headers)
  const [first, again] = [await write(), await write()]
  expect([first.status, again.status]).toEqual([409, 409])
  expect(again.body.error.message).toBe(first.body.error.message)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(await left(agent)).toEqual([])
})

test('after one that is merged, the next write opens another one', { tags: 'full' }, async () => {
  const agent = await newAgent()
  const write = async (n: number): Promise<string> =>
    succeed(await agent.call('PUT', '/v1/crm/records/deal/twice', { data: { n } })).change_set
  succeed(await world.call('PUT', '/v1/crm/records/deal/twice', { data: { n: 0 } }), 201)
  const first = await write(1)
  expect(await write(2)).toBe(first)
  succeed(await world.call('POST', '/v1/crm/promote', { from: first }))
  const second = await write(3)
  expect(second).not.toBe(first)
  succeed(await world.call('POST', `/v1/${second}/submit`, {}), 201)
  expect([first, second]).not.toContain(await write(4))
})

test('what nobody wrote to is offered to no reviewer', { tags: 'full' }, async () => {
  const { id } = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
  const asked = [
    await world.call('POST', `/v1/${id}/submit`, {}),
    await world.call('POST', '/v1/crm/review-requests', { from: id }),
  ]
  for (const answer of asked) expectDetail(answer, 409, { code: 'nothing_to_promote' })
  const { data } = succeed(await world.call('GET', '/v1/crm/review-requests'))
  expect(data.map(({ from }: Body) => from)).not.toContain(id)
})
