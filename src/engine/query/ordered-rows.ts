import { compileFilter } from '../filter/compile.ts'
import type { AccessPath } from './access-path.ts'
import type { Compiled } from './compile-query.ts'
import { entryConditions, entryOrder, entryRuns } from './index-scan.ts'
import { all } from './list-statement.ts'
import { orderBy } from './order.ts'
import { chooseWay, type OrderedQuery, recordSource } from './record-source.ts'

/**
 * A query of the row numbers (`row_no`) of the first candidate records, in order, through the same access
 * path as a list; the consumer tests the filter on each. LIMIT is a literal so that the plan can use it.
 */
export function numbersInOrder(query: OrderedQuery, how: Compiled, most: number | null): string {
  const way = chooseWay(query)
  const limit = most === null ? '' : `LIMIT ${most}`
  if (way.path && way.path.order !== null) return ofEntries(query, how, way.path, limit)
  const { from, where, filter } = recordSource(query, way, how)
  const conditions = all([where, filter && compileFilter(filter, how.target)])
  return `SELECT r.row_no FROM ${from} WHERE ${conditions} ORDER BY ${orderBy(how.terms())} ${limit}`
}

/** Reads the entries alone: the consumer reads each record and tests the residual filter on it. */
function ofEntries(
  { baseId }: OrderedQuery,
  { parameters }: Compiled,
  path: AccessPath,
  limit: string,
): string {
  const found = entryConditions(path, baseId, parameters)
  const order = entryOrder(path)
  const runs = entryRuns(path)
  const pieces = runs.map(
    (run, n) =>
      `SELECT ${n} AS run, i.row_no, i.id, i.k1, i.k2, i.k3, i.created_at FROM plinth.record_index i
       WHERE ${all([found, run])} ORDER BY ${order} ${limit}`,
  )
  if (pieces.length === 1) return `SELECT i.row_no FROM (${pieces[0]}) i`
  return `SELECT i.row_no FROM (${pieces.map((piece) => `(${piece})`).join(' UNION ALL ')}) i ORDER BY i.run, ${order} ${limit}`
}
