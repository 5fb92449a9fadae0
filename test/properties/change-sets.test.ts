import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import {
  comparable,
  fillLinked,
  operation,
  READS,
  type Sent,
  sorted,
} from '../support/change-set-operations.ts'
import { forAll } from '../support/for-all.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let serial = 0

beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  await fillLinked(world.call, 'crm')
})
afterAll(() => world.close())

type Told = { status: number; body: unknown }
async function answerOf(base: string, sent: Sent): Promise<Told> {
  const [method, path, body, headers] = sent
  const { status, body: answer } = await world.call(method, `/v1/${base}/${path}`, body, headers)
  // Cases run at once, and a token has few statements of SQL at a time.
  if (status === 429) return setTimeout(20).then(() => answerOf(base, sent))
  // A deletion with links answers its plan first, but not in a change-set, where the proposal shows it.
  const { plan_token } = answer as { plan_token?: string }
  if (plan_token) {
    const done = await answerOf(base, [method, path, { plan_token }])
    const { deletion: _, ...told } = done.body as { deletion?: unknown }
    return { ...done, body: told }
  }
  const whole = comparable(answer)
  return {
    status,
    body: path.startsWith('relationships?') || path.includes('/related') ? sorted(whole) : whole,
  }
}

/** The indexes of a copy are built by jobs, and a unique one refuses duplicates once it is ready. */
async function areIndexed(base: string): Promise<boolean> {
  const { indexes } = succeed(await world.call('GET', `/v1/${base}/record-types/deal`))
  return (indexes as { status: string }[]).every(({ status }) => status === 'ready')
}

type Entry = { kind: string; record_type: string | null; id: string; diff: object[] }
/** The difference of a change-set as its log has it, and as a proposal does. */
const logged = async (base: string) =>
  byName(
    (succeed(await world.call('GET', `/v1/${base}/changes?include=before&limit=1000`)).data as Entry[]).map(
      ({ kind, record_type, id, diff }) => ({
        kind,
        id: kind === 'record' ? `${record_type}/${id}` : id,
        diff,
      }),
    ),
  )
const proposed = async (from: string) =>
  byName(
    (succeed(await world.call('POST', '/v1/crm/promote/proposal', { from })).changes as Entry[]).map(
      ({ kind, id, diff }) => ({ kind, id, diff }),
    ),
  )
const byName = <T extends { id: string }>(entries: T[]): T[] =>
  entries.sort((one, other) => (one.id < other.id ? -1 : 1))

/** What every reader of production sees. */
const dump = async () => [
  await world.database.query('SELECT * FROM plinth.record WHERE base_id = $1 ORDER BY record_type, id', [
    'crm',
  ]),
  await world.database.query('SELECT * FROM plinth.relationship WHERE base_id = $1 ORDER BY id', ['crm']),
  await world.database.query('SELECT * FROM plinth.record_index WHERE base_id = $1 ORDER BY index_id, id', [
    'crm',
  ]),
  await world.database.query('SELECT * FROM plinth.record_text WHERE base_id = $1 ORDER BY index_id, id', [
    'crm',
  ]),
  await world.database.query(
    'SELECT max(seq) AS last FROM plinth.change WHERE base_id = $1 AND kind IN ($2, $3)',
    ['crm', 'record', 'relationship'],
  ),
]

test('a change-set answers as a copy of its base does, and changes nothing of it', {
  tags: 'full',
  timeout: CASES_TIMEOUT,
}, async () => {
  const before = await dump()
  await forAll(fc.array(operation, { minLength: 1, maxLength: 12 }), 100, async (operations) => {
    const n = ++serial
    succeed(await world.call('POST', '/v1/crm/preview', { name: `a${n}`, copy: 'config_and_sample' }), 201)
    succeed(await world.call('POST', '/v1/crm/preview', { name: `b${n}`, copy: 'on_write' }), 201)
    await expect.poll(() => areIndexed(`crm--a${n}`), { timeout: CASES_TIMEOUT }).toBe(true)
    for (const sent of operations) {
      const [expected, got] = [await answerOf(`crm--a${n}`, sent), await answerOf(`crm--b${n}`, sent)]
      // What a change-set has deleted is discarded, not restored.
      if (sent[1].endsWith('/restore') && got.status === 404 && expected.status === 200) break
      expect({ sent, ...got }).toEqual({ sent, ...expected })
      for (const read of READS) {
        const [seen, shown] = [await answerOf(`crm--a${n}`, read), await answerOf(`crm--b${n}`, read)]
        if (read[1] !== 'records/deal/d1' && !read[1].includes('/related'))
          expect(seen.status, read[1]).toBe(200)
        expect({ sent, read, ...shown }).toEqual({ sent, read, ...seen })
      }
    }
    expect(await logged(`crm--b${n}`)).toEqual(await proposed(`crm--b${n}`))
    for (const name of [`a${n}`, `b${n}`])
      succeed(await world.call('DELETE', `/v1/bases/crm--${name}?confirm=crm--${name}`))
  })
  expect(await dump()).toEqual(before)
})

