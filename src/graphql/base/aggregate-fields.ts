/** The root field that aggregates the records of a type. What is selected is what is computed, in one statement. */
import {
  type GraphQLFieldConfig,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql'
import { aggregateRecords } from '../../engine/analytics/aggregate/aggregate-records.ts'
import { invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import {
  type AggregateTypes,
  type Column,
  columnsOf,
  type Fn,
  FUNCTIONS,
  Over,
  type Row,
  resultName,
} from './aggregate-types.ts'
import { inArguments, readFirst } from './arguments.ts'
import type { BaseView, TypeView } from './base-view.ts'
import { below, fieldsOf } from './selection.ts'
import { DateTimeScalar, JsonScalar, required } from './shared-types.ts'
import { toFilter } from './to-filter.ts'

type Args = {
  where?: object | null
  filter?: unknown
  groupBy?: readonly object[] | null
  having?: unknown
  sort?: unknown
  first?: number | null
  offset?: number | null
  asOf?: string | null
  over?: object | null
}

export function aggregateField(
  seen: BaseView,
  type: TypeView,
  {
    where,
    object,
    aggregate,
  }: { where: GraphQLInputObjectType; object: GraphQLObjectType; aggregate: AggregateTypes },
): GraphQLFieldConfig<unknown, Context> {
  return {
    type: new GraphQLNonNull(new GraphQLList(required(aggregate.result))),
    description: `Counts, sums, averages, minima and maxima of the records of type ${JSON.stringify(type.id)}, by group. Without groupBy, one result for all.`,
    args: {
      where: { type: where },
      filter: { type: JsonScalar, description: 'In the filter language of REST.' },
      groupBy: { type: new GraphQLList(required(aggregate.group)) },
      having: {
        type: JsonScalar,
        description:
          'A filter of the groups: {"field": "sum_amount", "op": "gte", "value": 100}. It names results by function and field, and group keys as "data.stage".',
      },
      sort: {
        type: JsonScalar,
        description: 'Results and group keys to sort by, such as "-sum_amount". Defaults to the group keys.',
      },
      first: {
        type: GraphQLInt,
        defaultValue: LIMITS.pageDefault,
        description: `Groups, 1 to ${LIMITS.pageMax}.`,
      },
      offset: { type: GraphQLInt, description: 'Groups to skip.' },
      asOf: { type: DateTimeScalar, description: 'Reads the state at this time.' },
      over: { type: Over, description: 'The groups as they were at the end of each interval, as `at`.' },
    },
    resolve: (_root, args, context, info) => resolve(seen, type, object, args as Args, context, info),
  }
}

async function resolve(
  { base }: BaseView,
  type: TypeView,
  object: GraphQLObjectType,
  args: Args,
  { scope }: Context,
  info: GraphQLResolveInfo,
): Promise<readonly Row[]> {
  const columns = new Map(columnsOf(type, object).map((column) => [column.field, column]))
  const { filter, explained } = toFilter(args.where, args.filter, type)
  try {
    const page = await aggregateRecords(scope, base, type.id, {
      filter,
      aggregations: aggregationsOf(type, columns, info),
      groupBy: (args.groupBy ?? []).map((key, n) => groupKey(key, columns, `/groupBy/${n}`)),
      having: args.having,
      sort: args.sort,
      limit: readFirst(args.first, LIMITS.pageDefault, 'offset'),
      offset: args.offset,
      asOf: args.asOf,
      // Null is as good as left out here, and refused by the engine.
      over: args.over && Object.fromEntries(Object.entries(args.over).filter(([, each]) => each !== null)),
    })
    return page.data
  } catch (thrown) {
    throw inArguments(ofGroups(explained(thrown)))
  }
}

/** What is selected of the result. It counts in any case. */
function aggregationsOf(
  { name }: TypeView,
  columns: ReadonlyMap<string, Column>,
  info: GraphQLResolveInfo,
): object[] {
  const found = new Map<string, object>([['count', { fn: 'count' }]])
  for (const [, fields] of fieldsOf(info, [`${name}Aggregate`], below(info.fieldNodes))) {
    const fn = fields[0]?.name.value ?? ''
    if (!Object.hasOwn(FUNCTIONS, fn)) continue
    for (const [, [selected]] of fieldsOf(info, [`${name}Aggregate_${fn}`], below(fields))) {
      const column = columns.get(selected?.name.value ?? '')
      if (!column) continue
      const alias = resultName(fn as Fn, column)
      found.set(alias, { fn: FUNCTIONS[fn as Fn], field: column.name, alias })
    }
  }
  return [...found.values()]
}

function groupKey(key: object, columns: ReadonlyMap<string, Column>, at: string): object {
  const [[field, value] = ['', null]] = Object.entries(key) as [string, unknown][]
  const column = columns.get(field)
  if (!column) throw new Error(`No column ${field}`)
  if (column.kind === 'time') return { field: column.name, interval: value }
  if (value === true) return { field: column.name }
  throw invalid({
    path: `${at}/${field}`,
    code: 'enum',
    message: 'Send true, or leave the key out.',
    allowed: [true],
  })
}

/** Rewrites the paths of group keys to those of the argument. */
const ofGroups = (thrown: unknown): unknown =>
  withPaths(thrown, (path) => path.replace(/^\/group_by(?=\/|$)/, '/groupBy'))
