/** The GraphQL types of properties, by the kind of their values. A value of another kind is null, without an error. */

import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import { onlyKind, type Shape } from '../../schema-shape/shape.ts'
import { nestedName, type Property, propertiesOf } from './names.ts'
import { DateScalar, DateTimeScalar, JsonScalar } from './shared-types.ts'

/** A property's type, and how its values are read. */
export type Typed = {
  readonly type: GraphQLOutputType
  readonly read: (value: unknown) => unknown
}

/** Takes the types within a type: enums and objects. */
export type Nest = (type: GraphQLEnumType | GraphQLObjectType) => void

const INT = { least: -(2 ** 31), most: 2 ** 31 - 1 }
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const NO_VALUES = new Set(['true', 'false', 'null'])
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/
const DAY = /^\d{4}-\d\d-\d\d$/

const json: Typed = { type: JsonScalar, read: (value) => value }
const text: Typed = leaf(GraphQLString, (value) => typeof value === 'string')
const time: Typed = leaf(DateTimeScalar, (value) => typeof value === 'string' && TIME.test(value))
const day: Typed = leaf(DateScalar, (value) => typeof value === 'string' && DAY.test(value))
const flag: Typed = leaf(GraphQLBoolean, (value) => typeof value === 'boolean')
const float: Typed = leaf(GraphQLFloat, (value) => typeof value === 'number')
const int: Typed = leaf(
  GraphQLInt,
  (value) => Number.isInteger(value) && (value as number) >= INT.least && (value as number) <= INT.most,
)

function leaf(type: GraphQLOutputType, fits: (value: unknown) => boolean): Typed {
  return { type, read: (value) => (fits(value) ? value : null) }
}

/** How values of a leaf type are read. */
export function leafOf(type: GraphQLOutputType): Typed {
  if (type instanceof GraphQLEnumType) {
    const known = new Set(type.getValues().map(({ value }) => value))
    return leaf(type, (value) => known.has(value))
  }
  return [text, time, day, flag, float, int].find((each) => each.type === type) ?? json
}

/** The scalar of texts, numbers or booleans; undefined for other values. */
export function scalarOf(shape: Shape): GraphQLScalarType | undefined {
  switch (onlyKind(shape)) {
    case 'string':
      return scalarOfText(shape)
    case 'number':
      return isInt(shape) ? GraphQLInt : GraphQLFloat
    case 'boolean':
      return GraphQLBoolean
    default:
      return undefined
  }
}

function scalarOfText({ values, traits }: Shape): GraphQLScalarType {
  if (values) return GraphQLString
  return traits.format === 'date-time'
    ? DateTimeScalar
    : traits.format === 'date'
      ? DateScalar
      : GraphQLString
}

/** The type of a property. `name` is that of its own type, if it needs one. */
export function typedOf(shape: Shape, name: string, nest: Nest): Typed {
  const scalar = scalarOf(shape)
  if (scalar) return enumOf(shape, name, nest) ?? leafOf(scalar)
  const kind = onlyKind(shape)
  return kind === 'array' ? listOf(shape, name, nest) : kind === 'object' ? objectOf(shape, name, nest) : json
}

function enumOf({ values }: Shape, name: string, nest: Nest): Typed | undefined {
  const texts = values?.filter((value) => typeof value === 'string') ?? []
  if (texts.length === 0 || texts.length > LIMITS.graphqlEnumValues || !texts.every(isEnumName))
    return undefined
  const type = new GraphQLEnumType({
    name,
    values: Object.fromEntries([...new Set(texts)].map((value) => [value, { value }])),
  })
  nest(type)
  return leafOf(type)
}

const isEnumName = (value: string) => NAME.test(value) && value.length <= 128 && !NO_VALUES.has(value)

/** 32 bits. JSON numbers of integers beyond are exact as floats. */
function isInt({ traits, bounds }: Shape): boolean {
  const least = bounds.minimum ?? bounds.exclusiveMinimum
  const most = bounds.maximum ?? bounds.exclusiveMaximum
  return (
    traits.integer === true &&
    least !== undefined &&
    most !== undefined &&
    least >= INT.least &&
    most <= INT.most
  )
}

function listOf({ items }: Shape, name: string, nest: Nest): Typed {
  if (!items || items.kinds.has('array')) return json
  const each = typedOf(items, name, nest)
  if (each === json) return json
  const read = (value: unknown) => (Array.isArray(value) ? value.map(each.read) : null)
  return { type: new GraphQLList(each.type), read }
}

function objectOf({ object }: Shape, name: string, nest: Nest): Typed {
  const properties = propertiesOf({ object })
  if (properties.length === 0) return json
  const type = new GraphQLObjectType({ name, fields: propertyFields(properties, name, nest) })
  nest(type)
  return { type, read: (value) => (isObject(value) ? value : null) }
}

type Data = Readonly<Record<string, unknown>>

/** The fields of properties, read from the object that has them. */
function propertyFields(
  properties: readonly Property[],
  of: string,
  nest: Nest,
): GraphQLFieldConfigMap<Data, unknown> {
  const fields: GraphQLFieldConfigMap<Data, unknown> = {}
  for (const { name, field, shape } of properties) {
    const { type, read } = typedOf(shape, nestedName(of, field), nest)
    fields[field] = {
      type,
      description: describe(shape, name, field),
      resolve: (source) => readProperty(source, name, read),
    }
  }
  return fields
}

/** Names such as "constructor" are on the prototype of every object. */
export const readProperty = (source: Data, name: string, read: Typed['read']): unknown =>
  Object.hasOwn(source, name) ? read(source[name]) : null

/** The author's words, and what the type does not say. */
export function describe({ description, values }: Shape, name: string, field: string): string | null {
  const said = description ? clean(description, LIMITS.graphqlDescriptionChars) : ''
  const own = name === field ? '' : `Property ${JSON.stringify(clean(name, 100))}.`
  const texts = values?.filter((value) => typeof value === 'string') ?? []
  const isListed = texts.length > 0 && !(texts.length <= LIMITS.graphqlEnumValues && texts.every(isEnumName))
  const listed = isListed ? `One of ${clean(texts.slice(0, 20).join(', '), 200)}.` : ''
  return [said, own, listed].filter(Boolean).join(' ') || null
}
