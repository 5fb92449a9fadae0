// @module-tag full
// @module-tag sampled
/** Every sort and every projection agrees with the reference implementation. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { project, type Sort, select } from '../support/reference.ts'
import { SEED } from '../support/seed.ts'
import { openWorld, type World } from '../support/world.ts'
import { door, filters, sorts } from './queries.ts'
import { ask, idsOf, loadCountries, loadOdd, type Sample } from './samples.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const shorthand = (sort: Sort) =>
  sort.map(({ field, direction }) => `${direction === 'desc' ? '-' : ''}${field}`)
/** Without commas and quotes, which cannot occur in the shorthand. */
const isPlain = ({ field }: { field: string }) => /^[\w.[\]]+$/.test(field)

describe.each<[string, number, () => Promise<Sample>]>([
  ['countries', 120, () => loadCountries(world.call)],
  ['odd records', 220, () => loadOdd(world.call, SEED)],
])('lists of %s', (_name, count, load) => {
  let sample: Sample
  beforeAll(async () => {
    sample = await load()
  })

  test(
    'have the order of the reference implementation, with and without a filter',
    async () => {
      const query = fc.record({
        sort: sorts(sample.fields),
        filter: fc.option(filters(sample), { freq: 2 }),
        door,
      })
      await forAll(query, count, async ({ sort, filter, door }) => {
        const page = await ask(
          world.call,
          sample.at,
          { filter: filter ?? undefined, sort, fields: ['id'], limit: 1000 },
          door,
        )
        expect(idsOf(page)).toEqual(select(sample.rows, sample.rules, filter, sort).map(({ id }) => id))
      })
    },
    CASES_TIMEOUT,
  )

  test(
    'have the same order with the shorthand of sort',
    async () => {
      await forAll(
        fc.record({ sort: sorts(sample.fields).filter((sort) => sort.every(isPlain)), door }),
        30,
        async ({ sort, door }) => {
          const page = await ask(
            world.call,
            sample.at,
            { sort: shorthand(sort).join(','), fields: ['id'], limit: 1000 },
            door,
          )
          expect(idsOf(page)).toEqual(select(sample.rows, sample.rules, null, sort).map(({ id }) => id))
        },
      )
    },
    CASES_TIMEOUT,
  )

  test(
    'with fields have the projection of the reference implementation',
    async () => {
      const names = sample.fields.filter((field) => !/\[\d*\]/.test(field))
      const cut = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
      await forAll(cut, 30, async (fields) => {
        const door = fields.every((field) => isPlain({ field })) ? 'GET' : 'POST'
        const page = await ask(world.call, sample.at, { fields, sort: 'id', limit: 1000 }, door)
        const rows = select(sample.rows, sample.rules, null, [{ field: 'id', direction: 'asc' }])
        expect(page.data).toEqual(rows.map((row) => project(row, fields)))
      })
    },
    CASES_TIMEOUT,
  )
})
