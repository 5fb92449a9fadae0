/** A text index on all plain texts of a schema serves searches of `data`, and changes no answer. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import type { Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const text = { type: 'string' }
const properties = {
  title: text,
  body: { type: ['string', 'null'] },
  stage: { enum: ['open', 'solved'] },
  email: { type: 'string', format: 'email' },
  tags: { type: 'array' },
}
const json_schema = { type: 'object', properties }
const indexes = [{ fields: ['data.title', 'data.body'], type: 'text' }]

const plans = async (type: string) => {
  const [row] = await world.database.query<{ fields: { without?: string[] }[] }>(
    `SELECT fields FROM plinth.record_type_index WHERE record_type = $1`,
    [type],
  )
  return row?.fields ?? []
}

async function found(type: string, value: string, more: object = {}) {
  const filter = { field: 'data', op: 'search', value }
  const query = { filter, limit: 100, include_total: true, ...more }
  const { data, meta } = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, query))
  const hits: [string, number][] = data.map((each: Body) => [each.id, each._search_score])
  return { hits, total: meta.total as number }
}

const word = fc.constantFrom(
  'alpha',
  'alpine',
  'beta',
  'betas',
  'solved',
  'ann',
  'été',
  '東京',
  'x',
  'gamma ray',
)
const some = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))
const data = fc.record(
  {
    title: some,
    body: fc.oneof(some, fc.constant(null)),
    stage: fc.constantFrom('open', 'solved'),
    email: fc.constantFrom('ann@alpha.org', 'bo@example.org'),
    tags: fc.array(fc.oneof(some, fc.record({ name: some }))),
    more: fc.oneof(some, fc.record({ note: some })),
  },
  { requiredKeys: [] },
)
const step = fc.record({ id: fc.nat(7), data: fc.oneof({ weight: 4, arbitrary: data }, fc.constant(null)) })

test('a search of data gives the same records, scores and totals with the index and without', {
  tags: 'sampled',
  timeout: CASES_TIMEOUT,
}, async () => {
  const searches = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), searches, async (steps, asked) => {
      const indexed = await world.newType({ json_schema, indexes })
      const plain = await world.newType({ json_schema })
      for (const { id, data } of steps)
        for (const type of [indexed, plain]) {
          const path = `/v1/crm/records/${type}/r${id}`
          await (data === null ? world.call('DELETE', path) : world.call('PUT', path, { data }))
        }
      for (const value of asked.map((words) => words.join(' '))) {
        for (const more of [{ sort: 'id' }, { sort: 'id', limit: 2 }])
          expect(await found(indexed, value, more)).toEqual(await found(plain, value, more))
        const { hits } = await found(indexed, value)
        expect(hits.map(([, score]) => score)).toEqual(
          hits.map(([, score]) => score).toSorted((a, b) => b - a),
        )
      }
    }),
    { numRuns: cases(40) },
  )
})

test('a word beyond the part of a long record that is searched is not found, with the index and without', {
  tags: 'full',
}, async () => {
  const filler = 'word '.repeat(14_000)
  const types = [await world.newType({ json_schema, indexes }), await world.newType({ json_schema })]
  const [indexed, plain] = await Promise.all(
    types.map(async (type) => {
      const put = (id: string, data: object) =>
        world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }).then((answer) => succeed(answer, 201))
      await put('short', { title: 'late' })
      // The text of `body` comes before that of `title`, and fills all that is read.
      await put('long', { title: 'late', body: filler })
      await put('first', { body: `late ${filler}` })
      return Promise.all(['late', 'lat', 'latte'].map((value) => found(type, value)))
    }),
  )
  expect(indexed).toEqual(plain)
  expect(indexed?.map(({ hits }) => hits.map(([id]) => id))).toEqual(times(3, () => ['short', 'first']))
})

test('an index that was built over records finds those whose words are in no field of it', {
  tags: 'full',
}, async () => {
  const type = await world.newType({ json_schema })
  const operations = times(40, (n) => ({
    type: 'upsert_record',
    record_type: type,
    id: `e${n}`,
    data: { title: 'plain', stage: 'open', tags: [{ name: n === 7 ? 'hidden' : 'seen' }] },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { indexes }))
  await eventually(async () => {
    const { indexes } = succeed(await world.call('GET', `/v1/crm/record-types/${type}`))
    return indexes[0].status === 'ready' ? true : undefined
  })
  expect(await plans(type)).toHaveLength(3)
  expect((await found(type, 'hidden')).hits.map(([id]) => id)).toEqual(['e7'])
  // A word each in two fields.
  expect((await found(type, 'plain hidden')).total).toBe(1)
  expect((await found(type, 'plain nowhere')).total).toBe(0)
})

test('the words of other strings are kept only where the index has every plain text of the schema', async () => {
  const whole = await world.newType({ json_schema, indexes })
  expect((await plans(whole)).at(-1)?.without).toEqual(['title', 'body'])
  const part = await world.newType({ json_schema, indexes: [{ fields: ['data.title'], type: 'text' }] })
  expect(await plans(part)).toHaveLength(1)
  const open = await world.newType({ indexes: [{ fields: ['data.title'], type: 'text' }] })
  expect(await plans(open)).toHaveLength(1)
  // The declaration is as it was sent.
  const { indexes: shown } = succeed(await world.call('GET', `/v1/crm/record-types/${whole}`))
  expect(shown).toMatchObject([{ fields: ['data.title', 'data.body'], type: 'text', status: 'ready' }])
})

test('a text that the schema declares later leaves the index as it is, and its answers right', {
  tags: 'full',
}, async () => {
  const type = await world.newType({ json_schema, indexes })
  const before = await world.database.query(
    `SELECT id FROM plinth.record_type_index WHERE record_type = $1`,
    [type],
  )
  const wider = { ...json_schema, properties: { ...properties, summary: text } }
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: wider }))
  const after = await world.database.query(`SELECT id FROM plinth.record_type_index WHERE record_type = $1`, [
    type,
  ])
  expect(after).toEqual(before)
  const path = `/v1/crm/records/${type}/s1`
  succeed(await world.call('PUT', path, { data: { title: 'a', summary: 'quarterly' } }), 201)
  expect((await found(type, 'quarterly')).hits).toHaveLength(1)
})
