import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let closed: string
let type: string
beforeAll(async () => {
  world = await openWorld()
  const properties = Object.fromEntries(times(1000, (i) => [`property_${i}`, { type: 'string' }]))
  closed = await world.newType({ json_schema: { type: 'object', properties, additionalProperties: false } })
  const two = { n: { type: 'integer' }, stage: { enum: ['open', 'won'] } }
  type = await world.newType({ json_schema: { type: 'object', properties: two, required: ['n'] } })
})
afterAll(() => world.close())

const keys = (count: number) => Object.fromEntries(times(count, (i) => [`unknown_${i}`, 1]))

/** Checks that the error lists 20 details, counts the others, and is small. */
function expectCounted(answer: Answer, count: number): void {
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(details).toHaveLength(20)
  expect(details.at(-1)).toMatchObject({ path: '', code: 'more_faults' })
  // A missing required field may count as well.
  expect(details.at(-1).count - count).toBeOneOf([0, 1])
  expect(details.slice(0, -1).every(({ code }: { code: string }) => code !== 'more_faults')).toBe(true)
  expect(answer.text.length).toBeLessThan(64 * 1024)
}

describe('Error details', () => {
  test.each([
    ['PUT', () => `/v1/crm/records/${closed}/x`],
    ['POST', () => `/v1/crm/records/${closed}`],
    ['POST', () => `/v1/crm/records/${closed}/query`],
    ['PUT', () => '/v1/crm/record-types/other'],
    ['PUT', () => '/v1/bases/other'],
  ])(
    'are limited to twenty and a count for a body with unknown keys: %s',
    { tags: 'full' },
    async (method, path) => {
      expectCounted(await world.call(method, path(), keys(9000)), 9000)
      const { details } = expectFailure(await world.call(method, path(), keys(130_000)), 'VALIDATION_ERROR')
      expect(details.length).toBeLessThanOrEqual(20)
    },
  )

  test('are limited to twenty and a count for a query with 3,000 unknown parameters', {
    tags: 'full',
  }, async () => {
    const query = times(3000, (i) => `q${i}=1`).join('&')
    expectCounted(await world.call('GET', `/v1/crm/records/${closed}?${query}`), 3000)
  })

  test('are limited to twenty, with at most 50 allowed names each, for data with 10,000 undeclared properties', {
    tags: 'full',
  }, async () => {
    const answer = await world.call('PUT', `/v1/crm/records/${closed}/x`, { data: keys(10_000) })
    expectCounted(answer, 10_000)
    for (const { allowed = [] } of answer.body.error.details) expect(allowed.length).toBeLessThanOrEqual(50)
  })

  test('are complete when there are exactly twenty', async () => {
    const answer = await world.call('PUT', `/v1/crm/records/${closed}/x`, { data: keys(20) })
    const { details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(details.map(({ code }: { code: string }) => code)).toEqual(
      times(20, () => 'additional_properties'),
    )
  })

  test('shorten the long enum and const values of a schema', async () => {
    const long = times(300, (i) => `${'v'.repeat(300)}${i}`)
    const valued = await world.newType({
      json_schema: { properties: { a: { enum: long }, b: { const: { text: 'x'.repeat(5000) } } } },
    })
    const answer = await world.call('PUT', `/v1/crm/records/${valued}/x`, { data: { a: 'w', b: 1 } })
    const { details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(details.map(({ path }: { path: string }) => path)).toEqual(['/data/a', '/data/b'])
    expect(answer.text.length).toBeLessThan(5000)
  })
})

const create = (data: object) => ({ type: 'create_record', record_type: type, data })
const batch = (operations: object[]) => world.call('POST', '/v1/crm/batch', { operations })
const faultsOf = async (operations: object[]): Promise<Body[]> =>
  expectFailure(await batch(operations), 'VALIDATION_ERROR').details
const places = (details: readonly Body[]) => details.map(({ path, count }) => [path, count])

test('a fault of sixteen operations is listed once, with its operations and their number', async () => {
  const details = await faultsOf(times(16, () => create({ n: 'x' })))
  expect(details).toHaveLength(1)
  expect(details[0]).toMatchObject({ path: '/operations/0/data/n', code: 'type', count: 16 })
  expect(details[0]?.message).toMatch(/ Operations 0 to 15: the same\.$/)
})

test('GraphQL and MCP list a repeated fault in the same way', async () => {
  const operations = times(16, () => create({ n: 'x' }))
  const query = 'mutation ($operations: JSON) { batch(base: "crm", operations: $operations) { count } }'
  const graphql = await world.call('POST', '/graphql', { query, variables: { operations } })
  const mcp = await callTool(world, '/mcp/crm', 'batch', { operations }, { token: world.adminToken })
  const [expected] = await faultsOf(operations)
  expect(graphql.body.errors[0].extensions.details).toEqual([expected])
  expect(mcp.error.details).toEqual([expected])
})

test('faults of up to three operations are listed one by one, in the order of the batch', async () => {
  const details = await faultsOf([
    create({ n: 1 }),
    create({ n: 'x' }),
    create({ n: 1, stage: 'lost' }),
    create({ n: 'x' }),
    create({ n: 'y' }),
  ])
  expect(places(details)).toEqual([
    ['/operations/1/data/n', undefined],
    ['/operations/2/data/stage', undefined],
    ['/operations/3/data/n', undefined],
    ['/operations/4/data/n', undefined],
  ])
})

test('a repeated fault names its operations in ranges, at most ten of them', async () => {
  const even = await faultsOf(times(50, (i) => create({ n: i % 2 ? 1 : 'x' })))
  expect(even).toMatchObject([{ path: '/operations/0/data/n', count: 25 }])
  expect(even[0]?.message).toMatch(/ Operations 0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 15 more: the same\.$/)
  const mixed = await faultsOf(times(12, (i) => create(i < 6 ? { n: 'x' } : { stage: 'won', n: 1.5 + i })))
  expect(places(mixed)).toEqual([['/operations/0/data/n', 12]])
})

test('a thousand operations with one fault are all counted', async () => {
  const details = await faultsOf(times(1000, () => create({ n: 'x' })))
  expect(details.reduce((sum, { count }) => sum + count, 0)).toBe(1000)
  expect(details.length).toBeLessThanOrEqual(2)
})

test('more than twenty different faults are cut, with the number of all', async () => {
  const details = await faultsOf([
    ...times(16, () => create({ n: 'x' })),
    ...times(30, (i) => ({ type: 'delete_record', record_type: type, id: 'a', [`key_${i}`]: 1 })),
  ])
  expect(details).toHaveLength(20)
  expect(details[0]).toMatchObject({ path: '/operations/0/data/n', count: 16 })
  expect(details.at(-1)).toMatchObject({ code: 'more_faults', count: 46 })
})
