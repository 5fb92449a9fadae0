import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

/** Properties that have the name of a field that every record has. */
const TICKET = {
  properties: {
    subject: { type: 'string' },
    status: { enum: ['open', 'solved'] },
    version: { type: 'integer' },
    data: { type: 'object' },
    data_version: { type: 'string' },
  },
  additionalProperties: false,
}

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: TICKET }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: DEAL }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  const data = { subject: 'x', status: 'open', version: 7, data: { a: 1 }, data_version: 'v' }
  succeed(await world.call('PUT', '/v1/crm/records/ticket/t1', { data }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/ticket/t2', { data: { status: 'solved' } }), 201)
  succeed(await world.call('POST', '/v1/crm/records/ticket/t2/cancel'))
  succeed(await world.call('PUT', '/v1/crm/records/note/n1', { data: { status: 'open' } }), 201)
})
afterAll(() => world.close())

const DEAL = { properties: { stage: { type: 'string' } } }

const sql = (query: string, params?: unknown) =>
  world.call('POST', '/v1/crm/sql', { query, ...(params !== undefined && { params }) })
const rowsOf = async (query: string, params?: unknown): Promise<Body[]> =>
  succeed(await sql(query, params)).data

describe('SQL', () => {
  test('a property with the name of a built-in column is the column data_<name>', {
    tags: 'full',
  }, async () => {
    const [row] = await rowsOf(`SELECT * FROM ticket WHERE id = 't1'`)
    expect(row).toMatchObject({
      status: 'active',
      version: 1,
      subject: 'x',
      data_status: 'open',
      data_data: { a: 1 },
    })
    // The property that is called data_version itself keeps its name.
    expect(row?.['data_version']).toBe('v')
    const counted = `SELECT data_status AS s, count(*) AS n FROM ticket GROUP BY 1 ORDER BY 1`
    expect(await rowsOf(counted)).toEqual([
      { s: 'open', n: 1 },
      { s: 'solved', n: 1 },
    ])
  })

  test.each([
    [`SELECT id FROM ticket WHERE status = 'open'`, 'data_status'],
    [`SELECT id FROM ticket WHERE 'open' <> status`, 'data_status'],
    [`SELECT t.id FROM ticket t JOIN note n ON t.id = n.id AND t.status = 'open'`, 't.data_status'],
    [`SELECT id FROM ticket WHERE status IN ('active', 'open')`, 'data_status'],
    [`SELECT id FROM ticket WHERE status = ANY (ARRAY['open'])`, 'data_status'],
    [`SELECT id FROM ticket WHERE status IS DISTINCT FROM 'open'::text`, 'data_status'],
    [`SELECT CASE status WHEN 'open' THEN 1 END FROM ticket`, 'data_status'],
    [`SELECT count(*) FILTER (WHERE status = 'open') FROM ticket`, 'data_status'],
    [`SELECT id FROM deal WHERE (SELECT 1) = 1 AND status = 'open'`, undefined],
    [`SELECT id FROM note WHERE status = 'open'`, `data ->> 'status'`],
    [`SELECT id FROM records WHERE status = 'open'`, `data ->> 'status'`],
  ])('%s is refused with the property as its hint', async (query, hint) => {
    const { status, body } = await sql(query)
    expect(status, JSON.stringify(body)).toBe(400)
    const [detail] = body.error.details
    expect(detail).toMatchObject({ path: '/query', code: 'no_such_status', allowed: ['active', 'cancelled'] })
    expect(detail.hint).toBe(hint)
  })

  test.each([
    [`SELECT id FROM ticket WHERE status = $1`, ['open']],
    [`SELECT id FROM ticket WHERE status = ANY ($1)`, [['active', 'open']]],
    [`SELECT id FROM ticket WHERE status = :wanted`, { wanted: 'open' }],
  ])('the value of a parameter is checked too: %s', async (query, params) => {
    expect((await sql(query, params)).body.error.details[0]).toMatchObject({ hint: 'data_status' })
  })

  test('comparisons with a status that records have, and of other columns of the name, run', {
    tags: 'full',
  }, async () => {
    expect(await rowsOf(`SELECT id FROM ticket WHERE status = 'cancelled'`)).toEqual([{ id: 't2' }])
    expect(await rowsOf(`SELECT id FROM ticket WHERE status IN ('active', $1)`, ['cancelled'])).toHaveLength(
      2,
    )
    const renamed = `SELECT s.status FROM (SELECT data_status AS status FROM ticket) s WHERE s.status = 'open'`
    expect(await rowsOf(renamed)).toEqual([{ status: 'open' }])
    const inner = `WITH s AS (SELECT data_status AS status FROM ticket) SELECT count(*) AS n FROM s WHERE status = 'open'`
    expect(await rowsOf(inner)).toEqual([{ n: 1 }])
    const listed = `SELECT count(*) AS n FROM note AS n(id, a, b, c, status) WHERE status = 'open'`
    expect((await sql(listed)).body.error?.details[0].code).not.toBe('no_such_status')
  })
})

