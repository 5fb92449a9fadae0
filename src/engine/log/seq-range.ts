/** Ranges of the log: as SQL, and as far as a number of entries reaches. */
import { type Db, statement } from '../storage/database/client.ts'
import type { ChangeFilter } from './filter.ts'
import type { SeqRange } from './time-range.ts'

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
