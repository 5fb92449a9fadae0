import { type PageArgs, readPage } from '../../core/page.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import { type AggregatePage, type GroupRow, toGroups } from '../aggregate/aggregate-records.ts'
import { type AggregateArgs, readAggregate } from '../aggregate/input.ts'
import { aggregateStatement, planAggregate } from '../aggregate/statement.ts'
import { findBases, namedBases, requireAccount } from './bases.ts'
import { conditions } from './list-statement.ts'
import {
  bindWithin,
  mergeAlike,
  type NamedPath,
  openTypes,
  pathsOf,
  type SharedType,
  sharedTypes,
} from './types.ts'

/** Arguments of an aggregate across bases; `base_id` is an additional field. */
export type CrossAggregateArgs = AggregateArgs &
  PageArgs & { account: string; bases: readonly string[]; recordType: string }

/**
 * Aggregates the matching records of a type over several bases.
 * @throws FORBIDDEN for a named base that the token may not read; NOT_FOUND for a named base or account that
 * does not exist; VALIDATION_ERROR naming the argument
 */
export async function aggregateAcrossBases(scope: Scope, args: CrossAggregateArgs): Promise<AggregatePage> {
  const { account, recordType } = args
  const named = namedBases(scope, args.bases, recordType)
  requireAccount(account)
  const page = readPage(args)
  const query = readAggregate(args, { acrossBases: true })
  const { filter, groups, aggregations } = query
  const fields = [...groups, ...aggregations].flatMap(({ field, fieldAt }): NamedPath[] =>
    field?.kind === 'data' ? [{ path: field.path, at: fieldAt }] : [],
  )
  const found = await sharedTypes(scope, await findBases(scope, named, recordType), recordType)
  const types = openTypes(found, [...pathsOf(filter), ...fields])

  const plan = planAggregate(query, types)
  const branchOf = (type: SharedType, parameters: Parameters) => {
    const bases = `r.base_id = ANY (${parameters.add(type.bases)}::text[])`
    const { where } = conditions({ recordType, filter }, type, parameters)
    return { from: 'plinth.record r', where: `${bases} AND ${where}`, type }
  }
  const merged = mergeAlike(types, (type, parameters) =>
    plan.source.branchStatement(branchOf(type, parameters), parameters),
  )
  const parameters = new Parameters()
  const branches = merged.map((type) => branchOf(type, parameters))
  const { text, values } = bindWithin(
    parameters,
    aggregateStatement(plan, plan.source.statement(branches, parameters), page, parameters),
  )
  const { rows, isCut } = await readPageRows<GroupRow>(scope, lagging(shaped(text)), values)
  return toGroups(rows, plan, page, isCut)
}
