/** Index entries of records, written inside the statement that writes the record. */
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { type Statement, statement, timed } from '../database/client.ts'
import { textEntries, textEntriesGone } from '../search/entries.ts'

/** A writing statement for types without declared indexes, with some, and with text indexes among them. */
export type WriteStatement = {
  readonly plain: Statement
  readonly indexed: Statement
  readonly searched: Statement
}

type Entries = { indexed: (from: string) => string; searched: (from: string) => string }

/**
 * The variants of a statement that binds the base as `$1` and the type as `$2`. `text` gets what is to stand after the
 * CTE `w` of the rows it writes, or takes out: nothing, or the CTEs that keep their entries.
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

/** The variant for a type; of one whose indexes have all failed, too, which then finds nothing to enter. */
export function variantFor(write: WriteStatement, { indexes }: Pick<CompiledType, 'indexes'>): Statement {
  if (indexes.length === 0) return write.plain
  return indexes.some(({ kind }) => kind === 'text') ? write.searched : write.indexed
}

const RECORD_ARGUMENTS =
  'id, external_id, external_source, version, data, cancelled_at, created_at, updated_at'
    .split(', ')
    .map((column) => `w.${column}`)
    .join(', ')

/** The entries that the records of `from` ought to have in the indexes of their type that `which` picks. */
export const entriesWanted = (from: string, which = "d.status <> 'failed'"): string => `
     SELECT d.id AS index_id, w.id, w.row_no, w.created_at, d.kind = 'unique' AND e.is_whole AS is_unique,
       e.is_cut AND NOT d.has_cut AS is_first_cut, e.k1, e.k2, e.k3
     FROM ${from} w JOIN plinth.record_type_index d
       ON d.base_id = $1 AND d.record_type = $2 AND d.kind <> 'text' AND ${which}
     CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, ${RECORD_ARGUMENTS}) e`

/** Makes the wanted entries. */
export const ENTER = `INSERT INTO plinth.record_index AS x (base_id, index_id, k1, k2, k3, id, row_no, created_at, is_unique)
     SELECT $1, index_id, k1, k2, k3, id, row_no, created_at, is_unique FROM wanted`

// Who reads along the index is told before the order it gives is no longer the whole one.
const MARK_CUT = `UPDATE plinth.record_type_index d SET has_cut = true
     WHERE d.base_id = $1 AND d.record_type = $2 AND NOT d.has_cut
       AND d.id IN (SELECT index_id FROM wanted WHERE is_first_cut)
     RETURNING pg_notify('plinth_caches', 'type:' || $1 || '/' || $2)::text`

/**
 * The CTEs that give the records of `from` their entries. In the order of index and record, so that two statements never
 * wait for each other; an entry that stays as it is costs no write. As an upsert, because it has to see what another
 * writer of the same record has committed since this statement began.
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

// By values and not as joins: these may read all entries of an index.
const keysGone = (from: string): string => `unentered AS (
     DELETE FROM plinth.record_index x
     WHERE x.base_id = $1 AND x.id = ANY (ARRAY(SELECT id FROM ${from})) AND x.index_id = ANY (ARRAY(
       SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = $1 AND d.record_type = $2)))`

const ENTERING: Entries = { indexed: keysOf, searched: (from) => textEntries(from) }

/** For a statement that takes records out: their entries go with them. */
export const LEAVING: Entries = { indexed: keysGone, searched: textEntriesGone }

/** The CTEs that give the records of `from` their entries in indexes of every kind. */
export const entriesOf = (from: string): string => `${keysOf(from)},\n   ${textEntries(from)}`

/** The CTEs that take out the entries of the records of `from`, which are gone, from indexes of every kind. */
export const entriesGone = (from: string): string => `${keysGone(from)},\n   ${textEntriesGone(from)}`
