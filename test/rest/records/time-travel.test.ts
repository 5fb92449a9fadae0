import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed } from '../../support/answers.ts'
import { cases } from '../../support/cases.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const at = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const read = (type: string, id: string, query: string) => world.call('GET', `${at(type, id)}?${query}`)
const asOf = (moment: number | string) =>
  `as_of=${encodeURIComponent(typeof moment === 'string' ? moment : new Date(moment).toISOString())}`

type Step = { id: string; op: 'put' | 'cancel' | 'restore' | 'delete'; n: number; pair: boolean }
const step = fc.record<Step>({
  id: fc.constantFrom('a', 'b', 'c'),
  op: fc.constantFrom('put', 'put', 'put', 'cancel', 'restore', 'delete'),
  n: fc.integer({ min: 0, max: 4 }),
  pair: fc.boolean(),
})

/** The state of a record after one of its versions, at that time; null if deleted. */
type Remembered = { id: string; at: number; state: Body | null }

async function run(type: string, { id, op, n, pair }: Step): Promise<void> {
  const body = { data: { n, text: `word${n}` }, ...(pair && { external_id: `of ${id}` }) }
  if (op === 'put') await world.call('PUT', at(type, id), body)
  else if (op === 'delete') await world.call('DELETE', at(type, id))
  else await world.call('POST', `${at(type, id)}/${op}`)
}

/** Runs the steps and records the state after each, as current reads show it. */
async function live(type: string, steps: readonly Step[]): Promise<Remembered[]> {
  const remembered: Remembered[] = []
  let last = new Map<string, number>()
  for (const each of steps) {
    await run(type, each)
    const history = await world.call('GET', `${at(type, each.id)}/history?limit=1`)
    if (history.status === 404) continue
    const [newest] = history.body.data
    if (last.get(each.id) === newest.version) continue
    last = new Map(last).set(each.id, newest.version)
    const now = await world.call('GET', at(type, each.id))
    remembered.push({ id: each.id, at: Date.parse(newest.at), state: now.status === 200 ? now.body : null })
    await sleep(2)
  }
  return remembered
}

const stateAt = (remembered: readonly Remembered[], id: string, moment: number): Body | null =>
  remembered.filter((each) => each.id === id && each.at <= moment).at(-1)?.state ?? null

