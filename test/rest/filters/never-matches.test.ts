import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

const json_schema = {
  type: 'object',
  properties: {
    priority: { enum: ['low', 'high', null] },
    level: { $ref: '#/$defs/level' },
    tags: { type: 'array', items: { enum: ['red', 'blue'] } },
    due: { type: 'string', format: 'date' },
    opened_at: { type: ['string', 'null'], format: 'date-time' },
    free: { type: 'string' },
    amount: { type: 'number' },
    count: { type: ['integer', 'null'] },
    paid: { type: 'boolean' },
    names: { type: 'array', items: { type: 'string' } },
    either: { type: ['string', 'number'] },
  },
  $defs: { level: { enum: [1, 2] } },
}
let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({ json_schema })
  const data = { priority: 'high', level: 1, tags: ['red'], due: '2026-01-01', free: 'x' }
  succeed(await world.call('PUT', `/v1/crm/records/${type}/a`, { data }), 201)
})
afterAll(() => world.close())

const condition = (field: string, op: string, value: unknown) => ({ field, op, value })
const hintOf = async (filter: object): Promise<string | undefined> => {
  const { hint } = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, { filter })).meta
  // A slow machine makes any list slow.
  return hint?.startsWith('This list took') ? undefined : hint
}

describe('a filter with a value that the schema excludes', () => {
  test.each([
    [
      'data.priority',
      'eq',
      'hgih',
      'The schema allows no "hgih" in data.priority, only "low", "high", null. Did you mean "high"?',
    ],
    ['data.priority', 'neq', 'hgih', '"hgih"'],
    ['data.priority', 'in', ['low', 'hi'], '"hi"'],
    ['data.level', 'eq', 3, 'only 1, 2.'],
    ['data.tags', 'has', 'redd', 'Did you mean "red"?'],
    ['data.tags[]', 'eq', 'green', '"green"'],
    ['data.tags', 'has_any', ['red', 'bleu'], 'Did you mean "blue"?'],
    ['data.due', 'gt', 'now-7d', '"now-7d" is not a time'],
    ['data.opened_at', 'lte', 'yesterday', 'Write 2026-01-31 or 2026-01-31T09:30:00Z.'],
    ['created_at', 'gt', '01/02/2026', '"01/02/2026" is not a time'],
    [
      'data.amount',
      'gt',
      '100',
      'The schema allows no string in data.amount, only number, and "100" compares with none. Did you mean 100?',
    ],
    ['data.amount', 'eq', 'much', 'only number, and "much" compares with none.'],
    ['data.count', 'in', [1, '2'], 'Did you mean 2?'],
    ['data.paid', 'neq', 'true', 'Did you mean true?'],
    ['data.free', 'eq', 5, 'Did you mean "5"?'],
    ['data.names', 'eq', 'Ada', 'A list that contains it is found with the operator "has".'],
  ])('%s %s %j is no fault, and the hint says so', async (field, op, value, words) => {
    expect(await hintOf(condition(field, op, value))).toContain(words)
    expect(
      await hintOf({ or: [{ not: condition(field, op, value) }, condition('id', 'eq', 'a')] }),
    ).toContain(words)
  })

  test.each([
    ['data.priority', 'eq', 'high'],
    ['data.priority', 'eq', null],
    ['data.priority', 'in', []],
    ['data.priority', 'like', 'h%'],
    ['data.priority', 'gt', 'a'],
    ['data.level', 'in', [1, 2]],
    ['data.tags', 'has', 'blue'],
    ['data.due', 'eq', '2026-01-31'],
    ['data.opened_at', 'gt', '2026-01-31T09:30:00+02:00'],
    ['data.free', 'eq', 'anything'],
    ['data.amount', 'gt', 1.5],
    ['data.count', 'eq', null],
    ['data.either', 'in', ['5', 5]],
    ['data.names', 'has', 'Ada'],
    ['data.names', 'eq', ['Ada']],
    ['data.names[]', 'eq', 'Ada'],
    ['data.unknown', 'eq', 'anything'],
  ])('%s %s %j has no hint', async (field, op, value) => {
    expect(await hintOf(condition(field, op, value))).toBeUndefined()
  })

  test('has the hint in an aggregate, and in a claim that finds nothing', async () => {
    const filter = condition('data.priority', 'eq', 'hgih')
    const aggregate = { filter, aggregations: [{ fn: 'count' }] }
    const counted = succeed(await world.call('POST', `/v1/crm/records/${type}/aggregate`, aggregate))
    expect(counted.meta.hint).toContain('Did you mean "high"?')
    const claimed = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, { filter }))
    expect(claimed.meta.hint).toContain('Did you mean "high"?')
    const by = await callTool(world, '/mcp/crm', 'aggregate_records', { record_type: type, ...aggregate })
    expect(by.body.meta.hint).toContain('Did you mean "high"?')
  })

  test('has the hint in MCP too, and a policy of an endpoint gives none', { tags: 'full' }, async () => {
    const args = { record_type: type, filter: condition('data.priority', 'eq', 'hgih') }
    const { body } = await callTool(world, '/mcp/crm', 'query_records', args)
    expect(body.meta.hint).toContain('Did you mean "high"?')
    const filter = condition('data.priority', 'eq', 'secret-value')
    const tools = [{ record_type: type, operations: ['list'], filter }]
    succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }), 201)
    const { body: list, text } = await callTool(world, '/mcp/crm/e/desk', `list_${type}`, {})
    expect(list.data).toEqual([])
    expect(text).not.toContain('secret-value')
  })
})

