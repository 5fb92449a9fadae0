import { RECORD_COLUMNS } from '../record-store/record.ts'
import type { RelationshipRow } from '../relationships/index.ts'

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
