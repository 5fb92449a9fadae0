import { logLinks } from '../../data/ledger/relationship-statements.ts'
import { LOG_REMOVED, TAKE_OUT } from '../../data/ledger/remove.ts'
import { authorAt } from '../../log/log-rows.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { CascadedRecord } from './find-cascade.ts'

type Author = readonly unknown[]
/** For each cascaded record, by its row number: the seq of the log entry of its root. */
type Causes = ReadonlyMap<string, string>

const UNLINK = statement(
  'unlink_records',
  `WITH going AS MATERIALIZED (SELECT * FROM unnest((SELECT $2::bigint[]), (SELECT $3::text[])) AS g (row_no, cause)),
   due AS MATERIALIZED (
     SELECT DISTINCT ON (l.id) l.id, g.cause FROM going g CROSS JOIN LATERAL (
       SELECT o.id FROM plinth.relationship o WHERE o.source_row = g.row_no
       UNION ALL SELECT i.id FROM plinth.relationship i WHERE i.target_row = g.row_no) l
     ORDER BY l.id),
   gone AS (
     DELETE FROM plinth.relationship r WHERE r.base_id = $1 AND r.id = ANY (ARRAY(SELECT id FROM due)) RETURNING r.*),
   caused AS (SELECT gone.*, due.cause FROM gone JOIN due ON due.id = gone.id ORDER BY gone.id)
   ${logLinks('caused', 'delete', authorAt(4), 'w.cause')}`,
)

const UNLINK_TYPE = statement(
  'unlink_type',
  `WITH gone AS (
     DELETE FROM plinth.relationship WHERE base_id = $1 AND rel_type = ANY ($8::text[]) AND (source_record_type = $2 OR target_record_type = $2) RETURNING *)
   ${logLinks('gone', 'delete', authorAt(3))}`,
)

/** Deletes every link of the records of a type, with log entries. `relTypes`: the relationship types of these links. */
export const unlinkType = (
  tx: Db,
  { baseId, recordType, relTypes }: { baseId: string; recordType: string; relTypes: readonly string[] },
  author: Author,
) => tx.query(UNLINK_TYPE, [baseId, recordType, ...author, relTypes])

/**
 * Deletes locked records, their links first, and logs each: the roots, the cascaded records, then the links.
 */
export async function deleteRows(
  tx: Db,
  baseId: string,
  cascaded: readonly CascadedRecord[],
  rootOf: ReadonlyMap<string, string>,
  author: Author,
): Promise<void> {
  const roots = cascaded.filter(({ rowNo }) => rootOf.get(rowNo) === rowNo)
  const along = cascaded.filter(({ rowNo }) => rootOf.get(rowNo) !== rowNo)
  const seqs = await logGone(tx, roots, () => null, author)
  const causes: Causes = new Map([...rootOf].map(([row, root]) => [row, seqs.get(root) ?? '']))
  await logGone(tx, along, ({ rowNo }) => causes.get(rowNo) ?? null, author)
  await tx.query(UNLINK, [baseId, [...causes.keys()], [...causes.values()], ...author])
  for (const [type, records] of Map.groupBy(cascaded, ({ recordType }) => recordType))
    await tx.query(TAKE_OUT, [baseId, type, records.map(({ rowNo }) => rowNo)])
}

/** Logs the deletion of records. Returns the seqs by row number. */
async function logGone(
  tx: Db,
  records: readonly CascadedRecord[],
  cause: (record: CascadedRecord) => string | null,
  author: Author,
): Promise<ReadonlyMap<string, string>> {
  if (records.length === 0) return new Map()
  const values = [records.map(({ rowNo }) => rowNo), records.map(cause), ...author]
  const entries = await tx.query<{ seq: string; record_type: string; id: string }>(LOG_REMOVED, values)
  const seqs = new Map(entries.map(({ seq, record_type, id }) => [`${record_type}/${id}`, seq]))
  return new Map(records.map(({ rowNo, recordType, id }) => [rowNo, seqs.get(`${recordType}/${id}`) ?? '']))
}
