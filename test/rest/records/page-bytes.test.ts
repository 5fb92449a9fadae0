// @module-tag full
/** A page of any list ends at its byte limit and says so; the pages together are the whole list. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { CASES_TIMEOUT } from '../../support/cases.ts'
import { forAll } from '../../support/for-all.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const PAGE = 64 * 1024
/** The bytes that one row and the envelope may add to a page. */
const MARGIN = 4 * 1024

let whole: World
let paged: World
beforeAll(async () => {
  whole = await openWorld()
  paged = await openWorld({ PLINTH_MAX_PAGE_BYTES: String(PAGE) }, whole.database)
})
afterAll(async () => {
  await paged.close()
  await whole.close()
})

const text = (bytes: number) => 'x'.repeat(bytes)

/** Reads all pages by cursor, with the bytes of each. */
async function walk(world: World, path: string) {
  const rows: Body[] = []
  const sizes: number[] = []
  const truncated: boolean[] = []
  for (let cursor = ''; ; ) {
    const answer = await world.call('GET', `${path}${path.includes('?') ? '&' : '?'}${cursor}`)
    const { data, meta } = succeed(answer)
    expect(data.length).toBeGreaterThan(0)
    rows.push(...data)
    sizes.push(answer.text.length)
    truncated.push(meta.truncated ?? false)
    if (meta.truncated) expect(meta.limit).toBe(data.length)
    if (!meta.has_more) return { rows, sizes, truncated }
    cursor = `cursor=${encodeURIComponent(meta.next_cursor)}`
  }
}

describe('A list of large records', () => {
  let at: string
  beforeAll(async () => {
    at = `/v1/crm/records/${await whole.newType()}`
    for (const id of times(20, (i) => `r${String(i).padStart(2, '0')}`))
      succeed(await whole.call('PUT', `${at}/${id}`, { data: { id, text: text(16_000) } }), 201)
  })

  test('by cursor: pages lose and repeat nothing, and none exceeds the byte limit', async () => {
    const { rows, sizes, truncated } = await walk(paged, `${at}?sort=id&limit=1000`)
    expect(rows).toEqual(succeed(await whole.call('GET', `${at}?sort=id&limit=1000`)).data)
    expect(Math.max(...sizes)).toBeLessThan(PAGE + MARGIN)
    expect(sizes).toHaveLength(5)
    expect(truncated).toEqual([true, true, true, true, false])
  })

  test('by offset: each page starts after the rows of the one before', async () => {
    const ids: string[] = []
    for (let offset = 0; ; ) {
      const { data, meta } = succeed(
        await paged.call('GET', `${at}?sort=id&limit=10&offset=${offset}&include_total=true`),
      )
      expect(meta).toMatchObject({ offset, total: 20 })
      ids.push(...data.map(({ id }: Body) => id))
      if (!meta.has_more) break
      expect(meta).toMatchObject({ truncated: true, limit: data.length, next_cursor: expect.any(String) })
      offset += meta.limit
    }
    expect(ids).toEqual(times(20, (i) => `r${String(i).padStart(2, '0')}`))
  })

  test('has a page of one record if that record alone exceeds the byte limit', async () => {
    succeed(await whole.call('PUT', `${at}/r05`, { data: { text: text(PAGE * 2) } }))
    const { rows } = await walk(paged, `${at}?sort=id`)
    expect(rows.map(({ id }) => id)).toEqual(times(20, (i) => `r${String(i).padStart(2, '0')}`))
  })

  test('with fields or as_of: pages end at the byte limit', async () => {
    const now = new Date().toISOString()
    for (const more of ['fields=id,data.id', `as_of=${now}`]) {
      const { rows, sizes } = await walk(paged, `${at}?sort=id&${more}`)
      expect(rows.map(({ id }) => id)).toEqual(times(20, (i) => `r${String(i).padStart(2, '0')}`))
      expect(sizes.length).toBeGreaterThan(5)
    }
  })

  test('as trash, change log or history: pages end at the byte limit', async () => {
    const id = 'historic'
    for (const n of times(12, (i) => i))
      await whole.call('PUT', `${at}/${id}`, { data: { n, text: text(16_000 + n) } })
    const history = await walk(paged, `${at}/${id}/history`)
    expect(history.rows).toEqual(succeed(await whole.call('GET', `${at}/${id}/history`)).data)
    expect(history.rows).toHaveLength(12)
    expect(history.sizes.length).toBeGreaterThan(3)
    // A patch repeats the path of each step: here the path is a thousand times as long as the change.
    const name = 'n'.repeat(5000)
    for (const n of [1, 2]) await whole.call('PUT', `${at}/${id}`, { data: { [name]: times(2000, () => n) } })
    const long = await whole.call('GET', `${at}/${id}/history?limit=1`)
    expect(long.text.length).toBeLessThan(32 * 1024)
    expect(succeed(long).data[0].diff).toMatchObject([{ op: 'replace', path: '/data' }])
    const log = await whole.call('GET', `/v1/crm/changes?id=${id}&limit=1000`)
    expect(succeed(log).data.at(-1).diff).toEqual(long.body.data[0].diff)

    const changes: Body[] = []
    for (let after = 0; ; ) {
      const answer = await paged.call('GET', `/v1/crm/changes?limit=1000&after=${after}`)
      const { data, meta } = succeed(answer)
      expect(answer.text.length).toBeLessThan(PAGE * 3)
      changes.push(...data)
      after = meta.next_after
      if (!meta.has_more) break
    }
    expect(changes).toEqual(succeed(await whole.call('GET', '/v1/crm/changes?limit=1000')).data)

    for (const { id } of succeed(await whole.call('GET', at)).data)
      succeed(await whole.call('DELETE', `${at}/${id}`))
    const trash = await walk(paged, `/v1/crm/trash?limit=100`)
    expect(trash.rows).toEqual(succeed(await whole.call('GET', '/v1/crm/trash?limit=100')).data)
    expect(trash.sizes.length).toBeGreaterThan(5)
  })
})

