/** Pages of a change log that is longer than what one step looks through. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const ENTRIES = 60_000

let world: World
let part: { call: Call }
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['t', 'hidden'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  // Requests of 1 to 400 entries; two of another token at the start.
  await world.database.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, token_id, actor_name, via, request_id, at)
     SELECT 'crm', 'record', CASE WHEN n % 5 = 0 THEN 'hidden' ELSE 't' END, 'r' || n,
       CASE WHEN n = 2 THEN 'delete' ELSE 'create' END, 1, '{}', CASE WHEN n <= 2 THEN 'rare' ELSE 'tok' END, 'name', 'rest',
       CASE WHEN n <= 2 THEN 'first-' || n WHEN n % 1000 < 600 THEN 'small-' || n / 3 ELSE 'large-' || n / 1000 END,
       now() - interval '1 day' FROM generate_series(1, $1::int) n`,
    [ENTRIES],
  )
  part = await world.newToken([{ record_type: 't', permission: 'read' }])
})
afterAll(() => world.close())

const read = async (query: string, call: Call = world.call): Promise<Body> =>
  succeed(await call('GET', `/v1/crm/changes?${query}`))

test.each(['asc', 'desc'])(
  'a page that would be empty looks through all of the log, in order %s',
  async (order) => {
    expect(await read(`actor=nobody&order=${order}`)).toMatchObject({ data: [], meta: { has_more: false } })
    for (const call of [world.call, part.call]) {
      const { data } = await read(`actor=rare&operation=delete&order=${order}`, call)
      expect(data.map(({ id }: Body) => id)).toEqual(['r2'])
    }
  },
)

test('requests are found however far back they are', { tags: 'full' }, async () => {
  expect(await read('group=request&actor=nobody')).toEqual({
    data: [],
    meta: { has_more: false, limit: 50, hint: expect.stringContaining('no change by the actor "nobody"') },
  })
  const rare = await read('group=request&actor=rare')
  expect(rare.data.map(({ request_id }: Body) => request_id)).toEqual(['first-2', 'first-1'])
  expect(rare.meta.has_more).toBe(false)
})

test('one request is read by its id', async () => {
  for (const [call, count] of [
    [world.call, 400],
    [part.call, 320],
  ] as const) {
    const { data, meta } = await read('group=request&request_id=large-0', call)
    expect(data).toMatchObject([{ request_id: 'large-0', count }])
    expect(meta).toEqual({ has_more: false, limit: 50 })
  }
  expect((await read('group=request&request_id=large-0&record_type=hidden')).data[0].count).toBe(80)
  expect(await read('group=request&request_id=none')).toMatchObject({ data: [], meta: { has_more: false } })
})

test.each([7, 50, 1000])(
  'pages of %i requests list each once, with all of its changes',
  {
    tags: ['full', 'sampled'],
    timeout: CASES_TIMEOUT,
  },
  async (limit) => {
    const entries = Math.min(cases(15_000), ENTRIES)
    const expected = await world.database.query<{ request_id: string; count: number }>(
      `SELECT request_id, count(*)::int AS count FROM plinth.change
     WHERE base_id = 'crm' AND record_type = 't' AND seq > (SELECT max(seq) - $1::int FROM plinth.change)
     GROUP BY 1 ORDER BY max(seq) DESC`,
      [entries],
    )
    const [{ seq } = { seq: 0 }] = await world.database.query<{ seq: number }>(
      'SELECT (max(seq) - $1::int)::float8 AS seq FROM plinth.change',
      [entries],
    )
    const found: object[] = []
    for (let before = ''; ; ) {
      const page = await read(`group=request&record_type=t&limit=${limit}&after=${seq}${before}`)
      for (const { request_id, count } of page.data) found.push({ request_id, count })
      expect(page.data.length).toBeGreaterThan(0)
      expect(page.data.length).toBeLessThanOrEqual(limit)
      if (!page.meta.has_more) break
      before = `&before=${page.meta.next_before}`
    }
    expect(found).toEqual(expected)
  },
)
