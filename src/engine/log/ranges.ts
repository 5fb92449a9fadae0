/** Ranges of the log: as SQL, and as far as a number of entries reaches. */
import { type Db, statement } from '../storage/database/client.ts'
import type { ChangeFilter } from './filter.ts'

/**
 * SQL of the range after `$2` up to `$3`. Of a request it is a range of its index: a plain condition on `seq`
 * would let the planner walk the log, which without statistics looks as cheap.
 */
export function withinSeqs({ requestId }: ChangeFilter, bind: (value: unknown) => string): string {
  return requestId === null ? 'seq > $2 AND seq <= $3' : ofRequestWithin(bind(requestId))
}

export function ofRequestWithin(request: string): string {
  return `(request_id COLLATE "C", seq) > (${request}, $2) AND (request_id COLLATE "C", seq) <= (${request}, $3)`
}

/** Ordered by `c.seq`: `seq` alone would be the column of the answer, which no index has. */
const reachOf = (name: string, direction: 'ASC' | 'DESC', ofRequest = false) =>
  statement(
    name,
    `SELECT c.seq::float8 AS seq FROM plinth.change c WHERE base_id = $1 AND ${
      ofRequest
        ? `request_id COLLATE "C" BETWEEN $5 AND $5 AND ${ofRequestWithin('$5')}`
        : 'seq > $2 AND seq <= $3'
    } ORDER BY ${ofRequest ? `request_id COLLATE "C" ${direction}, ` : ''}c.seq ${direction} OFFSET $4::int LIMIT 1`,
  )
const REACH = {
  up: reachOf('feed_reach', 'ASC'),
  down: reachOf('feed_reach_down', 'DESC'),
  downRequest: reachOf('request_reach_down', 'DESC', true),
}

/** The oldest part of a range with that many entries. */
export async function oldestOf(
  db: Db,
  baseId: string,
  { after, upTo }: SeqRange,
  entries: number,
): Promise<SeqRange> {
  const [last] = await db.query<{ seq: number }>(REACH.up, [baseId, after, upTo, entries - 1])
  return { after, upTo: last?.seq ?? upTo }
}

/** The newest part of a range with that many entries: of one request, if it is given. */
export async function newestOf(
  db: Db,
  baseId: string,
  { after, upTo }: SeqRange,
  requestId: string | null,
  entries: number,
): Promise<SeqRange> {
  const asked = [baseId, after, upTo, entries - 1]
  const [last] = await (requestId === null
    ? db.query<{ seq: number }>(REACH.down, asked)
    : db.query<{ seq: number }>(REACH.downRequest, [...asked, requestId]))
  return last ? { after: last.seq - 1, upTo } : { after, upTo }
}

/** A range of seqs: after the first, up to the second. */
export type SeqRange = { after: number; upTo: number }
type Times = { since: string | null; until: string | null }

/**
 * How much the times of two entries may contradict their order, in milliseconds: transactions log the time
 * of their start, and clocks are set back.
 */
const SKEW_MS = 60 * 60_000

/**
 * The last entry from before `$4`, by binary search in the log of a base. All entries up to `low` are from
 * before it, those from `high` on are not.
 */
const LAST_BEFORE = statement(
  'last_entry_before',
  `WITH RECURSIVE search (low, high) AS (
     SELECT $2::bigint, $3::bigint + 1
     UNION ALL
     SELECT CASE WHEN c.at < $4 THEN c.seq ELSE s.low END, CASE WHEN c.at < $4 THEN s.high ELSE s.middle END
     FROM (SELECT low, high, (low + high) / 2 AS middle FROM search WHERE high - low > 1) s
     LEFT JOIN LATERAL (
       SELECT seq, at FROM plinth.change
       WHERE base_id = $1 AND seq >= s.middle AND seq < s.high ORDER BY seq LIMIT 1) c ON true)
   SELECT max(low)::float8 AS seq FROM search`,
)

const ENDS = statement(
  'ends_of_log',
  'SELECT coalesce(min(seq), 1)::float8 - 1 AS after, coalesce(max(seq), 0)::float8 AS "upTo" FROM plinth.change WHERE base_id = $1',
)

/** The range that has all entries of a base. */
export async function wholeLog(db: Db, baseId: string): Promise<SeqRange> {
  const [ends] = await db.query<SeqRange>(ENDS, [baseId])
  return ends ?? { after: 0, upTo: 0 }
}

/** Narrows a range to the part that can have entries of these times, without reading the rest. */
export async function withinTimes(
  db: Db,
  baseId: string,
  range: SeqRange,
  { since, until }: Times,
): Promise<SeqRange> {
  let { after, upTo } = range
  const lastBefore = async (time: number) => {
    const [last] = await db.query<{ seq: number }>(LAST_BEFORE, [baseId, after, upTo, new Date(time)])
    return last?.seq ?? after
  }
  if (since !== null && after < upTo) after = await lastBefore(Date.parse(since) - SKEW_MS)
  if (until !== null && after < upTo) upTo = await lastBefore(Date.parse(until) + SKEW_MS)
  return { after, upTo }
}
