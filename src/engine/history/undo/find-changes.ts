/** Finds the changes that an undo is about. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Kind, Operation } from '../../log/entry.ts'
import { type SeqRange, withinSeqs, withinTimes } from '../../log/ranges.ts'
import { narrowing, type Reader } from '../../log/read.ts'
import { visibleTo } from '../../log/visibility.ts'
import { type Db, shaped } from '../../storage/database/client.ts'

/** A change to undo, without its content. */
export type FoundChange = {
  seq: number
  kind: Kind
  recordType: string | null
  id: string
  operation: Operation
  version: number
  /** Record types at the ends of a link, or of the record of an attachment. */
  ends: readonly string[]
  /** What is behind the change, such as a promotion. */
  cause: string | null
}

export type FoundRow = Omit<FoundChange, 'recordType' | 'ends'> & {
  record_type: string | null
  ends: string[] | null
}
/** The columns of a `FoundRow`, of an entry `c`. */
export const FOUND = `c.seq::float8 AS seq, c.kind, c.record_type, c.id, c.operation, c.version, c.cause,
         CASE c.kind WHEN 'relationship' THEN ARRAY[c.data ->> 'source_record_type', c.data ->> 'target_record_type']
           WHEN 'attachment' THEN ARRAY[c.data ->> 'recordType'] END AS ends`
export const toFound = ({ record_type: recordType, ends, ...row }: FoundRow): FoundChange => ({
  ...row,
  recordType,
  ends: ends ?? [],
})

/**
 * The changes that match the filter and that the reader may see, newest first: of one change also what its
 * deletion took with it.
 * @throws VALIDATION_ERROR above the limit
 */
export async function findChanges(
  db: Db,
  baseId: string,
  reader: Reader,
  upTo: number,
  seq: number | null,
): Promise<FoundChange[]> {
  if (seq === null) return changesWithin(db, baseId, reader, { after: 0, upTo }, null)
  const named = await changesWithin(db, baseId, reader, { after: seq - 1, upTo: Math.min(seq, upTo) }, null)
  if (named[0]?.operation !== 'delete') return named
  const taken = await changesWithin(db, baseId, reader, { after: seq, upTo }, seq)
  return [...taken, ...named]
}

async function changesWithin(
  db: Db,
  baseId: string,
  reader: Reader,
  range: SeqRange,
  takenWith: number | null,
): Promise<FoundChange[]> {
  const { after, upTo } = await withinTimes(db, baseId, range, reader.filter)
  const values: unknown[] = [baseId, after, upTo, AT_ONCE]
  const bind = (value: unknown) => `$${values.push(value)}`
  const types = reader.access.types('read', baseId)
  const conditions = [
    withinSeqs(reader.filter, bind),
    ...narrowing(reader, baseId, bind),
    ...(types === '*' ? [] : [visibleTo(bind([...types]))]),
    // Of all that a token did, what it only asked for has changed nothing.
    ...(reader.filter.actor === null ? [] : [`c.kind NOT IN ('preview', 'review_request')`]),
    ...(takenWith === null ? [] : [wentWith(bind(String(takenWith)))]),
  ]
  const isOfRequest = reader.filter.requestId !== null
  const statement = shaped(
    `SELECT ${FOUND}
       FROM plinth.change c
       WHERE base_id = $1 AND ${conditions.join(' AND ')}
       ORDER BY ${isOfRequest ? 'request_id COLLATE "C" DESC, ' : ''}c.seq DESC LIMIT $4`,
  )
  const found: FoundChange[] = []
  for (let left = upTo; ; ) {
    const rows = await db.query<FoundRow>(statement, values.with(2, left))
    for (const row of rows) found.push(toFound(row))
    if (found.length > LIMITS.undoneChanges) throw tooMany()
    if (rows.length < AT_ONCE) return found
    left = (rows.at(-1)?.seq ?? 0) - 1
    await nextTurn()
  }
}

/** What a deletion took with it. A revert of the deletion names it as its cause too, but in another request. */
const wentWith = (seq: string) =>
  `c.cause COLLATE "C" = ${seq}::text AND c.operation = 'delete' AND c.request_id = (
     SELECT d.request_id FROM plinth.change d WHERE d.base_id = $1 AND d.seq = (${seq}::text)::bigint)`

/** Rows of one reading: the driver reads all of an answer in one turn of the event loop. */
export const AT_ONCE = 1000

export const tooMany = () =>
  invalid({
    path: '',
    code: 'too_many',
    message: `At most ${LIMITS.undoneChanges} changes are undone at a time. Narrow them by since, until or record_type; of a migration, undo the change of the record type by its seq.`,
    expected: LIMITS.undoneChanges,
  })
