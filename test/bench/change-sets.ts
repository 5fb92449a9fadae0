/**
 * Change-sets, by the five works of BranchBench: branch and read, branch and write, many branches, merge, discard. The rival is a
 * full copy of the base: its rows, with new names, in two statements of SQL.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { wire } from './load.ts'
import { median } from './measure.ts'
import { type Moment, ms } from './moments.ts'
import { times } from './queries.ts'
import { type Rest, restOf } from './rest.ts'
import { BASE, QUERIED } from './subject.ts'
import { byStatus } from './works.ts'

const OPENINGS = 30
/** Of the 1,000 that a base may have open, 100 of one token. */
const MANY = 990
const OF_TOKEN = 90
const OWN = 1000
const MERGED = 10_000
const BATCH = 1000
const BARS = { openMs: 5, read: 1.3, mergeMs: 2000 }

type Place = { url: string; token: string; records: number; databaseUrl: string }

export async function changeSetMoments(rest: Rest, place: Place): Promise<Moment[]> {
  const database = new pg.Client({ connectionString: place.databaseUrl })
  await database.connect()
  try {
    const compare = reader(place)
    const opened = await openings(rest)
    await write(rest, opened.id, OWN, 1)
    await database.query('ANALYZE plinth.draft_record, plinth.draft_index')
    const copied = await copy(rest, database)
    const moments = [
      opened.moment,
      copied.moment,
      ...(await compare(`a change-set with ${number(OWN)} changes`, opened.id, true)),
      ...(await compare('the full copy', copied.id, false)),
      await manyOpen(rest, place.url, opened.id),
      ...(await compare(`a change-set, ${number(MANY)} open`, opened.id, true)),
    ]
    moments.push(
      ...(await mergeAndDiscard(rest)),
      await timed('discard of the full copy', () => drop(rest, copied.id)),
    )
    return moments
  } finally {
    await database.end()
  }
}

const number = (value: number) => value.toLocaleString('en')
type Opened = { id: string }
const open = (rest: Rest) => rest<Opened>('POST', `/v1/${BASE}/preview`, { copy: 'on_write' })
const drop = (rest: Rest, id: string) => rest('DELETE', `/v1/bases/${id}?confirm=${id}`)

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
async function timed(name: string, work: () => Promise<unknown>, most?: number): Promise<Moment> {
  const is = await elapsed(work)
  return { name, value: ms(is), note: 'one request', ...(most !== undefined && { must: { is, most } }) }
}

/** Branch: as many openings as a median needs. */
async function openings(rest: Rest): Promise<Opened & { moment: Moment }> {
  const taken: number[] = []
  let id = ''
  for (let n = 0; n < OPENINGS; n++)
    taken.push(
      await elapsed(async () => {
        id = (await open(rest)).id
      }),
    )
  const is = median(taken)
  const note = `median of ${OPENINGS}, with the answer over HTTP`
  return { id, moment: { name: 'open a change-set', value: ms(is), note, must: { is, most: BARS.openMs } } }
}

/** The rival: a preview with the configuration, and the rows of production under its id. Its indexes are copied, not built. */
async function copy(rest: Rest, database: pg.Client): Promise<Opened & { moment: Moment }> {
  const { id } = await rest<Opened>('POST', `/v1/${BASE}/preview`, { name: 'copy' })
  while ((await database.query(BUILDING, [id])).rows.length > 0) await sleep(100)
  const is = await elapsed(async () => {
    for (const text of COPY) await database.query(text, [BASE, id])
  })
  await database.query('ANALYZE plinth.record, plinth.record_index')
  return {
    id,
    moment: { name: 'make a full copy', value: ms(is), note: 'of all records and index entries, by SQL' },
  }
}
const BUILDING = `SELECT FROM plinth.record_type_index WHERE base_id = $1 AND status NOT IN ('ready', 'failed')`
const COPY = [
  `INSERT INTO plinth.record (base_id, record_type, id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at)
   SELECT $2, record_type, id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at
   FROM plinth.record WHERE base_id = $1`,
  `INSERT INTO plinth.record_index (base_id, index_id, k1, k2, k3, id, created_at, is_unique, row_no)
   SELECT $2, own.id, e.k1, e.k2, e.k3, e.id, e.created_at, e.is_unique, r.row_no
   FROM plinth.record_index e
   JOIN plinth.record_type_index of ON of.id = e.index_id
   JOIN plinth.record_type_index own ON own.base_id = $2 AND own.record_type = of.record_type AND own.fields::text = of.fields::text
   JOIN plinth.record r ON r.base_id = $2 AND r.record_type = of.record_type AND r.id = e.id
   WHERE e.base_id = $1`,
]

