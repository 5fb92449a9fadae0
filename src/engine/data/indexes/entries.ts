/** Index maintenance: writes index entries in the same statement as the record. */
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Statement, statement, timed } from '../../storage/database/client.ts'
import { textEntries, textEntriesGone } from '../search/entries.ts'
import { entryKeys, type KeyedRecord } from './entry-keys.ts'

/** Variants of a write statement: for types without indexes, with indexes, and with text indexes. */
export type WriteStatement = {
  readonly plain: Statement
  readonly indexed: Statement
  readonly searched: Statement
  /** For types whose index keys are made here. */
  readonly keyed?: { readonly statement: Statement; readonly takes: KeyedEntries['takes'] }
}

type Entries = { indexed: (from: string) => string; searched: (from: string) => string }

/**
 * Builds the variants of a statement that binds the base as `$1` and the type as `$2`. `text` receives the
 * SQL after the CTE `w` of written or deleted rows: nothing, or the index maintenance CTEs.
 */
export const writeStatement = (
  name: string,
  text: (entries: string, isKeyed?: boolean) => string,
  { indexed, searched }: Entries = ENTERING,
  keyed?: KeyedEntries,
): WriteStatement => ({
  plain: timed(statement(name, text(''))),
  indexed: timed(statement(`${name}_indexed`, text(`,\n   ${indexed('w')}`))),
  searched: timed(statement(`${name}_searched`, text(`,\n   ${indexed('w')},\n   ${searched('w')}`))),
  ...(keyed && {
    keyed: {
      statement: timed(statement(`${name}_keyed`, text(`,\n   ${keyed.text}`, true))),
      takes: keyed.takes,
    },
  }),
})

/**
 * Selects the variant for a type. A type whose indexes all failed uses an indexed variant, which writes no
 * entries.
 */
export function variantFor(write: WriteStatement, { indexes }: Pick<CompiledType, 'indexes'>): Statement {
  if (indexes.length === 0) return write.plain
  return indexes.some(({ kind }) => kind === 'text') ? write.searched : write.indexed
}

/** The variant for the records that a statement writes, and the values that it binds after its own. */
export function variantOf(
  write: WriteStatement,
  type: CompiledType,
  records: readonly KeyedRecord[],
): [Statement, readonly unknown[]] {
  const keys = write.keyed && entryKeys(type, records)
  if (!write.keyed || !keys) return [variantFor(write, type), []]
  const { properties, ...entries } = keys
  const values = Object.values(entries)
  return [write.keyed.statement, write.keyed.takes === 'properties' ? [...values, properties] : values]
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

const ENTER_CHANGED = `
     ${ENTER}
     ON CONFLICT (base_id, index_id, id) DO UPDATE
       SET k1 = excluded.k1, k2 = excluded.k2, k3 = excluded.k3,
         row_no = excluded.row_no, created_at = excluded.created_at, is_unique = excluded.is_unique
       WHERE (x.k1, x.k2, x.k3, x.row_no, x.created_at, x.is_unique)
         IS DISTINCT FROM (excluded.k1, excluded.k2, excluded.k3, excluded.row_no, excluded.created_at, excluded.is_unique)`

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
   entered AS (${ENTER_CHANGED}),
   marked AS (
     ${MARK_CUT})`

/** CTEs that enter the keys of `entryKeys`, and whether they take the properties of the keys too. */
type KeyedEntries = { readonly text: string; readonly takes: 'keys' | 'properties' }

/**
 * The same with the keys of `entryKeys`, bound from parameter `first` on. It is safe while the statement holds the type at
 * the revision whose indexes the server knows. No key is cut. `moved`: of an update, enters the rows of `w` that have moved.
 */
export const keyedEntries = (first: number, moved?: 'moved'): KeyedEntries => ({
  text: `wanted AS MATERIALIZED (
     SELECT k.index_id, w.id, w.row_no, w.created_at, false AS is_unique, k.k1, k.k2, k.k3
     FROM unnest((SELECT $${first}::bigint[]), (SELECT $${first + 1}::text[]), (SELECT $${first + 2}::text[]), (SELECT $${first + 3}::text[]), (SELECT $${first + 4}::text[]))
       AS k (index_id, id, k1, k2, k3) JOIN w ON w.id = k.id COLLATE "C"${moved ? ' WHERE w.moved' : ''}
     ORDER BY k.index_id, w.id),
   entered AS (${ENTER_CHANGED})`,
  takes: moved ? 'properties' : 'keys',
})

/**
 * SQL: whether a property has changed, from the row `former` to `next`, that an index reads. Else its entries stay as they are.
 * `first` as in `keyedEntries`.
 */
export const hasMoved = (first: number, former: string, next: string): string => `(
       SELECT bool_or(${former}.data -> property IS DISTINCT FROM ${next}.data -> property)
       FROM unnest((SELECT $${first + 5}::text[])) AS property) AS moved`

// Compares with values: a join may scan all entries of an index.
const keysGone = (from: string): string => `unentered AS (
     DELETE FROM plinth.record_index x
     WHERE x.base_id = $1 AND x.id = ANY (ARRAY(SELECT id FROM ${from})) AND x.index_id = ANY (ARRAY(
       SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = $1 AND d.record_type = $2)))`

export const ENTERING: Entries = { indexed: keysOf, searched: (from) => textEntries(from) }

/** Index maintenance of a delete: deletes the entries of the deleted records. */
export const LEAVING: Entries = { indexed: keysGone, searched: textEntriesGone }

/** CTEs that maintain the entries of the records of `from` in all indexes. */
export const entriesOf = (from: string): string => `${keysOf(from)},\n   ${textEntries(from)}`

/** CTEs that delete the entries of the deleted records of `from` from all indexes. */
export const entriesGone = (from: string): string => `${keysGone(from)},\n   ${textEntriesGone(from)}`
