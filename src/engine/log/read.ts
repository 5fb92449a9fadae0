/** Reads ranges of the change log, each entry with its diff. */

import { mapInTurns } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { ResponseBudget, type RowCap } from '../storage/database/capped-query.ts'
import { type Db, shaped } from '../storage/database/client.ts'
import { type Change, type ChangeRow, callFor, mayRead, toChange, type Viewer } from './entry.ts'
import { type ChangeFilter, matches } from './filter.ts'
import { newestOf, oldestOf, type SeqRange, withinSeqs, withinTimes } from './ranges.ts'

/**
 * A range of a base's log: the entries after one number up to another, with a limit. Newest first if
 * `isDescending`.
 */
export type Stretch = {
  baseId: string
  after: number
  upTo: number
  limit: number
  isDescending?: boolean
}

/** A reader and its filter. */
export type Reader = Viewer & {
  filter: ChangeFilter
  /** Whether the diffs have the replaced values. */
  showsBefore?: boolean
}

/**
 * Reads the entries of the range in order, with their diffs. With a reader, reads a superset of the entries
 * for it. `isCut` says that the cap ended the read.
 */
export async function readStretch(
  db: Db,
  stretch: Stretch,
  cap: RowCap,
  reader?: Reader,
): Promise<{ changes: Change[]; isCut: boolean }> {
  const values: unknown[] = [stretch.baseId, stretch.after, stretch.upTo, stretch.limit]
  const bind = (value: unknown) => `$${values.push(value)}`
  const narrowed = reader
    ? [withinSeqs(reader.filter, bind), ...narrowing(reader, stretch.baseId, bind)]
    : ['seq > $2 AND seq <= $3']
  const log = reader ? logOf(reader.filter, bind) : 'plinth.change'
  const statement = shaped(statementOf(log, narrowed, orderOf(stretch, reader)))
  const { rows, isCut } = await db.queryCapped<ChangeRow>(statement, values, cap)
  const changes = await mapInTurns(rows, (row) => toChange(row, reader?.showsBefore))
  return { changes, isCut }
}

/** How long a read goes on while nothing matches. */
export type Patience = {
  /** Entries that it looks through. */
  readonly entries: number
  /** Whether the client has disconnected. */
  readonly isOver?: () => boolean
}

/**
 * Reads the entries of the range that match the reader's filter and rights, in order. `rest` is the part of
 * the range that was not read; null when all was. One step scans a bounded number of entries and bytes, so
 * there may be more even if the page is not full. While nothing is found, the read goes on with larger steps.
 */
export async function readFor(
  db: Db,
  stretch: Stretch,
  reader: Reader,
  cap: RowCap,
  patience: Patience = { entries: LIMITS.feedReach },
): Promise<{ changes: Change[]; rest: SeqRange | null }> {
  const changes: Change[] = []
  const { baseId, limit, isDescending } = stretch
  const wanted = limit + 1
  let rest = await withinTimes(db, baseId, stretch, reader.filter)
  /** The part of a range that follows an entry in the direction of the read. */
  const past = (seq: number, range: SeqRange): SeqRange =>
    isDescending ? { ...range, upTo: seq - 1 } : { ...range, after: seq }
  const page = (left: SeqRange) => {
    const shown = changes.slice(0, limit)
    const last = shown.at(-1)
    const unread = last && changes.length > limit ? past(last.seq, rest) : left
    return { changes: shown, rest: unread.after < unread.upTo ? unread : null }
  }
  for (let scanned = 0, size: number = LIMITS.feedReach; ; size = LIMITS.feedLongReach) {
    const reach = await inReach(db, { ...stretch, ...rest }, reader, size)
    for (let range = reach; changes.length <= limit; ) {
      const found = await readStretch(db, { ...stretch, ...range, limit: wanted }, cap, reader)
      for (const change of found.changes)
        if (isFor(reader, baseId, change)) changes.push(callFor(reader, baseId, change))
      const last = found.changes.at(-1)
      if (found.isCut) return page(last ? past(last.seq, rest) : rest)
      if (!last || found.changes.length < wanted) break
      range = past(last.seq, range)
    }
    const left = isDescending
      ? { after: rest.after, upTo: reach.after }
      : { after: reach.upTo, upTo: rest.upTo }
    scanned += size
    const isDone = changes.length > 0 || left.after >= left.upTo
    if (isDone || scanned >= patience.entries || patience.isOver?.()) return page(left)
    rest = left
  }
}

/** Reads one entry by number. */
export async function readEntry(db: Db, baseId: string, seq: number): Promise<Change | undefined> {
  const { changes } = await readStretch(db, { baseId, after: seq - 1, upTo: seq, limit: 1 }, feedCap())
  return changes[0]
}

/**
 * The entries that the transaction has made, after one number: in order, with their diffs and the values that these replace.
 * Fewer if they exceed the cap, and `isCut` then.
 */
export async function readOwn(
  tx: Db,
  baseId: string,
  after: number,
  cap: RowCap,
): Promise<{ changes: Change[]; isCut: boolean }> {
  const own = statementOf('plinth.change', ['seq > $2 AND seq <= $3', 'xid = pg_current_xact_id()'], {
    found: 'seq',
    shown: 'c.seq',
  })
  const values = [baseId, after, Number.MAX_SAFE_INTEGER, LIMITS.undoneEntriesShown]
  const { rows, isCut } = await tx.queryCapped<ChangeRow>(shaped(own), values, cap)
  const changes = await mapInTurns(rows, (row) => toChange(row, true))
  return { changes, isCut }
}

/** Byte limit of one read for a stream. */
export const feedCap = (): RowCap => new ResponseBudget(LIMITS.feedTailBytes, Number.POSITIVE_INFINITY).page()

