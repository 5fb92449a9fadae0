/** The types of an aggregate of records: what it groups by, and what it computes of each field. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql'
import { INTERVALS } from '../../contract/aggregate-functions.ts'
import { fieldName } from '../../engine/schema/compiled-types/field-path.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import { onlyKind } from '../../schema-shape/shape.ts'
import type { Context } from '../context.ts'
import type { TypeView } from './base-view.ts'
import { DateTimeScalar, required, Status } from './shared-types.ts'
import { leafOf, scalarOf, type Typed } from './values.ts'

/** A field that is grouped or aggregated, and the name that the engine has for it. */
export type Column = Typed & {
  readonly field: string
  readonly name: string
  readonly kind: 'number' | 'time' | 'other'
}
/** A row of the result: the values by the names of the group keys and aggregations. */
export type Row = Readonly<Record<string, unknown>>
type Fields = GraphQLFieldConfigMap<Row, Context>

export const Interval = new GraphQLEnumType({
  name: '_Interval',
  description: 'In the timezone of the record type.',
  values: Object.fromEntries(INTERVALS.map((value) => [value.toUpperCase(), { value }])),
})

export const Over = new GraphQLInputObjectType({
  name: '_Over',
  description: 'Times are timestamps, or ages such as `30d`.',
  fields: {
    interval: { type: required(Interval) },
    since: { type: required(GraphQLString) },
    until: { type: GraphQLString, description: 'The last moment. Defaults to now.' },
  },
})

const asIs = (value: unknown) => value
const OWN_COLUMNS: readonly Column[] = [
  { field: '_createdAt', name: 'created_at', kind: 'time', type: DateTimeScalar, read: asIs },
  { field: '_updatedAt', name: 'updated_at', kind: 'time', type: DateTimeScalar, read: asIs },
  { field: '_version', name: 'version', kind: 'number', type: GraphQLInt, read: asIs },
  { field: '_status', name: 'status', kind: 'other', type: Status, read: asIs },
  { field: '_externalSource', name: 'external_source', kind: 'other', type: GraphQLString, read: asIs },
]

/** The columns of a type, with the enums of its object. */
export function columnsOf({ properties }: TypeView, object: GraphQLObjectType): readonly Column[] {
  const typed = object.getFields()
  const own = properties.flatMap(({ name, field, shape }): Column[] => {
    const type = typed[field]?.type
    if (!type || !scalarOf(shape)) return []
    return [{ field, name: fieldName([name]), kind: kindOf(shape), ...leafOf(type as GraphQLOutputType) }]
  })
  return [...own, ...OWN_COLUMNS]
}

const kindOf = (shape: Shape): Column['kind'] => {
  if (onlyKind(shape) === 'number') return 'number'
  const { format } = shape.traits
  return !shape.values && (format === 'date-time' || format === 'date') ? 'time' : 'other'
}

/** Functions of one column, by their field of the result. */
export const FUNCTIONS = {
  countDistinct: 'count_distinct',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
} as const
export type Fn = keyof typeof FUNCTIONS

/** The name of an aggregation in the result, which `having` and `sort` use. */
export const resultName = (fn: Fn, { field }: Column) => `${FUNCTIONS[fn]}_${field}`

export type AggregateTypes = {
  readonly result: GraphQLObjectType<Row, Context>
  readonly group: GraphQLInputObjectType
  /** Every type of them; only those with fields exist. */
  all(): readonly GraphQLNamedType[]
}

/** Their fields are made when they are asked for. */
export function aggregateTypes(type: TypeView, object: GraphQLObjectType): AggregateTypes {
  const { name } = type
  const columns = () => columnsOf(type, object)
  const of = (part: string, fields: () => Fields) =>
    new GraphQLObjectType<Row, Context>({ name: `${name}Aggregate_${part}`, fields })
  const each = (kept: readonly Column[], typeOf: (column: Column) => Typed, fn: Fn): Fields =>
    Object.fromEntries(
      kept.map((column): [string, Fields[string]] => {
        const { type: shown, read } = typeOf(column)
        return [column.field, { type: shown, resolve: (row) => read(row[resultName(fn, column)] ?? null) }]
      }),
    )
  const numbers = () => columns().filter(({ kind }) => kind === 'number')
  const count: Typed = { type: GraphQLInt, read: asIs }
  const float: Typed = { type: GraphQLFloat, read: asIs }
  const parts = {
    group: of('group', () => Object.fromEntries(columns().map(groupField))),
    countDistinct: of('countDistinct', () => each(columns(), () => count, 'countDistinct')),
    sum: of('sum', () => each(numbers(), () => float, 'sum')),
    avg: of('avg', () => each(numbers(), () => float, 'avg')),
    min: of('min', () => each(columns(), (column) => column, 'min')),
    max: of('max', () => each(columns(), (column) => column, 'max')),
  }
  const result = new GraphQLObjectType<Row, Context>({
    name: `${name}Aggregate`,
    fields: () => ({
      count: {
        type: required(GraphQLInt),
        description: 'The number of records.',
        resolve: (row) => row['count'],
      },
      at: { type: DateTimeScalar, description: 'With `over`: the moment of the row.' },
      ...Object.fromEntries(
        Object.entries(parts).map(([field, part]) => [field, { type: part, resolve: asIs }]),
      ),
    }),
  })
  const group = new GraphQLInputObjectType({
    name: `${name}_Group`,
    isOneOf: true,
    description: 'A field to group by: true, or the interval of a time.',
    fields: () => Object.fromEntries(columns().map(groupInput)),
  })
  return { result, group, all: () => [result, ...Object.values(parts), group] }
}

/** Times are shown as instants: the start of their interval. */
const groupField = ({ field, name, kind, type, read }: Column): [string, Fields[string]] => [
  field,
  {
    type: kind === 'time' ? DateTimeScalar : type,
    resolve: (row) => (kind === 'time' ? row[name] : read(row[name] ?? null)),
  },
]

const groupInput = ({ field, kind }: Column): [string, GraphQLInputFieldConfigMap[string]] => [
  field,
  { type: kind === 'time' ? Interval : GraphQLBoolean },
]
