/** What change-sets cost those who use none: no statement more. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  for (const id of ['a', 'b'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: {} }), 201)
})
afterAll(() => world.close())

/** The statements on records, links and the log that the work runs, as PostgreSQL gets them. */
async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  prototype.query = function (this: pg.Client, ...sent: unknown[]) {
    const [first] = sent as [string | { text?: string } | undefined]
    const text = typeof first === 'string' ? first : first?.text
    if (text) seen.push(text)
    return Reflect.apply(query, this, sent)
  } as typeof query
  try {
    await work()
  } finally {
    prototype.query = query
  }
  return seen.filter((text) => /plinth(_draft)?\.(record|relationship|change|draft|change_set)/.test(text))
}

test('production runs the statements that it runs without change-sets, and none names a draft', async () => {
  let n = 0
  const work = async () => {
    const record = '/v1/crm/records/deal/a'
    succeed(await world.call('GET', record))
    succeed(await world.call('GET', '/v1/crm/records/deal?limit=2&include_total=true'))
    succeed(await world.call('PATCH', record, { data: { n: ++n } }))
  }
  for (let warm = 0; warm < 3; warm++) await work()
  const before = await statementsOf(work)
  expect(before.length).toBeGreaterThanOrEqual(3)
  const id = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
  succeed(await world.call('PATCH', `/v1/${id}/records/deal/a`, { data: { draft: 1 } }))
  succeed(await world.call('DELETE', `/v1/${id}/records/deal/b`))
  await work()
  const after = await statementsOf(work)
  expect(after).toEqual(before)
  expect(after.filter((text) => /draft|change_set/.test(text))).toEqual([])
  const inside = await statementsOf(async () => {
    succeed(await world.call('GET', `/v1/${id}/records/deal/a`))
  })
  // The counter would see them, and one read is one statement there too.
  expect(inside).toHaveLength(1)
  expect(inside[0]).toContain('plinth_draft.records')
})
