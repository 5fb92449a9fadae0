/** Aggregation: GROUP BY, functions and HAVING over the records of a type. */
import { demandType } from '../../configuration/record-types/index.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { shaped } from '../../database/client.ts'
import type { BoundFilter } from '../../filter/bind.ts'
import { compileFilter } from '../../filter/compile.ts'
import { Parameters } from '../../filter/parameters.ts'
import { compileFor } from '../../query/compile-query.ts'
import { all } from '../../query/list-statement.ts'
import { chooseWay, recordSource } from '../../query/record-source.ts'
import { UNSORTED } from '../../query/sort.ts'
import { demandWithin, filterThrough, typeThrough } from '../../row-policy/apply.ts'
import { readAggregate } from './input.ts'
import type { AggregateArgs } from './query.ts'
import type { Branch } from './source.ts'
import { aggregateStatement, type GroupColumns, planAggregate } from './statement.ts'

/**
 * Aggregates the records of a type that match, group by group; without group keys in one row.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function aggregateRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  args: AggregateArgs & PageArgs,
): Promise<AggregatePage> {
  const lens = demandWithin(scope, 'read', baseId, recordType)
  const page = readPage(args)
  const query = readAggregate(args, false)
  const type = typeThrough(lens, await demandType(scope, baseId, recordType))
  const parameters = new Parameters()
  const plan = planAggregate(query, [type])
  const branch = branchOf(type, filterThrough(lens, query.filter, type), parameters)
  const { text, values } = parameters.bind(aggregateStatement(plan, [branch], page, parameters))
  const { rows, isCut } = await readPageRows<GroupRow>(scope, shaped(text), values)
  return toGroups(rows, plan, page, isCut)
}

type Type = ReturnType<typeof typeThrough>

/** The records of the type that match, found through a declared index where one helps. */
function branchOf(type: Type, filter: BoundFilter | null, parameters: Parameters): Branch {
  const { baseId, id } = type
  const query = { baseId, recordType: id, type, filter, sort: UNSORTED }
  const how = compileFor(query, parameters)
  const source = recordSource(query, chooseWay(query), how)
  const where = all([source.where, source.filter && compileFilter(source.filter, how.target)])
  return { from: source.from, where, type }
}

/** A page of groups, each with its keys and aggregations by name. */
export type AggregatePage = Page<Record<string, unknown>>
/** A row of the statement: the columns of the plan's cells, with a total and a place where they were asked for. */
export type GroupRow = Record<string, unknown> & { total?: number; place?: string | null }

/** The rows of the statement as the page that was asked for. */
export function toGroups(
  rows: readonly GroupRow[],
  { cells }: GroupColumns,
  page: { limit: number; offset: number; includeTotal: boolean },
  isCut: boolean,
): AggregatePage {
  const groups = rows
    .filter(({ place }) => place !== null)
    .map((row) => Object.fromEntries(cells.map(({ name, column, show }) => [name, show(row[column])])))
  return toPage(groups, page, page.includeTotal ? (rows[0]?.total ?? 0) : null, isCut)
}
