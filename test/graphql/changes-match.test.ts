// @module-tag full
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const QUERY = `query ($type: String!, $filter: JSON!, $seqs: [Float!]!) {
  changesMatch(base: "crm", recordType: $type, filter: $filter, seqs: $seqs)
}`
const ask = async (type: string, filter: unknown, seqs: unknown[], call = world.call): Promise<Body> =>
  (await call('POST', '/graphql', { query: QUERY, variables: { type, filter, seqs } })).body
const isN = (n: number) => ({ field: 'data.n', op: 'eq', value: n })

/** The entries of one record: created with 1, updated to 2, deleted, restored, cancelled. */
async function lifeOf(type: string, id: string): Promise<number[]> {
  const at = `/v1/crm/records/${type}/${id}`
  succeed(await world.call('PUT', at, { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', at, { data: { n: 2 } }))
  succeed(await world.call('DELETE', at))
  succeed(await world.call('POST', `${at}/restore`))
  succeed(await world.call('POST', `${at}/cancel`))
  return (await world.logOf(type, id)).map(({ seq }) => Number(seq))
}

test('changesMatch is true if the record matches the filter before or after the change', async () => {
  const type = await world.newType()
  const seqs = await lifeOf(type, 'a')
  const matching = async (filter: unknown) => {
    const found = await Promise.all(seqs.map((seq) => ask(type, filter, [seq])))
    return found.map(({ data }) => data.changesMatch)
  }
  expect(await matching(isN(1))).toEqual([true, true, false, false, false])
  expect(await matching(isN(2))).toEqual([false, true, true, true, true])
  expect(await matching(isN(3))).toEqual([false, false, false, false, false])
  const cancelled = { field: 'status', op: 'eq', value: 'cancelled' }
  expect(await matching(cancelled)).toEqual([false, false, false, false, true])
  expect((await ask(type, isN(1), seqs)).data.changesMatch).toBe(true)
  expect((await ask(type, isN(1), [])).data.changesMatch).toBe(false)
})

test('changesMatch is false for entries of other types and for unknown entries', async () => {
  const [type, other] = [await world.newType(), await world.newType()]
  const seqs = await lifeOf(other, 'a')
  expect(
    (await ask(type, { field: 'id', op: 'is_not_null' }, [...seqs, 1, 2, 999_999_999])).data.changesMatch,
  ).toBe(false)
})

test('changesMatch is FORBIDDEN for a type outside the grants, and false for its entries', async () => {
  const [open, shut] = [await world.newType(), await world.newType()]
  const seqs = await lifeOf(shut, 'a')
  const { call } = await world.newToken([{ record_type: open, permission: 'read' }])
  expect((await ask(open, isN(1), seqs, call)).data.changesMatch).toBe(false)
  for (const type of [shut, 'absent']) {
    const { errors } = await ask(type, isN(1), seqs, call)
    expect(errors[0].extensions.code).toBe('FORBIDDEN')
  }
})

test('changesMatch refuses an invalid filter, more than 1,000 entries and invalid seqs by name', async () => {
  const type = await world.newType()
  const refused = async (filter: unknown, seqs: unknown[]) =>
    (await ask(type, filter, seqs)).errors[0].extensions
  expect((await refused({ field: 'data.n', op: 'eqq' }, [1])).details[0].path).toBe('/filter/op')
  const many = Array.from({ length: 1001 }, (_, n) => n)
  for (const seqs of [many, [-1], [0.5]])
    expect((await refused(isN(1), seqs)).details[0]).toMatchObject({ path: '/seqs', code: 'out_of_range' })
})

describe('with a condition', () => {
  const CONDITIONAL = `query ($type: String!, $filter: JSON, $condition: JSON, $seqs: [Float!]!) {
    changesMatch(base: "crm", recordType: $type, filter: $filter, condition: $condition, seqs: $seqs)
  }`
  const became = { and: [isN(2), { field: 'previous.data.n', op: 'neq', value: 2 }] }
  const asked = async (variables: object, call = world.call): Promise<Body> =>
    (await call('POST', '/graphql', { query: CONDITIONAL, variables })).body

  test('changesMatch is true for the entries that meet it, within the filter', async () => {
    const type = await world.newType()
    const seqs = await lifeOf(type, 'a')
    const matching = async (more: object) => {
      const found = await Promise.all(seqs.map((seq) => asked({ type, seqs: [seq], ...more })))
      return found.map(({ data }) => data.changesMatch)
    }
    expect(await matching({ condition: became })).toEqual([false, true, false, true, false])
    expect(await matching({ condition: became, filter: isN(1) })).toEqual([false, true, false, false, false])
    expect(await matching({})).toEqual([true, true, true, true, true])
  })

  test('changesMatch is false for entries of types outside the grants', async () => {
    const [open, shut] = [await world.newType(), await world.newType()]
    const seqs = await lifeOf(shut, 'a')
    const { call } = await world.newToken([{ record_type: open, permission: 'read' }])
    const any = { field: 'id', op: 'is_not_null' }
    for (const more of [{ condition: became }, { condition: any }, { condition: any, filter: any }, {}])
      expect((await asked({ type: open, seqs, ...more }, call)).data.changesMatch).toBe(false)
    expect((await asked({ type: shut, seqs, condition: any }, call)).errors[0].extensions.code).toBe(
      'FORBIDDEN',
    )
  })
})
