/** The inputs that write records of a type: the whole data, and a patch of it. */
import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLFloat,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import { isNever, onlyKind, type Shape } from '../../schema-shape/shape.ts'
import { fieldNameOf, nestedName } from './names.ts'
import type { SeenType } from './seen.ts'
import { DateScalar, DateTimeScalar, JsonScalar } from './shared-types.ts'
import { describe, isInt } from './values.ts'

/** What an input of a type needs of its family. */
export type Within = {
  /** The enum of a property, by its name; undefined if it has none. */
  enumOf(name: string): GraphQLEnumType | undefined
  /** Takes each input within the type. */
  nest(type: GraphQLInputObjectType): void
}
type Property = { readonly name: string; readonly shape: Shape; readonly required: boolean }
/** The name of the type in answers, and of the input. A patch needs nothing. */
type Place = { readonly read: string; readonly own: string; readonly isPatch: boolean }

const MORE = {
  _more: { type: JsonScalar, description: 'Other properties, as an object by their names.' },
}

/** Their fields are made when they are asked for. */
export function inputsOf(
  type: SeenType,
  within: Within,
): { input: GraphQLInputObjectType; patch: GraphQLInputObjectType } {
  const { name } = type
  const make = (isPatch: boolean, own: string, description: string) =>
    new GraphQLInputObjectType({
      name: own,
      description,
      fields: () => ({ ...fieldsOf(type.properties, { read: name, own, isPatch }, within), ...MORE }),
    })
  return {
    input: make(false, `${name}_Input`, 'The whole data of a record.'),
    patch: make(true, `${name}_Patch`, 'The properties to change. Null removes one.'),
  }
}

function fieldsOf(
  properties: Iterable<Property>,
  { read, own, isPatch }: Place,
  within: Within,
): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const { name, shape, required } of properties) {
    const field = fieldNameOf(name)
    if (isNever(shape) || Object.hasOwn(fields, field)) continue
    const place = { read: nestedName(read, field), own: nestedName(own, field), isPatch }
    const type = inputOf(shape, place, within)
    const isRequired = required && !isPatch && !shape.kinds.has('null') && shape.default === undefined
    fields[field] = {
      type: isRequired ? new GraphQLNonNull(type) : type,
      description: describe(shape, name, field),
    }
  }
  return fields
}

function inputOf(
  shape: Shape,
  place: Place,
  within: Within,
): Exclude<GraphQLInputType, GraphQLNonNull<never>> {
  switch (onlyKind(shape)) {
    case 'string':
      return textOf(shape, place, within)
    case 'number':
      return isInt(shape) ? GraphQLInt : GraphQLFloat
    case 'boolean':
      return GraphQLBoolean
    case 'array':
      return listOf(shape, place, within)
    case 'object':
      return objectOf(shape, place, within)
    default:
      return JsonScalar
  }
}

function textOf({ values, traits }: Shape, { read }: Place, { enumOf }: Within) {
  const own = enumOf(read)
  if (own) return own
  if (values) return GraphQLString
  return traits.format === 'date-time'
    ? DateTimeScalar
    : traits.format === 'date'
      ? DateScalar
      : GraphQLString
}

/** A patch replaces a list, so its elements are whole. */
function listOf({ items }: Shape, place: Place, within: Within) {
  if (!items || items.kinds.has('array')) return JsonScalar
  const each = inputOf(items, { ...place, isPatch: false }, within)
  if (each === JsonScalar) return JsonScalar
  return new GraphQLList(items.kinds.has('null') ? each : new GraphQLNonNull(each))
}

function objectOf(shape: Shape, place: Place, within: Within) {
  if (!hasInputs(shape)) return JsonScalar
  const { properties, required, additional, more } = shape.object
  const named = [...properties].map(([name, each]) => ({ name, shape: each, required: required.has(name) }))
  const isOpen = more || !additional || !isNever(additional)
  const made = new GraphQLInputObjectType({
    name: place.own,
    fields: { ...fieldsOf(named, place, within), ...(isOpen && MORE) },
  })
  within.nest(made)
  return made
}

/** Whether values of the shape are written by their properties. */
export const hasInputs = (shape: Shape): boolean =>
  onlyKind(shape) === 'object' && [...shape.object.properties.values()].some((each) => !isNever(each))