describe('SQL that compares with a value that the schema excludes', () => {
  const meta = async (query: string, params?: object) =>
    succeed(await world.call('POST', '/v1/crm/sql', { query, params })).meta

  test('has a hint with the values', { tags: 'full' }, async () => {
    for (const [where, params] of [
      [`priority = 'hgih'`],
      [`'hgih' = t.priority`],
      [`priority IN ('low', 'hgih')`],
      [`priority = ANY (ARRAY['hgih'])`],
      [`priority <> :p`, { p: 'hgih' }],
    ] as const) {
      const { hint } = await meta(`SELECT id FROM ${type} t WHERE ${where}`, params)
      expect(hint, where).toContain(
        'The schema allows no "hgih" in priority, only "low", "high". Did you mean "high"?',
      )
    }
  })

  test('has none for other values, columns and relations', { tags: 'full' }, async () => {
    for (const query of [
      `SELECT id FROM ${type} WHERE priority = 'high'`,
      `SELECT id FROM ${type} WHERE free = 'hgih'`,
      `SELECT id FROM ${type} WHERE priority > 'a'`,
      `WITH x AS (SELECT free AS priority FROM ${type}) SELECT * FROM x WHERE priority = 'hgih'`,
      `SELECT priority FROM (SELECT 'hgih' AS priority) s WHERE priority = 'hgih'`,
    ])
      expect(await meta(query), query).not.toHaveProperty('hint')
  })
})

describe('a field that the schema does not have', () => {
  const aggregated = async (body: object): Promise<{ data: object[]; hint: string | undefined }> => {
    const path = `/v1/crm/records/${type}/aggregate`
    const { data, meta } = succeed(
      await world.call('POST', path, { aggregations: [{ fn: 'count' }], ...body }),
    )
    return { data, hint: meta.hint }
  }
  const NEAR = 'The schema has no data.priorty. Did you mean data.priority?'
  const NO_TIME = 'No value of data.free is a date or time, so all are in the group null.'

  test('is named in a filter that finds nothing, with the near one', { tags: 'full' }, async () => {
    const wrong = condition('data.priorty', 'eq', 'high')
    expect(await hintOf(wrong)).toBe(NEAR)
    expect(await hintOf({ and: [wrong, condition('id', 'eq', 'a')] })).toBe(NEAR)
    expect(await hintOf({ not: wrong })).toBeUndefined()
    expect((await aggregated({ filter: wrong })).hint).toBe(NEAR)
    const claimed = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, { filter: wrong }))
    expect(claimed.meta.hint).toBe(NEAR)
  })

  test.each([
    [{ group_by: ['data.priorty'] }, NEAR],
    [{ aggregations: [{ fn: 'max', field: 'data.priorty' }] }, NEAR],
    [{ aggregations: [{ fn: 'count', field: 'data.priorty' }] }, NEAR],
    [
      { group_by: ['data.due.month'] },
      'No record has data.due.month. To group by month, write {"field":"data.due","interval":"month"}.',
    ],
    [{ group_by: [{ field: 'data.free', interval: 'month' }] }, NO_TIME],
    [{ group_by: [{ field: 'data.free', interval: 'month', alias: 'when' }] }, 'No value of when is a date'],
  ])('is named where an aggregate gives null only: %j', async (body, words) => {
    expect((await aggregated(body)).hint).toContain(words)
    const args = { record_type: type, aggregations: [{ fn: 'count' }], ...body }
    expect((await callTool(world, '/mcp/crm', 'aggregate_records', args)).body.meta.hint).toContain(words)
  })

  test.each([
    { group_by: ['data.priority'] },
    { group_by: ['data.unknown'] },
    { group_by: [{ field: 'data.due', interval: 'month' }] },
    { aggregations: [{ fn: 'sum', field: 'data.level' }] },
    { aggregations: [{ fn: 'sum', field: 'data.free' }] },
  ])('is not named otherwise: %j', async (body) => {
    expect((await aggregated(body)).hint).toBeUndefined()
  })
})

describe('changes of an actor that made none', () => {
  const changesBy = async (query: string) => succeed(await world.call('GET', `/v1/crm/changes?${query}`))

  test('have a hint with the near name, or with those that made changes', { tags: 'full' }, async () => {
    const near = 'There is no change by the actor "admn" here. Did you mean "admin"?'
    const others = 'There is no change by the actor "the importer" here. The newest are by "admin".'
    for (const more of ['', '&order=desc', '&group=request', '&kind=record&since=2026-01-01T00:00:00Z']) {
      expect(await changesBy(`actor=admn${more}`)).toMatchObject({ data: [], meta: { hint: near } })
      expect(await changesBy(`actor=the%20importer${more}`)).toMatchObject({
        data: [],
        meta: { hint: others },
      })
    }
    const { body } = await callTool(world, '/mcp/crm', 'changes', { actor: 'admn', group: 'request' })
    expect(body.meta.hint).toBe(near)
  })

  test('have none for an actor with changes, without changes by anybody, and for who follows the log', async () => {
    for (const query of ['actor=admin', 'actor=admn&id=absent', 'actor=admn&after=1', 'limit=1'])
      expect((await changesBy(query)).meta).not.toHaveProperty('hint')
  })

  test('name no actor of changes that the token may not read', async () => {
    const own = await world.newType({ json_schema: { type: 'object' } })
    const reader = await world.newToken([{ record_type: own, permission: 'read' }])
    const { meta } = succeed(await reader.call('GET', '/v1/crm/changes?actor=admn&kind=record'))
    expect(meta).not.toHaveProperty('hint')
  })
})