test('an expansion that exceeds the byte limit is refused, and a smaller page of it succeeds', async () => {
  const type = await whole.newType()
  const at = `/v1/crm/records/${type}`
  const ends = { source_record_types: [type], target_record_types: [type] }
  succeed(await whole.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
  succeed(await whole.call('PUT', `${at}/hub`, { data: { text: text(20_000) } }), 201)
  for (const n of times(6, (i) => i)) {
    const relationships = [{ rel_type: 'near', record_type: type, id: 'hub' }]
    succeed(await whole.call('PUT', `${at}/r${n}`, { data: { n }, relationships }), 201)
  }
  const filter = encodeURIComponent(JSON.stringify({ field: 'data.n', op: 'gte', value: 0 }))
  const refused = await paged.call('GET', `${at}?expand=near&filter=${filter}`)
  expect(expectFailure(refused, 'VALIDATION_ERROR').details[0]).toMatchObject({
    path: 'query/expand',
    code: 'too_large',
  })
  const answer = await paged.call('GET', `${at}?expand=near&limit=2&filter=${filter}`)
  expect(succeed(answer).data.map((row: Body) => row._expanded.near[0].record.id)).toEqual(['hub', 'hub'])
})

test('all levels of the expansion of one record share the byte limit of a page', async () => {
  const type = await whole.newType()
  const at = `/v1/crm/records/${type}`
  const ends = { source_record_types: [type], target_record_types: [type] }
  succeed(await whole.call('PUT', '/v1/crm/relationship-types/below', ends), 201)
  for (const n of [3, 2, 1, 0]) {
    const relationships = n === 3 ? [] : [{ rel_type: 'below', record_type: type, id: `r${n + 1}` }]
    succeed(await whole.call('PUT', `${at}/r${n}`, { data: { text: text(25_000) }, relationships }), 201)
  }
  const refused = await paged.call('GET', `${at}/r0?expand=below.below.below`)
  expect(expectFailure(refused, 'VALIDATION_ERROR').details[0]).toMatchObject({ code: 'too_large' })
  const answer = await paged.call('GET', `${at}/r0?expand=below.below`)
  expect(succeed(answer)._expanded.below[0].record._expanded.below[0].record.id).toBe('r2')
})

test('pages of records of any size, in any order, add up to the unlimited page', {
  tags: 'sampled',
  timeout: CASES_TIMEOUT,
}, async () => {
  let serial = 0
  const scenario = fc.record({
    sizes: fc.array(fc.oneof(fc.nat(200), fc.nat(PAGE), fc.nat(PAGE * 2)), { minLength: 1, maxLength: 25 }),
    limit: fc.integer({ min: 1, max: 30 }),
    sort: fc.constantFrom('id', '-data.rank', 'data.rank,-id', '-created_at'),
    fields: fc.constantFrom('', '&fields=id,data.rank'),
  })
  await forAll(scenario, 12, async ({ sizes, limit, sort, fields }) => {
    const type = `sized${++serial}`
    succeed(await whole.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
    const operations = sizes.map((size, i) => ({
      type: 'create_record',
      record_type: type,
      data: { rank: (i * 7) % 5, text: text(size) },
    }))
    succeed(await whole.call('POST', '/v1/crm/batch', { operations }))
    const path = `/v1/crm/records/${type}?sort=${sort}${fields}`
    const { rows } = await walk(paged, `${path}&limit=${limit}`)
    expect(rows).toEqual(succeed(await whole.call('GET', `${path}&limit=1000`)).data)
  })
})

describe('A claim of large records', () => {
  let at: string
  beforeAll(async () => {
    at = `/v1/crm/records/${await whole.newType()}`
    const operations = times(20, (n) => ({ type: 'create_record', data: { n, text: text(16_000) } }))
    const record_type = at.split('/').at(-1)
    const body = { operations: operations.map((operation) => ({ ...operation, record_type })) }
    succeed(await whole.call('POST', '/v1/crm/batch', body))
  })
  const held = async () => succeed(await whole.call('GET', '/v1/crm/claims?status=active')).data.length
  const numbers = (data: Body[]) => data.map(({ record }) => record.data.n)

  test('claims only the records that it returns, and the next claim continues after them', async () => {
    const answer = await paged.call('POST', `${at}/claim`, { sort: 'data.n', limit: 100 })
    const { data, meta } = succeed(answer)
    expect(numbers(data)).toEqual([0, 1, 2, 3])
    expect(meta).toEqual({ count: 4, limit: 4, has_more: true, truncated: true })
    expect(answer.text.length).toBeLessThan(PAGE + MARGIN)
    expect(await held()).toBe(4)
    const next = succeed(await paged.call('POST', `${at}/claim`, { sort: 'data.n', limit: 3 }))
    expect([numbers(next.data), next.meta]).toEqual([[4, 5, 6], { count: 3, limit: 3 }])
    expect(await held()).toBe(7)
  })

  test('by concurrent workers gives each record to one of them', async () => {
    const seen: number[] = []
    const work = async () => {
      for (;;) {
        const { data } = succeed(await paged.call('POST', `${at}/claim`, { limit: 10 }))
        if (data.length === 0) return
        expect(data.length).toBeLessThanOrEqual(4)
        seen.push(...numbers(data))
      }
    }
    await Promise.all(times(4, work))
    expect(seen.sort((a, b) => a - b)).toEqual(times(13, (n) => n + 7))
  })

  test('returns one record if that record alone exceeds the byte limit', async () => {
    const type = await whole.newType()
    for (const n of [0, 1])
      succeed(await whole.call('POST', `/v1/crm/records/${type}`, { data: { n, text: text(PAGE * 2) } }), 201)
    const claim = () => paged.call('POST', `/v1/crm/records/${type}/claim`, { limit: 2 })
    expect(succeed(await claim()).meta).toMatchObject({ count: 1, truncated: true })
    expect(succeed(await claim()).meta).toEqual({ count: 1, limit: 2 })
    expect(succeed(await claim()).data).toEqual([])
  })
})

describe('A list of definitions', () => {
  test.each([
    ['record-types', (at: string) => ({ json_schema: { description: at + text(15_000) } })],
    [
      'relationship-types',
      (at: string) => ({ data_schema: { type: 'object', description: at + text(15_000) } }),
    ],
    ['file-types', (at: string) => ({ description: at + text(9_000) })],
    ['toolsets', (at: string) => ({ description: at + text(9_000) })],
  ])('%s: pages end at the byte limit and add up to the whole list', async (noun, body) => {
    const base = `list-${noun.slice(0, 4)}`
    succeed(await whole.call('PUT', `/v1/bases/${base}`, {}), 201)
    for (const id of times(20, (i) => `n${i}`))
      succeed(await whole.call('PUT', `/v1/${base}/${noun}/${id}`, body(id)), 201)
    const all = succeed(await whole.call('GET', `/v1/${base}/${noun}?limit=1000`)).data
    expect(all).toHaveLength(20)
    const { rows, sizes, truncated } = await walk(paged, `/v1/${base}/${noun}?limit=1000`)
    expect(rows).toEqual(all)
    expect(Math.max(...sizes)).toBeLessThan(PAGE + MARGIN)
    expect(truncated.slice(0, -1).every(Boolean)).toBe(true)
    expect(truncated.at(-1)).toBe(false)
    expect(sizes.length).toBeGreaterThan(2)
  })
})

test('an export that exceeds the byte limit is refused, and succeeds for named types', async () => {
  const base = 'exported'
  succeed(await whole.call('PUT', `/v1/bases/${base}`, {}), 201)
  for (const id of times(6, (i) => `n${i}`)) {
    const json_schema = { description: text(15_000) }
    succeed(await whole.call('PUT', `/v1/${base}/record-types/${id}`, { json_schema }), 201)
  }
  const at = `/v1/${base}/providers/openai/export`
  const all = succeed(await whole.call('GET', at)).tools
  expect(all).toHaveLength(6)
  expect(expectFailure(await paged.call('GET', at), 'VALIDATION_ERROR').details[0]).toMatchObject({
    path: 'query/record_types',
    code: 'too_large',
  })
  const named = succeed(await paged.call('GET', `${at}?record_types=n0,n1,n2`)).tools
  expect(named).toEqual(all.slice(0, 3))
})

describe('The list of tokens', () => {
  // About fifty kilobytes a token: together they exceed a page.
  const grants = times(100, (n) => ({
    base: 'crm',
    record_type: times(10, (i) => `t${n}_${i}${text(40)}`),
    environment: '*',
    permission: 'read' as const,
  }))
  beforeAll(async () => {
    for (const name of times(6, (n) => `large ${n}`))
      succeed(await whole.call('POST', '/v1/tokens', { name, grants }), 201)
    await whole.newToken([{ base: '*', permission: 'read' }])
  })

  test('ends its pages at the byte limit, and they add up to the whole list', async () => {
    const all = succeed(await whole.call('GET', '/v1/tokens?limit=1000&include_total=true'))
    expect(all.meta.total).toBe(all.data.length)
    const { rows, sizes } = await walk(paged, '/v1/tokens?limit=1000')
    // Only ids are compared, because each call updates the administrator's last use.
    const ids = (tokens: Body[]) => tokens.map(({ id }) => id)
    expect(ids(rows)).toEqual(ids(all.data))
    expect(Math.max(...sizes)).toBeLessThan(PAGE + MARGIN)
    expect(sizes.length).toBeGreaterThan(3)
  })

  test('shows and counts the tokens that the caller may manage, by cursor and by offset', async () => {
    const { call } = await whole.newToken([{ permission: 'admin' }])
    const path = '/v1/tokens?include_total=true'
    const { data, meta } = succeed(await call('GET', path))
    expect(data).toHaveLength(7)
    expect(meta.total).toBe(7)
    const second = succeed(await call('GET', `${path}&limit=2&offset=3`))
    expect([second.data, second.meta]).toMatchObject([data.slice(3, 5), { has_more: true, total: 7 }])
    const { next_cursor } = succeed(await call('GET', `${path}&limit=5`)).meta
    const rest = succeed(await call('GET', `${path}&cursor=${encodeURIComponent(next_cursor)}`))
    expect([rest.data, rest.meta]).toMatchObject([data.slice(5), { has_more: false, total: 7 }])
  })
})
