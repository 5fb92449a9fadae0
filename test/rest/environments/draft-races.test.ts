// @module-tag full
/** Writes into a change-set while production writes the same records: a draft is made of what its writer read. */
import { isDeepStrictEqual as isEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const RECORDS = 60
let world: World
let id: string

beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  const step = {
    name: 'p',
    type: 'patch_record',
    record_type: 'deal',
    id: '{{input.id}}',
    data: { note: 'action' },
  }
  succeed(await world.call('PUT', '/v1/crm/actions/note', { steps: [step] }), 201)
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
  id = succeed(await world.call('POST', '/v1/crm/preview', { name: 'races', copy: 'on_write' }), 201).id
})
afterAll(() => world.close())

const name = (way: string, n: number) => `${way}-${n}`
const upsert = (record: string, n: number) => ({
  ...{ type: 'upsert_record', record_type: 'deal', id: record },
  data: { n, note: 'none' },
})

/** Patches `note` of each record in the change-set, in the way of `write`, while three writers count `n` up in production. */
async function race(way: string, write: (record: string) => Promise<unknown>): Promise<Body[]> {
  const all = times(RECORDS, (n) => name(way, n))
  succeed(await world.call('POST', '/v1/crm/batch', { operations: all.map((each) => upsert(each, 0)) }))
  let isOver = false
  const hammer = async () => {
    for (let n = 1; !isOver; n++) {
      const operations = all.map((record) => ({
        ...{ type: 'patch_record', record_type: 'deal', id: record },
        data: { n },
      }))
      succeed(await world.call('POST', '/v1/crm/batch', { operations }))
    }
  }
  const hammering = Promise.all(times(3, hammer))
  for (const record of all) await write(record)
  isOver = true
  await hammering
  const { data } = succeed(await world.call('GET', `/v1/${id}/changes?limit=1000`))
  return data.filter((change: Body) => String(change['id']).startsWith(`${way}-`))
}

test.each([
  [
    'a patch in a batch',
    'batch',
    async (record: string) => {
      const operations = [{ type: 'patch_record', record_type: 'deal', id: record, data: { note: 'batch' } }]
      succeed(await world.call('POST', `/v1/${id}/batch`, { operations }))
    },
  ],
  [
    'a patch',
    'patch',
    async (record: string) =>
      succeed(await world.call('PATCH', `/v1/${id}/records/deal/${record}`, { data: { note: 'patch' } })),
  ],
  [
    'a step of an action',
    'action',
    async (record: string) =>
      succeed(await world.call('POST', `/v1/${id}/actions/note/run`, { input: { id: record } })),
  ],
])('%s changes no field that only production writes', async (_what, way, write) => {
  const changes = await race(way, write)
  expect(changes).toHaveLength(RECORDS)
  const wrong = changes.filter(
    ({ diff }) => !isEqual(diff, [{ op: 'replace', path: '/data/note', value: way }]),
  )
  expect(wrong).toEqual([])
})
