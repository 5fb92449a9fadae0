import { type Page, toPage } from '../page.ts'
import type { Plan } from './statement.ts'

/** A page of groups, each with its keys and aggregations by name. */
export type AggregatePage = Page<Record<string, unknown>>
/** A row of the statement: the columns of the plan's cells, with a total and a place where they were asked for. */
export type GroupRow = Record<string, unknown> & { total?: number; place?: string | null }

/** The rows of the statement as the page that was asked for. */
export function toGroups(
  rows: readonly GroupRow[],
  { cells }: Plan,
  page: { limit: number; offset: number; includeTotal: boolean },
  isCut: boolean,
): AggregatePage {
  const groups = rows
    .filter(({ place }) => place !== null)
    .map((row) => Object.fromEntries(cells.map(({ name, column, show }) => [name, show(row[column])])))
  return toPage(groups, page, page.includeTotal ? (rows[0]?.total ?? 0) : null, isCut)
}
