/** The inputs that filter records of a type, by the kinds of its properties. */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { toCamel } from '../../contract/field-names.ts'
import { TEXT_OPERATORS } from '../../contract/operators.ts'
import { isNever, onlyKind, type Shape } from '../../schema-shape/shape.ts'
import type { LinkView, TypeView } from './base-view.ts'
import type { Within } from './input-types.ts'
import { nestedName, type Property, propertiesOf } from './names.ts'
import { DateScalar, DateTimeScalar, JsonScalar, Status } from './shared-types.ts'
import { scalarOf } from './values.ts'

type Operators = Readonly<Record<string, GraphQLInputType>>

const filter = (name: string, operators: Operators): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name,
    fields: Object.fromEntries(Object.entries(operators).map(([field, type]) => [field, { type }])),
  })
const equality = (type: GraphQLInputType): Operators => ({
  eq: type,
  neq: type,
  in: new GraphQLList(type),
  notIn: new GraphQLList(type),
  isNull: GraphQLBoolean,
})
const order = (type: GraphQLInputType): Operators => ({ gt: type, gte: type, lt: type, lte: type })
const ordered = (type: GraphQLInputType): Operators => ({ ...equality(type), ...order(type) })
const TEXT: Operators = {
  ...ordered(GraphQLString),
  ...Object.fromEntries(TEXT_OPERATORS.map((op) => [toCamel(op), GraphQLString])),
}
const listed = (type: GraphQLInputType): Operators => ({
  has: type,
  hasAny: new GraphQLList(new GraphQLNonNull(type)),
  hasAll: new GraphQLList(new GraphQLNonNull(type)),
  isNull: GraphQLBoolean,
})

const StringFilter = filter('StringFilter', TEXT)
const IdFilter = filter('IDFilter', { ...ordered(GraphQLID), startsWith: GraphQLString })
const IntFilter = filter('IntFilter', ordered(GraphQLInt))
const FloatFilter = filter('FloatFilter', ordered(GraphQLFloat))
const BooleanFilter = filter('BooleanFilter', equality(GraphQLBoolean))
const DateTimeFilter = filter('DateTimeFilter', ordered(DateTimeScalar))
const DateFilter = filter('DateFilter', ordered(DateScalar))
const StatusFilter = filter('StatusFilter', { eq: Status, neq: Status, in: new GraphQLList(Status) })
const JsonFilter = filter('JSONFilter', equality(JsonScalar))
const StringListFilter = filter('StringListFilter', { ...listed(GraphQLString), search: GraphQLString })
const FloatListFilter = filter('FloatListFilter', listed(GraphQLFloat))

/** The filter of a property whose values have the scalar. */
const SCALAR_FILTERS = new Map<GraphQLScalarType, GraphQLInputObjectType>([
  [GraphQLString, StringFilter],
  [GraphQLInt, IntFilter],
  [GraphQLFloat, FloatFilter],
  [GraphQLBoolean, BooleanFilter],
  [DateTimeScalar, DateTimeFilter],
  [DateScalar, DateFilter],
])

/** The filters that all types share. */
export const FILTERS = [
  ...[StringFilter, IdFilter, IntFilter, FloatFilter, BooleanFilter, DateTimeFilter, DateFilter],
  ...[StatusFilter, JsonFilter, StringListFilter, FloatListFilter],
] as const

/** Fields of every record, and their filters. */
const OWN_FILTERS: Readonly<Record<string, GraphQLInputObjectType>> = {
  id: IdFilter,
  _version: IntFilter,
  _status: StatusFilter,
  _valid: BooleanFilter,
  _createdAt: DateTimeFilter,
  _updatedAt: DateTimeFilter,
  _externalId: StringFilter,
  _externalSource: StringFilter,
}

/** Finds the filters of another type: of one record, and of several. */
type FiltersOf = (type: TypeView) => {
  readonly where: GraphQLInputObjectType
  readonly many: GraphQLInputObjectType
}

/** The filters of a type. Their fields are made when they are asked for. */
export function whereOf(
  { name, properties, links }: TypeView,
  within: Within,
  filtersOf: FiltersOf,
): { where: GraphQLInputObjectType; many: GraphQLInputObjectType } {
  const where: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${name}_Where`,
    description: 'All conditions hold. {eq: null} means that there is no value.',
    fields: () => ({
      _and: { type: new GraphQLList(new GraphQLNonNull(where)) },
      _or: { type: new GraphQLList(new GraphQLNonNull(where)) },
      _not: { type: where },
      ...Object.fromEntries(Object.entries(OWN_FILTERS).map(([field, type]) => [field, { type }])),
      ...fieldsOf(properties, name, within),
      ...linkedFields(links.values(), filtersOf),
    }),
  })
  const many = new GraphQLInputObjectType({
    name: `${name}_ManyWhere`,
    description: 'Conditions on linked records. {} means any.',
    fields: () => ({
      some: { type: where, description: 'At least one of them matches.' },
      none: { type: where, description: 'None of them matches.' },
    }),
  })
  return { where, many }
}

/** Records of several types have no filter in common. */
function linkedFields(links: Iterable<LinkView>, filtersOf: FiltersOf): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const { field, far, isOne } of links) {
    if (!far) continue
    const { where, many } = filtersOf(far)
    fields[field] = { type: isOne ? where : many }
  }
  return fields
}

function fieldsOf(properties: readonly Property[], of: string, within: Within): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const { field, shape } of properties) {
    const type = filterOf(shape, nestedName(of, field), within)
    if (type) fields[field] = { type }
  }
  return fields
}

function filterOf(shape: Shape, name: string, within: Within): GraphQLInputObjectType | undefined {
  const scalar = scalarOf(shape)
  if (scalar) return enumFilter(name, within) ?? SCALAR_FILTERS.get(scalar)
  const kind = onlyKind(shape)
  return kind === 'array'
    ? listFilter(shape)
    : kind === 'object'
      ? objectFilter(shape, name, within)
      : JsonFilter
}

function enumFilter(name: string, { enumOf, nest }: Within): GraphQLInputObjectType | undefined {
  const own = enumOf(name)
  if (!own) return undefined
  const made = filter(`${name}_Filter`, equality(own))
  nest(made)
  return made
}

/** Of objects there is none: the language tests each condition on its own element. */
function listFilter({ items }: Shape): GraphQLInputObjectType | undefined {
  const kind = items && onlyKind(items)
  return kind === 'string' ? StringListFilter : kind === 'number' ? FloatListFilter : undefined
}

function objectFilter(shape: Shape, name: string, within: Within): GraphQLInputObjectType {
  if (!hasFilters(shape)) return JsonFilter
  const made = new GraphQLInputObjectType({
    name: `${name}_Where`,
    fields: fieldsOf(propertiesOf(shape), name, within),
  })
  within.nest(made)
  return made
}

/** Whether the filter of a property has one for each property within it. */
export const hasFilters = (shape: Shape): boolean =>
  onlyKind(shape) === 'object' &&
  [...shape.object.properties.values()].some(
    (each) => !isNever(each) && !(onlyKind(each) === 'array' && !listFilter(each)),
  )
