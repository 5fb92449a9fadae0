// @module-tag full
// @module-tag sampled
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const id = fc.constantFrom('a', 'b', 'c')
const data = fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom<unknown>(1, 2, 'x', [1]), {
  maxKeys: 2,
  noNullPrototype: true,
})
const pair = fc.option(fc.record({ external_id: fc.constantFrom('p', 'q') }), { nil: {} })
const expected = fc.option(fc.record({ expected_version: fc.integer({ min: 1, max: 3 }) }), {
  nil: {},
  freq: 1,
})
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('upsert_record'), id, data, pair, expected }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('create_record'), id, data, pair, expected: fc.constant({}) }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('patch_record'), id, data, pair, expected }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('delete_record', 'cancel_record'),
      id,
      pair: fc.constant({}),
      expected,
    }),
  },
)
type Operation = { type: string; id: string; data?: object; pair: object; expected: object }

/** Sends the operation as a single request. */
function single(at: string, { type, id, data, pair, expected }: Operation) {
  const path = `${at}/${id}`
  const version = (expected as { expected_version?: number }).expected_version
  const headers: Record<string, string> = version === undefined ? {} : { 'if-match': `"${version}"` }
  if (type === 'create_record') return world.call('POST', at, { id, data, ...pair }, headers)
  if (type === 'delete_record') return world.call('DELETE', path, undefined, headers)
  if (type === 'cancel_record') return world.call('POST', `${path}/cancel`, undefined, headers)
  return world.call(type === 'upsert_record' ? 'PUT' : 'PATCH', path, { data, ...pair }, headers)
}

const still = (record: Body) => ({
  ...record,
  record_type: '',
  created_at: '',
  updated_at: '',
  cancelled_at: '',
})
const stateOf = async (type: string) => {
  const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`))
  const log = await world.logOf(type)
  return {
    records: data.map(still),
    // A batch may log operations on different records in another order.
    log: log
      .map(({ id, version, operation, data, external_id }) => ({ id, version, operation, data, external_id }))
      .sort((a, b) => (a.id === b.id ? a.version - b.version : a.id < b.id ? -1 : 1)),
  }
}

test(
  'a batch has the result of its operations sent one by one, or changes nothing if one of them fails',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 4 }),
        fc.array(operation, { minLength: 1, maxLength: 7 }),
        async (before, operations) => {
          const [alone, together] = [await world.newType(), await world.newType()]
          for (const each of before)
            for (const type of [alone, together]) await single(`/v1/crm/records/${type}`, each)
          const start = await stateOf(together)
          const answers: { status: number; version?: number }[] = []
          for (const each of operations) {
            const { status, body } = await single(`/v1/crm/records/${alone}`, each)
            answers.push({ status, version: body.version })
            if (status >= 400) break
          }
          const body = operations.map(({ type, id, data, pair, expected }: Operation) => ({
            type,
            id,
            record_type: together,
            ...(data && { data }),
            ...pair,
            ...expected,
          }))
          const done = await world.call('POST', '/v1/crm/batch', { operations: body })
          const failed = answers.findIndex(({ status }) => status >= 400)
          if (failed < 0) {
            expect(await stateOf(together)).toEqual(await stateOf(alone))
            const versions = succeed(done).data.map((one: Body) => one.version)
            for (const [n, { version }] of answers.entries())
              if (version !== undefined) expect(versions[n]).toBe(version)
          } else {
            expect(done.status, done.text).toBe(answers[failed]?.status)
            expect(done.body.error.details[0].path).toMatch(new RegExp(`^/operations/${failed}\\b`))
            expect(await stateOf(together)).toEqual(start)
          }
        },
      ),
      { numRuns: cases(40), verbose: 1 },
    )
  },
  CASES_TIMEOUT,
)
