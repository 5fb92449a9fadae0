/** Aggregation: GROUP BY, functions and HAVING over the records of a type. */

import { INTERVALS } from '../../../contract/aggregate-functions.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { refusePast } from '../../core/change-set/change-set-scope.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { authorize, filterWithPolicy, refuseWithPolicy, visibleType } from '../../core/row-policy/apply.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { type FieldContext, zoneOf } from '../../data/filter/operand.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import type { BoundFilter } from '../../data/filter/syntax-tree.ts'
import { adviseName, adviseNames, adviseValues } from '../../data/filter/unsatisfiable-conditions.ts'
import { withCheckedHints } from '../../records/query/check-hints.ts'
import { compileFor } from '../../records/query/compile-query.ts'
import { all } from '../../records/query/list-statement.ts'
import { type Moment, readMoment, requireCompleteHistory } from '../../records/query/point-in-time.ts'
import { recordsAsOf } from '../../records/query/point-in-time-statements.ts'
import { chooseWay, recordSource } from '../../records/query/record-source.ts'
import { UNSORTED } from '../../records/query/sort.ts'
import { linkedCandidates } from '../../records/related/linked-candidates.ts'
import { withLinkedEnds } from '../../records/related/linked-conditions.ts'
import { fieldName } from '../../schema/compiled-types/field-path.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import {
  type AggregateArgs,
  type AggregateQuery,
  type Aggregation,
  type GroupKey,
  readAggregate,
} from './input.ts'
import { overTime, readOver } from './over-time.ts'
import { type Branch, Source } from './source.ts'
import { aggregateStatement, type GroupColumns, planAggregate } from './statement.ts'

/**
 * Aggregates the matching records of a type by group; without group keys, into one row.
 * @throws VALIDATION_ERROR naming the argument; FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function aggregateRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  args: AggregateArgs & PageArgs & { asOf?: string | null | undefined; over?: unknown },
): Promise<AggregatePage> {
  const policy = authorize(scope, 'read', baseId, recordType)
  const page = readPage(args)
  const typeOf = async () => visibleType(policy, await requireType(scope, baseId, recordType))
  const over = readOver(args)
  const query = await withCheckedHints(
    { scope, baseId, recordType },
    async () => {
      const isPast = args.asOf != null || over !== null
      const read = readAggregate(args, { overTime: over !== null, isPast })
      return { ...read, filter: await withLinkedEnds(scope, baseId, recordType, read.filter, isPast) }
    },
    typeOf,
  )
  if (args.asOf != null) {
    readMoment(args.asOf, 'UTC')
    refusePast(scope, '/as_of')
    refuseWithPolicy(policy, recordType, 'An aggregate as of a moment')
  }
  if (over) {
    refusePast(scope, '/over')
    refuseWithPolicy(policy, recordType, 'An aggregate over time')
  }
  const type = await typeOf()
  const moment = args.asOf == null ? null : readMoment(args.asOf, type.timezone)
  const parameters = new Parameters()
  // Past states have no mark whether the present schema accepts them.
  const plan = planAggregate(query, [type], new Source(moment || over ? null : type))
  const filter = filterWithPolicy(policy, query.filter, type)
  if (over) {
    const { columns, from } = await overTime(scope, { type, filter, plan, over, parameters })
    const { text, values } = parameters.bind(aggregateStatement(columns, from, page, parameters))
    const { rows, isCut } = await readPageRows<GroupRow>(scope, lagging(shaped(text)), values)
    return { ...toGroups(rows, columns, page, isCut), hint: adviseValues(query.filter, type) }
  }
  const branch = moment
    ? branchAsOf(type, filter, moment, parameters)
    : branchOf(type, filter, await linkedCandidates(scope, filter), parameters)
  const { text, values } = parameters.bind(
    aggregateStatement(plan, plan.source.statement([branch], parameters), page, parameters),
  )
  const { rows, isCut } = await readPageRows<GroupRow>(scope, lagging(shaped(text)), values)
  if (moment) await requireCompleteHistory(scope, baseId, moment)
  const groups = toGroups(rows, plan, page, isCut)
  return { ...groups, hint: adviseValues(query.filter, type) ?? adviseFields(query, type, groups.data) }
}

type Type = ReturnType<typeof visibleType>

/** The row source of the matching records, of the candidates if they are few, or through a declared index if one helps. */
function branchOf(
  type: Type,
  filter: BoundFilter | null,
  candidates: readonly string[] | null,
  parameters: Parameters,
): Branch {
  const { baseId, id } = type
  const query = { baseId, recordType: id, type, filter, sort: UNSORTED, candidates }
  const how = compileFor(query, parameters)
  const source = recordSource(query, chooseWay(query), how)
  const where = all([source.where, source.filter && compileFilter(source.filter, how.operands)])
  return { from: source.from, where, type }
}

/** The row source of the records that matched at a point in time. Declared indexes cover the present only. */
function branchAsOf(type: Type, filter: BoundFilter | null, moment: Moment, parameters: Parameters): Branch {
  const { baseId, id } = type
  const now = { ...type, indexes: [] }
  const { operands } = compileFor({ baseId, type: now, sort: UNSORTED }, parameters)
  const bound = { base: parameters.add(baseId), recordType: parameters.add(id) }
  const at = { moment: parameters.add(moment.text), zone: parameters.add(moment.zone) }
  const where = all(['true', filter && compileFilter(filter, operands)])
  return { from: `${recordsAsOf({ ...bound, ...at })} r`, where, type }
}

/** A page of groups; each maps key and aggregation names to values. */
export type AggregatePage = Page<Record<string, unknown>>
/** A result row: the columns of the cells, with a total and a sort key if requested. */
export type GroupRow = Record<string, unknown> & { total?: number; place?: string | null }

/** Converts result rows to a page. */
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

// Advice about fields of an aggregate that no record seems to have: they are no fault, and give null.

type Row = Readonly<Record<string, unknown>>

/** Names the first field that gave null in every group; null if there is none, or nothing to say about it. */
function adviseFields(
  { filter, groups, aggregations }: AggregateQuery,
  type: FieldContext,
  rows: readonly Row[],
): string | null {
  const [only, ...others] = rows
  const isEmpty = !only || (others.length === 0 && only['count'] === 0)
  if (isEmpty) return adviseNames(filter, type)
  for (const key of groups) {
    const advice = rows.every((row) => row[key.name] === null) ? adviseKey(key, type) : null
    if (advice) return advice
  }
  for (const each of aggregations) {
    const advice = rows.every((row) => (row[each.name] ?? 0) === 0) ? adviseArgument(each, type) : null
    if (advice) return advice
  }
  return null
}

function adviseKey({ field, interval, name }: GroupKey, type: FieldContext): string | null {
  if (field.kind !== 'data') return null
  const misspelt = adviseName(field.path, type)
  if (misspelt) return misspelt
  const shown = name.slice(0, 80)
  if (interval !== null)
    return zoneOf(field.path, type) === null
      ? `No value of ${shown} is a date or time, so all are in the group null. Group by a property with the format date or date-time, or by created_at.`
      : null
  const last = field.path.at(-1)
  const asked = INTERVALS.find((each) => each === last)
  if (asked === undefined || field.path.length < 2) return null
  const of = fieldName(field.path.slice(0, -1)).slice(0, 80)
  return `No record has ${shown}. To group by ${asked}, write ${JSON.stringify({ field: of, interval: asked })}.`
}

const adviseArgument = ({ field }: Aggregation, type: FieldContext): string | null =>
  field?.kind === 'data' ? adviseName(field.path, type) : null
