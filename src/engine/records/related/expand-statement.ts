import { LIMITS } from '../../../foundation/limits.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import { RECORD_COLUMNS } from '../../data/ledger/record.ts'
import { statement, timed } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { RELATIONSHIP_COLUMNS, type RelationshipRow } from '../relationships/index.ts'
import { type PolicySql, withinPolicy } from './policy-sql.ts'

/** Prefix for columns of a link that is joined with a record, whose columns have the same names. */
export const LINK_PREFIX = 'l_'

/** Qualifies a list of columns with a table and adds a prefix to each alias. */
export const prefixed = (columns: string, table: string, prefix = ''): string =>
  columns
    .split(', ')
    .map((name) => `${table}.${name}${prefix && ` AS ${prefix}${name}`}`)
    .join(', ')

/** Columns of record `r`, with its data redacted by `data`. */
export const recordColumns = (data = 'r.data'): string =>
  prefixed(RECORD_COLUMNS, 'r').replace('r.data', `${data} AS data`)

/** Extracts the link from a joined row. */
export function linkOf(row: object): RelationshipRow {
  const link: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row))
    if (name.startsWith(LINK_PREFIX)) link[name.slice(LINK_PREFIX.length)] = value
  return link as RelationshipRow
}

/** Links of many records with the records at the other ends. `n` numbers the input records from 1. */
const columns = (near: string, far: string, within: string | null): string =>
  `SELECT ${RELATIONSHIP_COLUMNS}, ${far}_row AS far FROM plinth.relationship
   WHERE ${near}_row = o.row_no AND rel_type = k.rel_type COLLATE "C"${withinPolicy(`${far}_row`, within)}`

/**
 * Statement for one level of an expansion: $1 the base; $2 to $5, arrays of equal length: record types, ids,
 * relationship types, and whether to traverse in reverse; $6 the readable record types, null for all; $7 like $2 to $5,
 * whether titles take the place of the records, which are read apart. Lateral
 * joins force index look-ups in any plan. Reads one link more than each list shows, to detect truncation.
 */
const expansion = (within: string | null, data: string): string => `
  SELECT k.n::int AS n, l.far, r.record_type, ${recordColumns(data)}, ${prefixed(RELATIONSHIP_COLUMNS, 'l', LINK_PREFIX)}
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bool[], $7::bool[])
      WITH ORDINALITY AS k (record_type, id, rel_type, incoming, as_title, n),
    LATERAL (SELECT row_no FROM ${FEW_RECORDS}
      WHERE base_id = $1 AND record_type = k.record_type COLLATE "C" AND id = k.id COLLATE "C" LIMIT 1) o,
    LATERAL (
      (${columns('source', 'target', within)} AND NOT k.incoming AND ($6::text[] IS NULL OR target_record_type = ANY ($6::text[]))
       ORDER BY target_row LIMIT ${LIMITS.expandedOfOne + 1})
      UNION ALL
      (${columns('target', 'source', within)} AND k.incoming AND ($6::text[] IS NULL OR source_record_type = ANY ($6::text[]))
       ORDER BY source_row LIMIT ${LIMITS.expandedOfOne + 1})) l,
    LATERAL (SELECT * FROM ${FEW_RECORDS} WHERE row_no = l.far LIMIT 1) r
  LIMIT ${LIMITS.expandedInAll + 1}`

export const EXPAND = timed(statement('expand', expansion(null, 'CASE WHEN NOT k.as_title THEN r.data END')))

/** Variant under a row policy; `values` are those of `$1` to `$7`. Titles are read from the data that it shows. */
export function expandWithin(policySql: PolicySql, values: readonly unknown[]): BoundStatement {
  const parameters = new Parameters()
  for (const value of values) parameters.add(value)
  const { within, data } = policySql(parameters)
  return parameters.bind(expansion(within, data))
}
