import { type Db, statement } from '../storage/database/client.ts'

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
