/** What a query costs where it may not grow: deep pages, totals, SQL, and a type that is a hundred times larger. */
import type { Draw } from './load.ts'
import { load, openLine, wire } from './load.ts'
import { median } from './measure.ts'
import { type Moment, ms } from './moments.ts'
import type { Rest } from './rest.ts'
import { BASE, FEW, QUERIED, QUERIED_FEW } from './subject.ts'
import { byStatus } from './works.ts'

/** A thousandth of the amounts. */
const byAmount = (n: number): string => {
  const least = (n * 7919) % 249_000
  const bound = (op: string, value: number) => ({ field: 'data.amount', op, value })
  return `filter=${encodeURIComponent(JSON.stringify({ and: [bound('gte', least), bound('lt', least + 250)] }))}`
}

const TIMES = 40
const DEEP_PAGE = 1000
const PAGE = 50
const INDEX_POLL_MS = 250

type Place = { url: string; token: string; records: number }

/** Waits until the declared indexes of a type are built. */
export async function untilReady(rest: Rest, type: string): Promise<void> {
  for (;;) {
    const { indexes } = await rest<{ indexes: { status: string }[] }>(
      'GET',
      `/v1/${BASE}/record-types/${type}`,
    )
    if (indexes.every(({ status }) => status === 'ready')) return
    await new Promise((resolve) => setTimeout(resolve, INDEX_POLL_MS))
  }
}

export async function queryMoments(rest: Rest, place: Place): Promise<Moment[]> {
  const bearer = `authorization: Bearer ${place.token}\r\n`
  const list = (type: string) => `/v1/${BASE}/records/${type}`
  const sql = (query: string) => wire('POST', `/v1/${BASE}/sql`, bearer, JSON.stringify({ query }))
  const counted = (filter: (n: number) => string) =>
    counting((n) => wire('GET', `${list(QUERIED)}?${filter(n)}&limit=20&include_total=true`, bearer))
  const group = sql(`SELECT status, count(*) AS n, sum(amount) AS total FROM ${QUERIED} GROUP BY status`)
  const refused = sql('SELECT pg_sleep(1)')
  return [
    await deepPages(rest, place.url, bearer),
    await crowd(place, 'a thousandth of them', counted(byAmount)),
    await crowd(place, 'a fifth of them', counted(byStatus)),
    await crowd(
      place,
      'a fifth of them',
      counted((n) => `${byStatus(n)}&sort=-data.due`),
      ', sorted as it is',
    ),
    await single(place.url, `SQL, group-by over ${place.records.toLocaleString('en')} records`, () => group),
    await single(place.url, 'SQL, a refused statement', () => refused),
    ...(await growth(place, bearer, list)),
  ]
}

/** A page in the middle of nowhere against the first one. */
async function deepPages(rest: Rest, url: string, bearer: string): Promise<Moment> {
  const path = `/v1/${BASE}/records/${QUERIED}?sort=-created_at&limit=${PAGE}`
  let cursor = ''
  for (let page = 1; page < DEEP_PAGE; page++) {
    const { meta } = await rest<{ meta: { next_cursor?: string } }>('GET', `${path}${cursor}`)
    if (!meta.next_cursor) break
    cursor = `&cursor=${meta.next_cursor}`
  }
  const [first, deep] = [
    await times(url, () => wire('GET', path, bearer)),
    await times(url, () => wire('GET', `${path}${cursor}`, bearer)),
  ]
  const value = median(deep) / median(first)
  return {
    name: `cursor page ${DEEP_PAGE.toLocaleString('en')} against page 1`,
    value: `× ${value.toFixed(2)}`,
    note: `${ms(median(first))} and ${ms(median(deep))}, pages of ${PAGE}`,
  }
}

/** The 95th percentile of ten clients at once. */
async function crowd({ url, records }: Place, share: string, draw: Draw, sorted = ''): Promise<Moment> {
  await load(url, draw, 10, { seconds: 1 })
  const { latenciesMs } = await load(url, draw, 10, { seconds: 3 })
  const inOrder = latenciesMs.sort((a, b) => a - b)
  const p95 = inOrder[Math.floor(inOrder.length * 0.95)] ?? Number.NaN
  return {
    name: `list 20 of ${records.toLocaleString('en')}, a filter on a declared index that ${share} match${sorted}, include_total`,
    value: ms(p95),
    note: `95th percentile of 10 clients; median ${ms(median(inOrder))}`,
  }
}

/** The same requests to a type of few records and to the large one. */
async function growth(
  { url, records }: Place,
  bearer: string,
  list: (type: string) => string,
): Promise<Moment[]> {
  const works: [string, (type: string, n: number) => string][] = [
    ['GET', (type, n) => wire('GET', `${list(type)}/r${n + 1}`, bearer)],
    [
      'PUT',
      (type, n) =>
        wire(
          'PUT',
          `${list(type)}/r${n + 1}`,
          bearer,
          `{"data":{"status":"open","amount":${Date.now() % 1e6}.${n}}}`,
        ),
    ],
    [
      'indexed list',
      (type, n) => wire('GET', `${list(type)}?${byStatus(n)}&sort=-data.due&limit=${PAGE}`, bearer),
    ],
  ]
  const moments: Moment[] = []
  for (const [name, request] of works) {
    const few: number[] = []
    const many: number[] = []
    for (let round = 0; round < 3; round++) {
      few.push(...(await times(url, (n) => request(QUERIED_FEW, n + round * TIMES))))
      many.push(...(await times(url, (n) => request(QUERIED, n + round * TIMES))))
    }
    moments.push({
      name: `${name}, ${records.toLocaleString('en')} records against ${FEW.toLocaleString('en')}`,
      value: `× ${(median(many) / median(few)).toFixed(2)}`,
      note: `${ms(median(many))} and ${ms(median(few))}, one client`,
    })
  }
  return moments
}

async function single(url: string, name: string, request: () => string): Promise<Moment> {
  const taken = await times(url, request)
  return { name, value: ms(median(taken)), note: `one client, median of ${TIMES}` }
}

/** How long each request takes, one after another. */
export async function times(url: string, request: (n: number) => string): Promise<number[]> {
  const line = await openLine(url)
  const taken: number[] = []
  try {
    for (let n = -5; n < TIMES; n++) {
      const begun = performance.now()
      await line.ask(request(Math.max(n, 0)), false)
      if (n >= 0) taken.push(performance.now() - begun)
    }
  } finally {
    line.close()
  }
  return taken
}

function counting(request: (n: number) => string): Draw {
  let n = 0
  return () => request(n++)
}
