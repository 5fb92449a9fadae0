import { RECORD_COLUMNS } from '../record-store/record.ts'
import type { RelationshipRow } from '../relationships/index.ts'

/** The columns of a link begin with this where a record stands beside it, which has columns of the same names. */
export const LINK_PREFIX = 'l_'

/** A list of columns as those of a table, each renamed by the prefix. */
export const prefixed = (columns: string, table: string, prefix = ''): string =>
  columns
    .split(', ')
    .map((name) => `${table}.${name}${prefix && ` AS ${prefix}${name}`}`)
    .join(', ')

/** The columns of a record `r`, its data as it is shown. */
export const recordColumns = (data = 'r.data'): string =>
  prefixed(RECORD_COLUMNS, 'r').replace('r.data', `${data} AS data`)

/** The link of a row that holds a record too. */
export function linkOf(row: object): RelationshipRow {
  const link: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row))
    if (name.startsWith(LINK_PREFIX)) link[name.slice(LINK_PREFIX.length)] = value
  return link as RelationshipRow
}