const page = async (type: string, query: string) =>
  succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id&${query}`))

test('as_of takes an age', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', at(type, 'a'), { data: { n: 1 } }), 201)
  expect((await page(type, 'as_of=1 hour ago')).data).toEqual([])
  expectFailure(await read(type, 'a', 'as_of=PT1H'), 'NOT_FOUND')
  const wrong = await read(type, 'a', 'as_of=yesterday')
  expect(expectFault(wrong, 'query/as_of').message).toContain('or an age such as 90m')
})

test('the pages of a cursor keep the time that an age meant for the first', { tags: 'full' }, async () => {
  const type = await world.newType()
  for (const id of ['a', 'b', 'c']) succeed(await world.call('PUT', at(type, id), { data: { n: 1 } }), 201)
  await sleep(5)
  const first = await page(type, 'as_of=0s&limit=1')
  succeed(await world.call('DELETE', at(type, 'b')))
  await sleep(5)
  const rest = await page(type, `as_of=0s&limit=5&cursor=${encodeURIComponent(first.meta.next_cursor)}`)
  expect(rest.data.map(({ id }: Body) => id)).toEqual(['b', 'c'])
  expect((await page(type, 'as_of=0s')).data).toHaveLength(2)
})

test('reads by version and as_of return the state that current reads returned then, alone and in lists', {
  tags: ['full', 'sampled'],
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const type = await world.newType({
        indexes: [{ fields: ['data.n'] }, { fields: ['data.text'], type: 'text' }],
      })
      const remembered = await live(type, steps)
      for (const { id, state } of remembered)
        if (state) expect(succeed(await read(type, id, `version=${state.version}`))).toEqual(state)
      const moments = remembered.flatMap((each) => [each.at - 1, each.at, each.at + 1])
      for (const moment of moments) {
        const there = ['a', 'b', 'c'].flatMap((id) => stateAt(remembered, id, moment) ?? [])
        for (const id of ['a', 'b', 'c']) {
          const one = await read(type, id, asOf(moment))
          const expected = stateAt(remembered, id, moment)
          if (expected) expect(succeed(one)).toEqual(expected)
          else expectFailure(one, 'NOT_FOUND')
        }
        await listsAgree(type, moment, there)
      }
    }),
    { numRuns: cases(8) },
  )
})

async function listsAgree(type: string, moment: number, there: Body[]): Promise<void> {
  const path = `/v1/crm/records/${type}`
  const list = async (query: string) =>
    succeed(await world.call('GET', `${path}?sort=id&include_total=true&${asOf(moment)}${query}`))
  const whole = await list('')
  expect(whole.data).toEqual(there)
  expect(whole.meta.total).toBe(there.length)
  const filter = { field: 'data.n', op: 'gte', value: 2 }
  const some = there.filter((record) => record.data.n >= 2)
  expect((await list(`&filter=${encodeURIComponent(JSON.stringify(filter))}`)).data).toEqual(some)
  const search = { field: 'data.text', op: 'search', value: 'word3' }
  const found = await list(`&filter=${encodeURIComponent(JSON.stringify(search))}`)
  const exact = found.data.filter((record: Body) => record.data.text === 'word3').map((each: Body) => each.id)
  expect(exact).toEqual(there.filter((record) => record.data.n === 3).map(({ id }) => id))
  const body = { as_of: new Date(moment).toISOString(), sort: '-created_at', fields: ['id'], limit: 1 }
  const ids: string[] = []
  for (let cursor: string | undefined, more = true; more; ) {
    const page = succeed(await world.call('POST', `${path}/query`, { ...body, ...(cursor && { cursor }) }))
    ids.push(...page.data.map((each: Body) => each.id))
    more = page.meta.has_more
    cursor = page.meta.next_cursor
  }
  const newest = [...there].sort((x, y) => (x.created_at < y.created_at ? 1 : -1)).map(({ id }) => id)
  expect(ids).toEqual(newest)
}

test('an unknown version, a deletion and a malformed version have different errors', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', at(type, 'a'), { data: {} }), 201)
  succeed(await world.call('DELETE', at(type, 'a')))
  for (const version of ['0', '-1', 'one', '1.5', ''])
    expectFault(await read(type, 'a', `version=${version}`), 'query/version')
  const never = expectFailure(await read(type, 'a', 'version=99'), 'NOT_FOUND')
  expect(never.details[0]).toMatchObject({ code: 'version_not_found', expected: { from: 1, to: 2 } })
  const deletion = expectFailure(await read(type, 'a', 'version=2'), 'NOT_FOUND')
  expect(deletion.details[0]).toMatchObject({ code: 'version_deleted', hint: '1' })
  const nobody = expectFailure(await read(type, 'b', 'version=1'), 'NOT_FOUND')
  expect(nobody.details[0].code).toBe('record_not_found')
  expect(succeed(await read(type, 'a', 'version=1'))).toMatchObject({ id: 'a', version: 1, data: {} })
})

test('as_of accepts a time, by default in the timezone of the type, and excludes version', {
  tags: 'full',
}, async () => {
  const type = await world.newType({ timezone: 'Pacific/Kiritimati' })
  succeed(await world.call('PUT', at(type, 'a'), { data: {} }), 201)
  for (const moment of ['yesterday', '2026-02-30', '2026-01-01T25:00:00Z', ''])
    expectFault(await read(type, 'a', asOf(moment)), 'query/as_of')
  expectFault(await read(type, 'a', `version=1&${asOf(Date.now())}`), 'query/as_of')
  expectFault(await world.call('GET', `/v1/crm/records/${type}?as_of=yesterday`), 'query/as_of')
  expectFault(await world.call('POST', `/v1/crm/records/${type}/query`, { as_of: 'yesterday' }), '/as_of')
  const unescaped = expectFault(await read(type, 'a', 'as_of=2026-01-01T00:00:00+02:00'), 'query/as_of')
  expect(unescaped.hint).toBe('2026-01-01T00:00:00%2B02:00')
  // UTC+14: the local time there, read as UTC, is in the future.
  const there = new Date(Date.now() + 14 * 3_600_000 + 1000).toISOString().slice(0, -1)
  expect(succeed(await read(type, 'a', asOf(there))).version).toBe(1)
  const before = new Date(Date.now() + 13 * 3_600_000).toISOString().slice(0, -1)
  expectFailure(await read(type, 'a', asOf(before)), 'NOT_FOUND')
})

test('a past version has an entity tag, and cannot be expanded', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', at(type, 'a'), { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', at(type, 'a'), { data: { n: 2 } }))
  const answer = await read(type, 'a', 'version=1')
  expect([answer.headers.get('etag'), answer.body.data]).toEqual(['"1"', { n: 1 }])
  const same = await world.call('GET', `${at(type, 'a')}?version=1`, undefined, { 'if-none-match': '"1"' })
  expect(same.status).toBe(304)
  expectFault(
    await world.call('GET', `/v1/crm/records/${type}?expand=owner&${asOf(Date.now())}`),
    'query/expand',
  )
})

test('a cursor is valid only with the same as_of', async () => {
  const type = await world.newType()
  for (const id of ['a', 'b']) succeed(await world.call('PUT', at(type, id), { data: {} }), 201)
  const now = Date.now() + 5
  const { meta } = succeed(await world.call('GET', `/v1/crm/records/${type}?limit=1&${asOf(now)}`))
  const other = `/v1/crm/records/${type}?limit=1&cursor=${meta.next_cursor}`
  expectFault(await world.call('GET', other), 'query/cursor')
  expectFault(await world.call('GET', `${other}&${asOf(now + 1)}`), 'query/cursor')
  succeed(await world.call('GET', `${other}&${asOf(now)}`))
})

test('past versions need read permission on the record type', async () => {
  const type = await world.newType()
  const other = await world.newType()
  succeed(await world.call('PUT', at(type, 'a'), { data: { n: 1 } }), 201)
  const { call } = await world.newToken([{ record_type: other, permission: 'write' }])
  for (const query of ['version=1', asOf(Date.now()), 'version=0'])
    expectFailure(await call('GET', `${at(type, 'a')}?${query}`), 'FORBIDDEN')
  expectFailure(await call('GET', `/v1/crm/records/${type}?${asOf(Date.now())}`), 'FORBIDDEN')
})
