// @module-tag full
/** A batch that writes or answers too many bytes fails as a whole. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

const MIB = 1024 ** 2
let world: World
let type: string
let at: string
const text = 'x'.repeat(MIB - 100)
beforeAll(async () => {
  world = await openWorld({ PLINTH_MAX_BODY_BYTES: String(4 * MIB) })
  type = await world.newType()
  at = `/v1/crm/records/${type}`
  await fill(0, 10)
})
afterAll(() => world.close())

/** Creates records of a megabyte. */
async function fill(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    const answer = await world.call('PUT', `${at}/r${n}`, { data: { text } })
    expect([200, 201], answer.text).toContain(answer.status)
  }
}
const batch = (operations: readonly object[], headers = {}) =>
  world.call('POST', '/v1/crm/batch', { operations }, headers)
const patches = (count: number, id = (_: number) => 'r0') =>
  times(count, (n) => ({ type: 'patch_record', record_type: type, id: id(n), data: { n } }))
const state = async () =>
  succeed(await world.call('GET', `${at}?sort=id&limit=1000&fields=id,version,data.n`)).data
const entries = async () => (await world.logOf(type)).length
const keys = async () => (await world.database.query('SELECT 1 FROM plinth.idempotency', [])).length

describe('A batch of small patches of large records', () => {
  test.each<[string, () => object[]]>([
    ['of one record, again and again', () => patches(20)],
    ['of many records', () => patches(20, (n) => `r${n}`)],
    ['that cancel them', () => times(20, (n) => ({ type: 'cancel_record', record_type: type, id: `r${n}` }))],
  ])('%s is 400 above the byte limit of a batch, and writes nothing', async (_name, operations) => {
    await fill(10, 20)
    const before = [await state(), await entries(), await keys()]
    for (const headers of [{}, { 'idempotency-key': 'large' }]) {
      const error = expectFailure(await batch(operations(), headers), 'VALIDATION_ERROR')
      expect(error.details[0]).toMatchObject({ code: 'batch_too_large', expected: 16 * MIB })
      expect(error.details[0].path).toMatch(/^\/operations/)
    }
    expect([await state(), await entries(), await keys()]).toEqual(before)
  })

  test('within the byte limit is written, answered, and replayed under its idempotency key', async () => {
    const once = await batch(patches(14), { 'idempotency-key': 'fits' })
    const { data, meta } = succeed(once)
    expect(meta).toEqual({ count: 14 })
    expect(data.map((item: { record: { data: { n: number } } }) => item.record.data.n)).toEqual(
      times(14, (n) => n),
    )
    const again = await batch(patches(14), { 'idempotency-key': 'fits' })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(succeed(again)).toEqual(succeed(once))
  })
})

test('a server with a larger body limit accepts larger batches, written in several statements', async () => {
  await fill(10, 18)
  const larger = await openWorld({ PLINTH_MAX_BODY_BYTES: String(24 * MIB) }, world.database)
  try {
    const { data } = succeed(
      await larger.call('POST', '/v1/crm/batch', { operations: patches(18, (n) => `r${n}`) }),
    )
    expect(data).toHaveLength(18)
    for (const n of [0, 17]) {
      const { record } = data[n]
      expect(succeed(await larger.call('GET', `${at}/r${n}`))).toEqual(record)
      expect(record.data).toEqual({ text, n })
    }
  } finally {
    await larger.close()
  }
})

test('the batches of one GraphQL document share one byte limit', async () => {
  const before = await entries()
  const one = (name: string) =>
    `${name}: batch(base: "crm", operations: [${times(10, (n) => `{type: "patch_record", record_type: "${type}", id: "r${n}", data: {again: ${n}, by: "${name}"}}`).join(', ')}]) { count }`
  const { body } = await world.call('POST', '/graphql', {
    query: `mutation { ${one('first')} ${one('second')} }`,
  })
  expect(body.errors[0].path).toEqual(['second'])
  expect(body.errors[0].extensions.details[0]).toMatchObject({ code: 'batch_too_large' })
  expect(await entries()).toBe(before + 10)
})
