// @module-tag full
// @module-tag sampled
/** Every filter agrees with the reference implementation. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { select } from '../support/reference.ts'
import { SEED } from '../support/seed.ts'
import { openWorld, type World } from '../support/world.ts'
import { door, filters } from './queries.ts'
import { ask, idsOf, loadCountries, loadOdd, type Sample } from './samples.ts'

const BY_ID = [{ field: 'id', direction: 'asc' as const }]

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

test.each<[string, number, () => Promise<Sample>]>([
  ['countries', 500, () => loadCountries(world.call)],
  ['odd records', 1000, () => loadOdd(world.call, SEED)],
])(
  'filters over %s select the same records as the reference implementation',
  async (_name, count, load) => {
    const sample = await load()
    let partial = 0
    await forAll(fc.record({ filter: filters(sample), door }), count, async ({ filter, door }) => {
      const query = { filter, sort: 'id', fields: ['id'], limit: 1000, include_total: true }
      const page = await ask(world.call, sample.at, query, door)
      const expected = select(sample.rows, sample.rules, filter, BY_ID).map(({ id }) => id)
      expect(idsOf(page)).toEqual(expected)
      expect(page.meta).toMatchObject({ total: expected.length, has_more: false })
      if (expected.length > 0 && expected.length < sample.rows.length) partial++
    })
    // Filters that match all or no records prove little.
    expect(partial).toBeGreaterThan(cases(count) / 4)
  },
  CASES_TIMEOUT,
)