/** All records of a query, page by page, with the totals that the pages say. */
async function walk(base: string, query: object): Promise<Walked> {
  const records: Shown[] = []
  const totals = new Set<number>()
  let cursor: string | undefined
  do {
    const body = { ...query, limit: 2, include_total: true, ...(cursor && { cursor }) }
    const page = succeed(await world.call('POST', `/v1/${base}/records/deal/query`, body))
    records.push(...page.data)
    totals.add(page.meta.total)
    cursor = page.meta.next_cursor
  } while (cursor)
  return { ids: records.map(({ id }) => id).sort(), totals: [...totals] }
}
type Shown = { id: string; data: { stage: string } }
type Far = { record_type: string; id: string }
type Related = { data: { record: Far }[]; meta: { total: number } }
type Link = Record<'source_record_type' | 'source_id' | 'target_record_type' | 'target_id', string>
const endsOf = (link: Link) =>
  [`${link.source_record_type}/${link.source_id}`, `${link.target_record_type}/${link.target_id}`] as const
type Walked = { ids: string[]; totals: number[] }

test('each list of a change-set has the records that it shows, also where production makes and deletes the same ones', {
  timeout: CASES_TIMEOUT,
}, async () => {
  const sides = fc.tuple(fc.boolean(), operation)
  await forAll(fc.array(sides, { minLength: 2, maxLength: 14 }), 60, async (operations) => {
    const base = `twin${++serial}`
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    await fillLinked(world.call, base)
    const { id } = succeed(await world.call('POST', `/v1/${base}/preview`, { copy: 'on_write' }), 201)
    for (const [isProduction, sent] of operations) await answerOf(isProduction ? base : id, sent)
    const shown: Shown[] = []
    for (let n = 0; n <= 8; n++) {
      const answer = await world.call('GET', `/v1/${id}/records/deal/d${n}`)
      if (answer.status === 200) shown.push(answer.body)
    }
    const idsOf = (records: Shown[]) => records.map((each) => each.id).sort()
    const every = idsOf(shown)
    const isOpen = idsOf(shown.filter(({ data }) => data.stage !== 'lost'))
    const asc = (field: string) => ({ field, direction: 'asc' })
    const open = { field: 'data.stage', op: 'in', value: ['open', 'won'] }
    for (const [query, ids] of [
      [{}, every],
      [{ sort: [asc('id')] }, every],
      [{ sort: [{ field: 'data.code', direction: 'desc' }] }, every],
      [{ sort: [asc('data.stage'), { field: 'data.amount', direction: 'desc' }] }, every],
      [{ filter: open, sort: [asc('data.stage')] }, isOpen],
      [{ filter: open, sort: [asc('data.note')] }, isOpen],
      [{ filter: { and: [open, { field: 'data.amount', op: 'neq', value: 1e6 }] } }, null],
    ] as const) {
      const { ids: walked, totals } = await walk(id, query)
      if (ids) expect({ operations, query, walked }).toEqual({ operations, query, walked: ids })
      expect(totals, JSON.stringify({ operations, query })).toEqual([walked.length])
    }
    const counted = await world.call('POST', `/v1/${id}/records/deal/aggregate`, {
      filter: open,
      aggregations: [{ fn: 'count' }],
    })
    expect(succeed(counted).data).toEqual([{ count: isOpen.length }])
    const links = succeed(await world.call('GET', `/v1/${id}/relationships?limit=200`)).data as Link[]
    for (const record of shown) {
      const here = `deal/${record.id}`
      const far = links
        .map(endsOf)
        .flatMap(([one, other]) => (one === here ? other : other === here ? one : []))
      const path = `/v1/${id}/records/${here}/related?direction=both&limit=200&include_total=true`
      const { data: related, meta } = succeed(await world.call('GET', path)) as Related
      expect(meta.total, JSON.stringify({ operations, here })).toBe(related.length)
      const found = related.map(({ record: { record_type: type, id: name } }) => `${type}/${name}`)
      expect({ operations, here, found: found.sort() }).toEqual({
        operations,
        here,
        found: [...new Set(far)].filter((name) => name !== here).sort(),
      })
    }
    await world.call('DELETE', `/v1/bases/${id}?confirm=${id}`)
    succeed(await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`))
  })
})
