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

/** The error of an answer that lists some faults, counts all and stays small. */
function expectCounted(answer: Answer, count: number): void {
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(details).toHaveLength(20)
  expect(details.at(-1)).toMatchObject({ path: '', code: 'more_faults' })
  // What is missing counts too.
  expect(details.at(-1).count - count).toBeOneOf([0, 1])
  expect(details.slice(0, -1).every(({ code }: { code: string }) => code !== 'more_faults')).toBe(true)
  expect(answer.text.length).toBeLessThan(64 * 1024)
}

describe('An error lists twenty details at most, and counts the faults', () => {
  test.each([
    ['PUT', () => `/v1/crm/records/${closed}/x`],
    ['POST', () => `/v1/crm/records/${closed}`],
    ['POST', () => `/v1/crm/records/${closed}/query`],
    ['PUT', () => '/v1/crm/record-types/other'],
    ['PUT', () => '/v1/bases/other'],
  ])('of a body with unknown keys: %s', async (method, path) => {
    expectCounted(await world.call(method, path(), keys(9000)), 9000)
    const { details } = expectFailure(await world.call(method, path(), keys(130_000)), 'VALIDATION_ERROR')
    expect(details.length).toBeLessThanOrEqual(20)
  })

  test('of a query with 3,000 unknown parameters', async () => {
    const query = times(3000, (i) => `q${i}=1`).join('&')
    expectCounted(await world.call('GET', `/v1/crm/records/${closed}?${query}`), 3000)
  })

  test('of data with 10,000 properties that its schema does not know, and what is allowed stays short', async () => {
    const answer = await world.call('PUT', `/v1/crm/records/${closed}/x`, { data: keys(10_000) })
    expectCounted(answer, 10_000)
    for (const { allowed = [] } of answer.body.error.details) expect(allowed.length).toBeLessThanOrEqual(50)
  })

  test('of twenty, all are listed', async () => {
    const answer = await world.call('PUT', `/v1/crm/records/${closed}/x`, { data: keys(20) })
    const { details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(details.map(({ code }: { code: string }) => code)).toEqual(
      times(20, () => 'additional_properties'),
    )
  })

  test('of a value that a schema allows, no more is repeated than is of use', async () => {
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