describe('A filter', () => {
  const query = (type: string, filter: object) =>
    world.call('POST', `/v1/crm/records/${type}/query`, { filter })
  const matching = async (type: string, filter: object) =>
    succeed(await query(type, filter)).data.map(({ id }: Body) => id)

  test.each([
    ['eq', 'open'],
    ['neq', 'open'],
    ['in', ['active', 'open']],
    ['not_in', ['solved']],
    ['gt', 'open'],
    ['like', 'op%'],
    ['ilike', 'OPEN'],
    ['starts_with', 'so'],
    ['search', 'open'],
    ['eq', true],
  ])(
    'that compares the own status by %s with %j is refused, with the property as its hint',
    async (op, value) => {
      const answer = await query('ticket', { and: [{ field: 'status', op, value }] })
      const fault = expectFault(answer, '/filter/and/0')
      expect(fault).toMatchObject({ code: 'no_such_status', allowed: ['active', 'cancelled'] })
      expect(JSON.parse(fault.hint)).toEqual({ field: 'data.status', op, value })
      expect((await query('ticket', { and: [JSON.parse(fault.hint)] })).status).toBe(200)
    },
  )

  test('a type that has no such property gives no hint, one without properties does', async () => {
    const condition = { field: 'status', op: 'eq', value: 'open' }
    expect(expectFault(await query('deal', condition), '/filter').hint).toBeUndefined()
    const { hint } = expectFault(await query('note', condition), '/filter')
    expect(await matching('note', JSON.parse(hint))).toEqual(['n1'])
  })

  test('the values that a status has, and null, are compared as before', async () => {
    expect(await matching('ticket', { field: 'status', op: 'eq', value: 'cancelled' })).toEqual(['t2'])
    expect(await matching('ticket', { field: 'status', op: 'in', value: [null, 'active'] })).toEqual(['t1'])
    expect(await matching('ticket', { field: 'status', op: 'like', value: '%ed' })).toEqual(['t2'])
    expect(await matching('ticket', { field: 'status', op: 'eq', value: null })).toEqual([])
    expect(await matching('ticket', { field: 'status', op: 'in', value: [] })).toEqual([])
  })

  test('aggregates, claims, links, queries across bases, GraphQL and MCP refuse it alike', {
    tags: 'full',
  }, async () => {
    const filter = { field: 'status', op: 'eq', value: 'open' }
    const at = '/v1/crm/records/ticket'
    const answers = [
      await world.call('POST', `${at}/aggregate`, { filter, aggregations: [{ fn: 'count' }] }),
      await world.call('POST', `${at}/claim`, { filter }),
      await world.call('GET', `/v1/crm/wait/ticket?timeout=1&filter=${JSON.stringify(filter)}`),
      await world.call('POST', '/v1/accounts/default/query', {
        bases: ['crm'],
        record_type: 'ticket',
        filter,
      }),
      await world.call('GET', `${at}/t1/related?record_type=ticket&filter=${JSON.stringify(filter)}`),
    ]
    for (const { status, body } of answers) {
      expect(status, JSON.stringify(body)).toBe(400)
      expect(body.error.details[0].code).toBe('no_such_status')
    }
    const read = `{ records(base: "crm", recordType: "ticket", filter: { field: "status", op: "eq", value: "open" }) { data { id } } }`
    const { errors } = (await world.call('POST', '/graphql', { query: read })).body
    expect(errors[0].extensions.details[0].code).toBe('no_such_status')
    const { error } = await callTool(world, '/mcp/crm', 'query_records', { record_type: 'ticket', filter })
    expect(error.details[0]).toMatchObject({ path: '/filter', code: 'no_such_status' })
  })

  test.each([
    ['one type', ['ticket'], 'status', 'data.status'],
    ['all types', ['*'], 'status', 'data.status'],
    ['one type, before the change', ['ticket'], 'previous.status', 'previous.data.status'],
    ['all types, before the change', ['*'], 'previous.status', 'previous.data.status'],
  ])('of a trigger is held to it: %s', async (_name, record_types, field, meant) => {
    const put = (condition: object) =>
      world.call('PUT', '/v1/crm/triggers/held?dry_run=true', {
        record_types,
        condition,
        url: 'https://example.com/',
      })
    const fault = expectFault(await put({ field, op: 'eq', value: 'open' }), '/condition')
    expect(fault).toMatchObject({ code: 'no_such_status', allowed: ['active', 'cancelled'] })
    expect(JSON.parse(fault.hint)).toEqual({ field: meant, op: 'eq', value: 'open' })
    succeed(await put(JSON.parse(fault.hint)), 201)
    succeed(await put({ field, op: 'eq', value: 'cancelled' }), 201)
  })

  test('an endpoint whose fields hide the property gives no hint', async () => {
    const tools = [{ record_type: 'ticket', operations: ['list'], fields: ['data.subject'] }]
    succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }), 201)
    const filter = { field: 'status', op: 'eq', value: 'open' }
    const { error } = await callTool(world, '/mcp/crm/e/desk', 'list_ticket', { filter })
    expect(error.details[0].code).toBe('no_such_status')
    expect(JSON.stringify(error)).not.toContain('data.status')
  })
})

