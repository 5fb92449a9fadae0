/** Index maintenance: writes index entries in the same statement as the record. */
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Statement, statement, timed } from '../../storage/database/client.ts'
import { textEntries, textEntriesGone } from '../search/entries.ts'

/** Variants of a write statement: for types without indexes, with indexes, and with text indexes. */
export type WriteStatement = {
  readonly plain: Statement
  readonly indexed: Statement
  readonly searched: Statement
}

type Entries = { indexed: (from: string) => string; searched: (from: string) => string }

/**
 * Builds the variants of a statement that binds the base as `$1` and the type as `$2`. `text` receives the
 * SQL after the CTE `w` of written or deleted rows: nothing, or the index maintenance CTEs.
 */
export const writeStatement = (
  name: string,
  text: (entries: string) => string,
  { indexed, searched }: Entries = ENTERING,
): WriteStatement => ({
  plain: timed(statement(name, text(''))),
  indexed: timed(statement(`${name}_indexed`, text(`,\n   ${indexed('w')}`))),
  searched: timed(statement(`${name}_searched`, text(`,\n   ${indexed('w')},\n   ${searched('w')}`))),
})

/**
 * Selects the variant for a type. A type whose indexes all failed uses an indexed variant, which writes no
 * entries.
 */
export function variantFor(write: WriteStatement, { indexes }: Pick<CompiledType, 'indexes'>): Statement {
  if (indexes.length === 0) return write.plain
  return indexes.some(({ kind }) => kind === 'text') ? write.searched : write.indexed
}

const RECORD_ARGUMENTS =
  'id, external_id, external_source, version, data, cancelled_at, created_at, updated_at'
    .split(', ')
    .map((column) => `w.${column}`)
    .join(', ')

/** The expected index entries of the records of `from`, for the indexes that `which` selects. */
export const entriesWanted = (from: string, which = "d.status <> 'failed'"): string => `
     SELECT d.id AS index_id, w.id, w.row_no, w.created_at, d.kind = 'unique' AND e.is_whole AS is_unique,
       e.is_cut AND NOT d.has_cut AS is_first_cut, e.k1, e.k2, e.k3
     FROM ${from} w JOIN plinth.record_type_index d
       ON d.base_id = $1 AND d.record_type = $2 AND d.kind <> 'text' AND ${which}
     CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, ${RECORD_ARGUMENTS}) e`

/** Upserts the expected entries. */
export const ENTER = `INSERT INTO plinth.record_index AS x (base_id, index_id, k1, k2, k3, id, row_no, created_at, is_unique)
     SELECT $1, index_id, k1, k2, k3, id, row_no, created_at, is_unique FROM wanted`

// Flags the index as truncated before a reader can rely on its order.
const MARK_CUT = `UPDATE plinth.record_type_index d SET has_cut = true
     WHERE d.base_id = $1 AND d.record_type = $2 AND NOT d.has_cut
       AND d.id IN (SELECT index_id FROM wanted WHERE is_first_cut)
     RETURNING pg_notify('plinth_caches', 'record_type:' || $1 || '/' || $2)::text`

/**
 * CTEs that maintain the index entries of the records of `from`. Rows are ordered by index and record to
 * prevent deadlocks, and unchanged entries are not written. An upsert is used because it sees rows that a
 * concurrent writer of the same record committed after the statement began.
 */
const keysOf = (from: string): string => `wanted AS MATERIALIZED (${entriesWanted(from)}
     ORDER BY d.id, w.id),
   entered AS (
     ${ENTER}
     ON CONFLICT (base_id, index_id, id) DO UPDATE
       SET k1 = excluded.k1, k2 = excluded.k2, k3 = excluded.k3,
         row_no = excluded.row_no, created_at = excluded.created_at, is_unique = excluded.is_unique
       WHERE (x.k1, x.k2, x.k3, x.row_no, x.created_at, x.is_unique)
         IS DISTINCT FROM (excluded.k1, excluded.k2, excluded.k3, excluded.row_no, excluded.created_at, excluded.is_unique)),
   marked AS (
     ${MARK_CUT})`

// Compares with values: a join may scan all entries of an index.
const keysGone = (from: string): string => `unentered AS (
     DELETE FROM plinth.record_index x
     WHERE x.base_id = $1 AND x.id = ANY (ARRAY(SELECT id FROM ${from})) AND x.index_id = ANY (ARRAY(
       SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = $1 AND d.record_type = $2)))`

const ENTERING: Entries = { indexed: keysOf, searched: (from) => textEntries(from) }

/** Index maintenance of a delete: deletes the entries of the deleted records. */
export const LEAVING: Entries = { indexed: keysGone, searched: textEntriesGone }

/** CTEs that maintain the entries of the records of `from` in all indexes. */
export const entriesOf = (from: string): string => `${keysOf(from)},\n   ${textEntries(from)}`

/** CTEs that delete the entries of the deleted records of `from` from all indexes. */
export const entriesGone = (from: string): string => `${keysGone(from)},\n   ${textEntriesGone(from)}`
