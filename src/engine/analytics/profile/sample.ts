import { setImmediate } from 'node:timers/promises'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'

/** Reads the data of some records as text, until the byte budget is spent; skips very large records. */
const READ = statement(
  'profile_read',
  `SELECT text FROM (
     SELECT text, sum(octet_length(text)) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - octet_length(text) AS before
     FROM (
       SELECT id, data::text AS text FROM plinth.record
       WHERE base_id = $1 AND record_type = $2 AND id = ANY ($3::text[]) OFFSET 0) r
     WHERE octet_length(text) <= $5) r
   WHERE before < $4`,
)

/**
 * Streams sampled record data for about `ms` and `PROFILE_LIMITS.bytes` of text. Each batch is spread over all ids,
 * so that an early end leaves an even sample.
 */
export async function* readSample(
  db: Db,
  type: TypeKey,
  ids: readonly string[],
  ms: number,
): AsyncGenerator<unknown> {
  const end = performance.now() + ms
  const parts = Math.ceil(ids.length / LIMITS.sampledAtOnce)
  let read = 0
  let turn = LIMITS.sampledTurnChars
  for (let part = 0; part < parts && read < PROFILE_LIMITS.bytes; part++) {
    if (read >= PROFILE_LIMITS.readAlways && performance.now() >= end) return
    const some = ids.filter((_, i) => i % parts === part)
    const left = PROFILE_LIMITS.bytes - read
    const rows = await db.query<{ text: string }>(READ, [...type, some, left, PROFILE_LIMITS.recordBytes])
    for (const { text } of rows) {
      read += Buffer.byteLength(text)
      yield JSON.parse(text) as unknown
      if (read < turn) continue
      turn = read + LIMITS.sampledTurnChars
      await setImmediate()
    }
  }
}

/** Key of a record type. */
export type TypeKey = readonly [baseId: string, recordType: string]
/** The record count of a type, and ids evenly spread over it. */
export type Walk = { count: number; ids: string[] }

/** Index-only scan of one key range: counts it and returns every $4-th id. */
const stretch = (name: string, beyond: string, direction: 'ASC' | 'DESC'): Statement =>
  statement(
    name,
    `SELECT count(*)::int AS walked, max(id) AS last, coalesce(array_agg(id) FILTER (WHERE n % $4 = 0), '{}') AS ids
     FROM (SELECT id, row_number() OVER (ORDER BY id ${direction}) AS n FROM (
       SELECT id FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id ${beyond} $3
       ORDER BY id ${direction} LIMIT $5) r) r`,
  )
const FORWARD = stretch('profile_forward', '>', 'ASC')
// No id is empty, so an empty start id begins a backward scan at the end.
const BACKWARD = stretch('profile_backward', '<>', 'DESC')
/** The planner's row estimate. */
const ESTIMATE = statement(
  'profile_estimate',
  'EXPLAIN (FORMAT JSON) SELECT FROM plinth.record WHERE base_id = $1 AND record_type = $2',
)

const IDS_AT_ONCE = PROFILE_LIMITS.records * 2
const MOST_AT_ONCE = 16 * IDS_AT_ONCE

type Stretch = { walked: number; last: string; ids: string[] }
type ExplainOutput = { 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }

/**
 * Counts the records by an index-only scan for about `ms`. If time runs out, the count is an estimate, and
 * the ids come from both ends of the key.
 */
export async function walkType(db: Db, type: TypeKey, ms: number): Promise<Walk> {
  const end = performance.now() + ms
  let ids: string[] = []
  // Keeps one id per stride; the stride doubles whenever there are too many.
  let stride = 1
  let count = 0
  for (let after = ''; ; ) {
    const most = Math.min(IDS_AT_ONCE * stride, MOST_AT_ONCE)
    const found = await take(db, FORWARD, type, after, stride, most)
    count += found.walked
    ids = ids.concat(found.ids)
    if (found.walked < most) return { count, ids: spread(ids, PROFILE_LIMITS.records) }
    after = found.last
    for (; ids.length > IDS_AT_ONCE; stride *= 2) ids = ids.filter((_, i) => i % 2 === 1)
    if (count >= PROFILE_LIMITS.countedAlways && performance.now() >= end) break
  }
  const newest = await take(db, BACKWARD, type, '', stride, Math.min(count, MOST_AT_ONCE))
  const [plan] = await db.query<ExplainOutput>(ESTIMATE, type)
  const estimated = plan?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0
  const both = [...new Set([...ids, ...newest.ids])]
  return { count: Math.max(count, both.length, estimated), ids: spread(both, PROFILE_LIMITS.records) }
}

async function take(db: Db, which: Statement, type: TypeKey, after: string, stride: number, most: number) {
  const [found] = await db.query<Stretch>(which, [...type, after, stride, most])
  if (!found) throw new Error('an aggregate answered no row')
  return found
}

/** At most `most` items, evenly spaced. */
function spread(list: string[], most: number): string[] {
  if (list.length <= most) return list
  return Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)] ?? '')
}