describe('A type with such properties', () => {
  const NAMES = [
    /"status".*"data\.status".*"data_status"/,
    /"version".*"data_version"/,
    /"data".*"data_data"/,
  ]
  const expectNames = (texts: string[]) => {
    expect(texts).toHaveLength(3)
    for (const [i, text] of NAMES.entries()) expect(texts[i]).toMatch(text)
  }
  const path = '/v1/crm/record-types/warned'

  test('says so when it is created, changed, and put again unchanged', async () => {
    expectNames(succeed(await world.call('PUT', path, { json_schema: TICKET }), 201).meta.warnings)
    expectNames(succeed(await world.call('PUT', path, { json_schema: TICKET, name: 'x' })).meta.warnings)
    const again = succeed(await world.call('PUT', path, { json_schema: TICKET, name: 'x' }))
    expect(again.version).toBe(2)
    expectNames(again.meta.warnings)
    expectNames(succeed(await world.call('PATCH', path, { description: 'y' })).meta.warnings)
    expect(succeed(await world.call('GET', path)).meta).toBeUndefined()
    expect(
      succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: DEAL })).meta,
    ).toBeUndefined()
  })

  test('says so in a batch, on REST, GraphQL and MCP', { tags: 'full' }, async () => {
    const operation = { type: 'upsert_record_type', id: 'warned', body: { json_schema: TICKET } }
    const plain = { type: 'upsert_record_type', id: 'deal', body: { json_schema: DEAL } }
    const operations = [operation, plain]
    const [row, quiet] = succeed(await world.call('POST', '/v1/crm/batch', { operations })).data
    expectNames(row.warnings)
    expect(quiet).not.toHaveProperty('warnings')
    const query = `mutation($o: JSON!) { batch(base: "crm", operations: $o) { data { warnings } } }`
    const { data } = (await world.call('POST', '/graphql', { query, variables: { o: operations } })).body
    expectNames(data.batch.data[0].warnings)
    expect(data.batch.data[1].warnings).toBeNull()
    expectNames((await callTool(world, '/mcp/crm', 'batch', { operations })).body['data'][0].warnings)
  })

  test('says so in describe_type, in each level of detail', { tags: 'full' }, async () => {
    for (const detail of ['brief', 'standard', 'full']) {
      const of = (record_type: string) =>
        callTool(world, '/mcp/crm', 'describe_type', { record_type, detail })
      expectNames((await of('ticket')).body['notes'])
      expect((await of('deal')).body).not.toHaveProperty('notes')
    }
  })
})
