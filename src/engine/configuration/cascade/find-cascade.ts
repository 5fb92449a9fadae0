/** ON DELETE CASCADE of links: finds and locks the records that a deletion cascades to. */
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'

/** A record to delete, locked until the transaction ends. */
export type CascadedRecord = { rowNo: string; recordType: string; id: string; version: number }

const CASCADING = `ARRAY(SELECT t.id FROM plinth.relationship_type t WHERE t.base_id = $1 AND t.on_delete = 'cascade')`

/** Sources that are deleted with the record of `target`. */
const cascadingLinks = (target: string, which = '') => `SELECT l.source_row FROM plinth.relationship l
     WHERE l.target_row = ${target} AND l.rel_type = ANY (${CASCADING})${which} OFFSET 0`

// UNION removes duplicates, so that a cycle ends. Reads up to `$3` rows, which exceeds the limit.
const cascadeStatement = (name: string, which = '') =>
  statement(
    name,
    `WITH RECURSIVE going (row_no) AS (
     SELECT unnest((SELECT $2::bigint[]))
     UNION
     SELECT l.source_row FROM going g CROSS JOIN LATERAL (${cascadingLinks('g.row_no', which)}) l)
   SELECT g.row_no::text, r.record_type FROM (SELECT row_no FROM going LIMIT $3) g
   CROSS JOIN LATERAL (SELECT record_type FROM plinth.record r WHERE r.row_no = g.row_no LIMIT 1) r`,
  )

const CASCADE = cascadeStatement('records_going')
const CASCADE_OF_OTHER_TYPES = cascadeStatement(
  'records_going_of_other_types',
  ' AND l.source_record_type <> $4',
)

const PULLS = statement(
  'cascade_pulls',
  `SELECT g.row_no::text AS target, l.source_row::text AS source
   FROM unnest((SELECT $2::bigint[])) AS g (row_no) CROSS JOIN LATERAL (${cascadingLinks('g.row_no')}) l`,
)

// Cascade from all records of type `$2`, without reading them, by the relationship types `$4`.
const ALONG_WITH_TYPE = statement(
  'records_along_with_type',
  `SELECT DISTINCT source_row::text AS row_no FROM plinth.relationship
   WHERE base_id = $1 AND rel_type = ANY ($4::text[]) AND target_record_type = $2 AND source_record_type <> $2
   LIMIT $3`,
)

// Lock types before records, in the lock order of all writers. The lock also keeps their set of indexes
// unchanged.
const LOCK_TYPES = statement(
  'lock_cascaded_types',
  `SELECT 1 AS one FROM plinth.record_type
   WHERE base_id = $1 AND id = ANY ((SELECT $2::text[])::text[]) ORDER BY id FOR KEY SHARE`,
)

// Blocks new links to the records. The fixed order prevents deadlocks between deletions.
const LOCK_RECORDS = statement(
  'lock_cascaded_records',
  `SELECT row_no::text AS "rowNo", record_type AS "recordType", id, version FROM plinth.record
   WHERE row_no = ANY ((SELECT $1::bigint[])::bigint[]) ORDER BY row_no FOR UPDATE`,
)

/**
 * Finds and locks all records that the deletion of `roots` removes. Omits roots that no longer exist.
 * @throws CONFLICT when it cascades to more than `LIMITS.cascadeRecords`
 */
export const lockCascade = (tx: Db, baseId: string, roots: readonly string[]): Promise<CascadedRecord[]> => {
  const most = roots.length + LIMITS.cascadeRecords
  return lockAll(tx, baseId, most, () => tx.query<Seen>(CASCADE, [baseId, roots, most + 1]))
}

/**
 * Finds and locks the records of other types that the deletion of all records of a type removes. The caller
 * blocks new links.
 * @param relTypes relationship types that lead to the type and cascade
 * @throws CONFLICT
 */
export async function lockCascadeOfType(
  tx: Db,
  baseId: string,
  recordType: string,
  relTypes: readonly string[],
): Promise<CascadedRecord[]> {
  if (relTypes.length === 0) return []
  const most = LIMITS.cascadeRecords
  const along = [baseId, recordType, most + 1, relTypes]
  const next = await tx.query<Pick<Seen, 'row_no'>>(ALONG_WITH_TYPE, along)
  const values = [baseId, next.map((row) => row.row_no), most + 1, recordType]
  return lockAll(tx, baseId, most, () => tx.query<Seen>(CASCADE_OF_OTHER_TYPES, values))
}

type Seen = { row_no: string; record_type: string }

async function lockAll(
  tx: Db,
  baseId: string,
  most: number,
  find: () => Promise<Seen[]>,
): Promise<CascadedRecord[]> {
  const locked = new Map<string, CascadedRecord>()
  // Links may appear until their ends are locked. Repeat until a pass finds only locked records.
  for (;;) {
    const seen = await find()
    if (seen.length > most) throw tooMany()
    const loose = seen.filter((row) => !locked.has(row.row_no))
    if (loose.length === 0) return seen.flatMap((row) => locked.get(row.row_no) ?? [])
    await tx.query(LOCK_TYPES, [baseId, [...new Set(loose.map((row) => row.record_type))]])
    for (const row of await tx.query<CascadedRecord>(LOCK_RECORDS, [loose.map((row) => row.row_no)]))
      locked.set(row.rowNo, row)
  }
}

/** Maps each deleted record to its root: the nearest one, and the first of equally near ones. */
export async function rootsOf(
  tx: Db,
  baseId: string,
  roots: readonly string[],
  cascaded: readonly CascadedRecord[],
): Promise<ReadonlyMap<string, string>> {
  const [only] = roots
  if (only !== undefined && roots.length === 1) return new Map(cascaded.map(({ rowNo }) => [rowNo, only]))
  const found = new Map(roots.map((root) => [root, root]))
  if (cascaded.length === roots.length) return found
  const pulls = await tx.query<{ target: string; source: string }>(PULLS, [
    baseId,
    cascaded.map(({ rowNo }) => rowNo),
  ])
  const byTarget = Map.groupBy(pulls, ({ target }) => target)
  // Breadth-first search: a Map iterates in insertion order, including entries added meanwhile.
  for (const [row, root] of found)
    for (const { source } of byTarget.get(row) ?? []) if (!found.has(source)) found.set(source, root)
  return found
}

const tooMany = () =>
  oneFault('CONFLICT', `The deletion would cascade to more than ${LIMITS.cascadeRecords} linked records.`, {
    path: '/id',
    code: 'cascade_too_large',
    message: `One deletion can cascade to at most ${LIMITS.cascadeRecords} records. Delete some of the linked records, or their links, first.`,
    expected: LIMITS.cascadeRecords,
  })
