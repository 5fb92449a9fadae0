import { invalid } from '../../../foundation/errors.ts'
import { namedFilter } from '../../data/filter/check-fields.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import { keyOf } from '../../data/filter/sort-key.ts'
import type { Filter } from '../../data/filter/syntax-tree.ts'
import { aggregationCell, type Cell, groupCell, operandOf } from './column.ts'
import type { AggregateQuery } from './input.ts'
import { Source } from './source.ts'

/** The output columns and their source. */
export type GroupColumns = {
  query: AggregateQuery
  groups: readonly Cell[]
  cells: readonly Cell[]
  source: Source
}
type Window = { limit: number; offset: number; includeTotal: boolean }

/** Plans the output columns over the record types. `source` reads them. */
export function planAggregate(
  query: AggregateQuery,
  types: readonly FieldContext[],
  source = new Source(null),
): GroupColumns {
  const groups = query.groups.map((key, n) => groupCell(key, n, { types, source }))
  const aggregations = query.aggregations.map((each, n) => aggregationCell(each, n, { types, source }))
  return { query, groups, cells: [...groups, ...aggregations], source }
}

/**
 * Builds the statement of one page of groups of the rows `from` plus one group. With a total, each row has it as `total`; an
 * empty page returns it on a row whose `place` is null.
 */
export function aggregateStatement(
  plan: GroupColumns,
  from: string,
  { limit, offset, includeTotal }: Window,
  parameters: Parameters,
): string {
  const { cells, groups, query } = plan
  const columns = cells.map(({ sql, column }) => `${sql} AS ${column}`).join(', ')
  const keys = groups.map(({ groupedBy }, n) => groupedBy ?? n + 1).join(', ')
  const grouped = `SELECT ${columns} FROM ${from}${keys && ` GROUP BY ${keys}`}`
  const kept = query.having
    ? `SELECT * FROM (${grouped}) g WHERE ${compileHaving(query.having, cells, parameters)}`
    : grouped
  const order = orderOf(plan, parameters)
  // LIMIT is a literal so that a generic plan can use it.
  const window = `LIMIT ${limit + 1}${offset > 0 ? ` OFFSET ${parameters.add(offset)}::bigint` : ''}`
  if (!includeTotal) return `SELECT * FROM (${kept}) g${order && ` ORDER BY ${order}`} ${window}`
  return `WITH g AS MATERIALIZED (${kept}),
      page AS (SELECT *, row_number() OVER (${order && `ORDER BY ${order}`}) AS place FROM g ORDER BY place ${window})
    SELECT page.*, counted.total FROM (SELECT count(*)::float8 AS total FROM g) counted LEFT JOIN page ON true
    ORDER BY place`
}

function compileHaving(having: Filter, cells: readonly Cell[], parameters: Parameters): string {
  const named = new Map(cells.map((cell) => [cell.name, cell]))
  return compileFilter(namedFilter(having), {
    parameters,
    withOperand: ({ name }, test) => test(operandOf(named.get(name) as Cell)),
    search: ({ at }) => {
      throw invalid({
        path: `${at}/op`,
        code: 'unknown_operator',
        message: '"search" looks into records. Put it in filter, or use ilike here.',
        hint: 'ilike',
      })
    },
  })
}

/** The requested order, then all group keys as tiebreakers; missing values come last in both directions. */
function orderOf({ query, cells, groups }: GroupColumns, parameters: Parameters): string {
  const named = new Map(cells.map((cell) => [cell.name, cell]))
  const asked = query.sort.map(
    ({ name, descending }) =>
      `${placeOf(named.get(name) as Cell, parameters)}${descending ? ' DESC' : ''} NULLS LAST`,
  )
  const ties = groups.map((cell) => `${placeOf(cell, parameters)} NULLS LAST`)
  // Values with equal sort keys, such as arrays, are ordered as jsonb.
  const last = groups.flatMap(({ kind, column }) => (kind === 'json' ? [`g.${column} NULLS LAST`] : []))
  return [...asked, ...ties, ...last].join(', ')
}

/** The sort key expression of a column. */
function placeOf(cell: Cell, parameters: Parameters): string {
  return cell.kind === 'json' ? keyOf(operandOf(cell), parameters) : `g.${cell.column}`
}
