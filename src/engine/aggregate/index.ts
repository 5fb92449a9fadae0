import { shaped } from '../db.ts'
import type { BoundFilter } from '../filter/bind.ts'
import { compileFilter } from '../filter/compile.ts'
import { Parameters } from '../filter/parameters.ts'
import { demandWithin, filterThrough, typeThrough } from '../lens/look.ts'
import { type PageArgs, readPage } from '../page.ts'
import { demandType } from '../record-types/index.ts'
import { compileFor } from '../records/compile-for.ts'
import { all } from '../records/list-statement.ts'
import { chooseWay, recordSource } from '../records/record-source.ts'
import { UNSORTED } from '../records/sort.ts'
import { readPageRows, type Scope } from '../scope.ts'
import { readAggregate } from './input.ts'
import { type AggregatePage, type GroupRow, toGroups } from './page.ts'
import type { AggregateArgs } from './query.ts'
import type { Branch } from './source.ts'
import { aggregateStatement, planAggregate } from './statement.ts'

export type { AggregatePage } from './page.ts'

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