/** Branch and read, branch and write: one client, in turns with production. */
const reader = ({ url, token, records }: Place) => {
  const bearer = `authorization: Bearer ${token}\r\n`
  let written = 0
  const id = (n: number) => `r${((n * 7919) % records) + 1}`
  const body = () => `{"data":{"status":"open","amount":${++written}.5}}`
  const works: [string, (list: string, n: number) => string, number | undefined][] = [
    ['GET', (list, n) => wire('GET', `${list}/${id(n)}`, bearer), BARS.read],
    [
      'indexed list of 50',
      (list, n) => wire('GET', `${list}?${byStatus(n)}&sort=-data.due&limit=50`, bearer),
      BARS.read,
    ],
    ['newest 50', (list) => wire('GET', `${list}?limit=50`, bearer), undefined],
    ['PUT', (list, n) => wire('PUT', `${list}/${id(n)}`, bearer, body()), undefined],
  ]
  return async (where: string, base: string, isHeld: boolean): Promise<Moment[]> => {
    const moments: Moment[] = []
    for (const [name, request, most] of works) {
      const there: number[] = []
      const here: number[] = []
      for (let round = 0; round < 3; round++) {
        here.push(...(await times(url, (n) => request(`/v1/${BASE}/records/${QUERIED}`, n))))
        there.push(...(await times(url, (n) => request(`/v1/${base}/records/${QUERIED}`, n))))
      }
      const is = median(there) / median(here)
      const note = `${ms(median(there))} and ${ms(median(here))}, one client`
      const must = isHeld && most !== undefined ? { must: { is, most } } : {}
      moments.push({
        name: `${name}, ${where} against production`,
        value: `× ${is.toFixed(2)}`,
        note,
        ...must,
      })
    }
    return moments
  }
}

/** Many branches, each with a change. */
async function manyOpen(rest: Rest, url: string, kept: string): Promise<Moment> {
  const { data } = await rest<{ data: Opened[] }>('GET', `/v1/${BASE}/previews?limit=200`)
  for (const { id } of data) if (id !== kept && id.includes('--p-')) await drop(rest, id)
  const agents: Rest[] = []
  for (let n = 0; n < MANY / OF_TOKEN; n++) {
    const grants = [{ base: BASE, record_type: '*', environment: '*', permission: 'write' }]
    const { token } = await rest<{ token: string }>('POST', '/v1/tokens', { name: `agent ${n}`, grants })
    agents.push(restOf(url, token))
  }
  const is = await elapsed(async () => {
    for (let n = 1; n < MANY; n++) {
      const agent = agents[n % agents.length] ?? rest
      await write(agent, (await open(agent)).id, 1, n)
    }
  })
  return {
    name: `open ${number(MANY)} change-sets with a change each`,
    value: ms(is / (MANY - 1)),
    note: 'for each',
  }
}

/** Changes the amounts of records, in batches. */
async function write(rest: Rest, base: string, records: number, from: number): Promise<void> {
  for (let first = 0; first < records; first += BATCH) {
    const operations = Array.from({ length: Math.min(BATCH, records - first) }, (_, n) => ({
      ...{ type: 'patch_record', record_type: QUERIED, id: `r${from + first + n}` },
      data: { amount: from + first + n + 0.25 },
    }))
    await rest('POST', `/v1/${base}/batch`, { operations })
  }
}

async function mergeAndDiscard(rest: Rest): Promise<Moment[]> {
  const [one, two] = await roomFor(rest)
  for (const { id } of [one, two]) await write(rest, id, MERGED, 1)
  const merge = () => rest('POST', `/v1/${BASE}/promote`, { from: one.id })
  return [
    await timed(`merge of ${number(MERGED)} changes`, merge, BARS.mergeMs),
    await timed(`discard of ${number(MERGED)} changes`, () => drop(rest, two.id)),
  ]
}

/** Two change-sets beside the many. */
async function roomFor(rest: Rest): Promise<[Opened, Opened]> {
  const { data } = await rest<{ data: Opened[] }>('GET', `/v1/${BASE}/previews?limit=10`)
  for (const { id } of data.filter(({ id }) => id.includes('--p-')).slice(0, 3)) await drop(rest, id)
  return [await open(rest), await open(rest)]
}
