import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, times } from '../support/answers.ts'
import type { Answer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let closed: string
beforeAll(async () => {
  world = await openWorld()
  const properties = Object.fromEntries(times(1000, (i) => [`property_${i}`, { type: 'string' }]))
  closed = await world.newType({ json_schema: { type: 'object', properties, additionalProperties: false } })
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

  test('are limited to twenty and a count for a query with 3,000 unknown parameters', async () => {
    const query = times(3000, (i) => `q${i}=1`).join('&')
    expectCounted(await world.call('GET', `/v1/crm/records/${closed}?${query}`), 3000)
  })

  test('are limited to twenty, with at most 50 allowed names each, for data with 10,000 undeclared properties', async () => {
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
    const type = await world.newType({
      json_schema: { properties: { a: { enum: long }, b: { const: { text: 'x'.repeat(5000) } } } },
    })
    const answer = await world.call('PUT', `/v1/crm/records/${type}/x`, { data: { a: 'w', b: 1 } })
    const { details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(details.map(({ path }: { path: string }) => path)).toEqual(['/data/a', '/data/b'])
    expect(answer.text.length).toBeLessThan(5000)
  })
})