/** The part of a range that one step may scan, from the end where the reader starts. */
async function inReach(
  db: Db,
  { baseId, after, upTo, isDescending }: Stretch,
  reader: Reader,
  entries: number,
): Promise<SeqRange> {
  if (readsAtOnce(reader, baseId)) return { after, upTo }
  return isDescending
    ? newestOf(db, baseId, { after, upTo }, null, entries)
    : oldestOf(db, baseId, { after, upTo }, entries)
}

/** Whether an index finds the entries of the filter, or every entry is one of them. */
function readsAtOnce({ access, filter }: Reader, baseId: string): boolean {
  const isFound = (filter.recordType !== null && filter.id !== null) || filter.requestId !== null
  return (
    isFound || (access.types('read', baseId) === '*' && Object.values(filter).every((each) => each === null))
  )
}

/** Authoritative visibility check. The SQL conditions are only a prefilter. */
export const isFor = ({ access, filter }: Reader, baseId: string, change: Change): boolean =>
  matches(filter, change) && mayRead(access, baseId, change)

/** SQL prefilter. It never removes an entry that is for the reader. */
export function narrowing(
  { access, filter }: Reader,
  baseId: string,
  bind: (value: unknown) => string,
): string[] {
  const types = access.types('read', baseId)
  const { recordType, id, kind, operation, actor, actorKind, requestId, since, until, endpoint } = filter
  const only = (condition: string, value: unknown) =>
    value === null ? [] : [condition.replaceAll('?', bind(value))]
  return [
    ...(types === '*' ? [] : [ofTypes(bind([...types]))]),
    // Only entries of records have a type. The redundant condition enables the partial index.
    ...only("kind = 'record' AND record_type = ?", recordType),
    ...only('id = ?', id),
    ...only('kind = ?', kind),
    ...only('operation = ?', operation),
    // A range and not an equality, which would let the planner walk the log in order of seq instead.
    ...only('request_id COLLATE "C" BETWEEN ? AND ?', requestId),
    ...only('(token_id = ? OR actor_name = ?)', actor),
    ...only("coalesce(actor_kind, 'program') = ?", actorKind),
    ...only('at >= ?', since),
    ...only('at < ?', until),
    ...only('call ->> 2 = ?', endpoint),
  ]
}

/**
 * Source of the log rows: the log of one record if the filter names it. The subquery (OFFSET 0) makes the
 * planner use the index on its versions instead of scanning the log of the base.
 */
function logOf({ recordType, id }: ChangeFilter, bind: (value: unknown) => string): string {
  if (recordType === null || id === null) return 'plinth.change'
  return `(SELECT * FROM plinth.change WHERE kind = 'record' AND base_id = $1 AND record_type = ${bind(recordType)}
     AND id = ${bind(id)} OFFSET 0) l`
}

/** Prefilter by readable types. Rare kinds of entries pass, because `isFor` checks them. */
const ofTypes = (types: string): string => `CASE
       WHEN record_type IS NOT NULL THEN record_type = ANY (${types}::text[])
       WHEN kind = 'relationship' THEN data ->> 'source_record_type' = ANY (${types}::text[])
         AND data ->> 'target_record_type' = ANY (${types}::text[])
       ELSE true END`

/** The order of the log, in terms of the index that finds the entries, and of the result. */
function orderOf({ isDescending }: Stretch, reader: Reader | undefined): { found: string; shown: string } {
  const way = isDescending ? ' DESC' : ''
  const isOfRequest = reader !== undefined && reader.filter.requestId !== null
  return { found: `${isOfRequest ? `request_id COLLATE "C"${way}, ` : ''}seq${way}`, shown: `c.seq${way}` }
}

const STATE = `'operation', p.operation, 'data', p.data, 'external_id', p.external_id,
       'external_source', p.external_source, 'cancelled_at', p.cancelled_at`

/**
 * Looks up the previous state of each row by index: by version for records and links, by the previous entry
 * for other kinds. Creations and deletions do not need it.
 */
const statementOf = (
  log: string,
  narrowed: readonly string[],
  { found, shown }: { found: string; shown: string },
) => `SELECT c.seq::float8 AS seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version, c.data,
     c.external_source, c.external_id, c.cancelled_at, c.token_id, c.actor_name, c.via, c.actor_kind, c.request_id, c.call, c.cause, p.before
   FROM (
     SELECT * FROM ${log}
     WHERE ${['base_id = $1', ...narrowed].join(' AND ')}
     ORDER BY ${found} LIMIT $4) c
   LEFT JOIN LATERAL (
     (SELECT jsonb_build_object(${STATE}) AS before FROM plinth.change p
      WHERE c.kind = 'record' AND c.operation NOT IN ('create', 'delete')
        AND p.kind = 'record' AND p.base_id = c.base_id AND p.record_type = c.record_type AND p.id = c.id
        AND p.version < c.version ORDER BY p.version DESC LIMIT 1)
     UNION ALL
     (SELECT jsonb_build_object(${STATE}) FROM plinth.change p
      WHERE c.kind = 'relationship' AND c.operation NOT IN ('create', 'delete')
        AND p.kind = 'relationship' AND p.base_id = c.base_id AND p.id = c.id
        AND p.version < c.version ORDER BY p.version DESC LIMIT 1)
     UNION ALL
     (SELECT jsonb_build_object(${STATE}) FROM plinth.change p
      WHERE c.kind NOT IN ('record', 'relationship') AND c.operation NOT IN ('create', 'delete')
        AND p.kind NOT IN ('record', 'relationship') AND p.base_id = c.base_id AND p.kind = c.kind AND p.id = c.id
        AND p.seq < c.seq ORDER BY p.seq DESC LIMIT 1)
   ) p ON true
   ORDER BY ${shown}`
