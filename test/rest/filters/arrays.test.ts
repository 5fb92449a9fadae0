/** Conditions on one array share one expansion of the array, and give the results of separate conditions. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const RECORDS: Record<string, unknown> = {
  none: {},
  empty: { a: [] },
  scalar: { a: 1 },
  one: { a: [1], b: [{ k: 1 }] },
  two: { a: [1, 2], b: [{ k: 1, m: 'x' }, { k: 2 }] },
  mixed: { a: [2, 'x', null], b: [{ m: 'x' }, 3] },
  nested: { a: [[1], [2]], b: [{ k: [1, 2] }] },
}

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/list', {}), 201)
  for (const [id, data] of Object.entries(RECORDS))
    succeed(await world.call('PUT', `/v1/crm/records/list/${id}`, { data }), 201)
})
afterAll(() => world.close())

const idsOf = async (filter: unknown): Promise<string[]> => {
  const body = { filter, limit: 100, fields: ['id'] }
  const answer = succeed(await world.call('POST', '/v1/crm/records/list/query', body))
  return answer.data.map(({ id }: Body) => id).sort()
}

type Filter = Record<string, unknown>
const condition: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    field: fc.constantFrom('data.a[]', 'data.b[].k', 'data.b[].m', 'data.a[][]', 'data.b[].k[]'),
    op: fc.constantFrom('eq', 'neq'),
    value: fc.constantFrom(1, 2, 'x', null),
  }),
  fc.record({
    field: fc.constantFrom('data.a[]', 'data.b[].k'),
    op: fc.constantFrom('in', 'not_in'),
    value: fc.constantFrom([1, 'x'], [2, null], []),
  }),
  fc.record({
    field: fc.constantFrom('data.a[]', 'data.b[].m'),
    op: fc.constantFrom('is_null', 'is_not_null'),
  }),
  fc.record({ field: fc.constant('id'), op: fc.constant('gt'), value: fc.constantFrom('m', 'one') }),
)
const { filter: filters } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    condition,
    fc.array(tie('filter'), { minLength: 1, maxLength: 4 }).map((and) => ({ and })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 4 }).map((or) => ({ or })),
    tie('filter').map((not) => ({ not })),
  ),
}))

test('a group of conditions selects the records that its conditions select separately', {
  tags: 'full',
}, async () => {
  const all = Object.keys(RECORDS).sort()
  const known = new Map<string, string[]>()
  const select = async (filter: Filter): Promise<string[]> => {
    const { and, or, not } = filter as { and?: Filter[]; or?: Filter[]; not?: Filter }
    if (and) {
      const parts = await Promise.all(and.map(select))
      return all.filter((id) => parts.every((part) => part.includes(id)))
    }
    if (or) {
      const parts = await Promise.all(or.map(select))
      return all.filter((id) => parts.some((part) => part.includes(id)))
    }
    if (not) {
      const without = await select(not)
      return all.filter((id) => !without.includes(id))
    }
    const key = JSON.stringify(filter)
    const found = known.get(key) ?? (await idsOf(filter))
    known.set(key, found)
    return found
  }
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      expect(await idsOf(filter)).toEqual(await select(filter))
    }),
    { numRuns: 200 },
  )
})

test('80 conditions on a long array need no more memory than one', { tags: 'full' }, async () => {
  const data = { a: Array.from({ length: 200_000 }, (_, i) => i % 10) }
  succeed(await world.call('PUT', '/v1/crm/records/list/long', { data }), 201)
  const each = (op: string, from: number) =>
    Array.from({ length: 40 }, (_, i) => ({ field: 'data.a[]', op, value: from + i }))
  // Each condition alone takes about 10 MB; the embedded database may be limited to 384 MB.
  expect(await idsOf({ or: each('eq', 1000) })).toEqual([])
  expect(await idsOf({ and: [...each('neq', 1000), { field: 'id', op: 'eq', value: 'long' }] })).toEqual([
    'long',
  ])
  expect(await idsOf({ and: [{ or: each('eq', -30) }, { field: 'id', op: 'eq', value: 'long' }] })).toEqual([
    'long',
  ])
  succeed(await world.call('DELETE', '/v1/crm/records/list/long'))
})
