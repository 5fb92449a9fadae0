/** The inputs that write records of a type: the whole data, and a patch of it. */
import {
  type GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import { isNever, onlyKind, type Shape } from '../../schema-shape/shape.ts'
import type { TypeView } from './base-view.ts'
import { nestedName, type Property, propertiesOf } from './names.ts'
import { JsonScalar } from './shared-types.ts'
import { describe, scalarOf } from './values.ts'

/** What an input of a type needs of its family. */
export type Within = {
  /** The enum of a property, by its name; undefined if it has none. */
  enumOf(name: string): GraphQLEnumType | undefined
  /** Takes each input within the type. */
  nest(type: GraphQLInputObjectType): void
}
/** The name of the type in answers, and of the input. A patch needs nothing. */
type Place = { readonly read: string; readonly own: string; readonly isPatch: boolean }

const MORE = {
  _more: { type: JsonScalar, description: 'Other properties, as an object by their names.' },
}

/** Their fields are made when they are asked for. */
export function inputsOf(
  type: TypeView,
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
  properties: readonly Property[],
  { read, own, isPatch }: Place,
  within: Within,
): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const { name, field, shape, required } of properties) {
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
  const scalar = scalarOf(shape)
  if (scalar) return within.enumOf(place.read) ?? scalar
  const kind = onlyKind(shape)
  return kind === 'array'
    ? listOf(shape, place, within)
    : kind === 'object'
      ? objectOf(shape, place, within)
      : JsonScalar
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
  const { additional, more } = shape.object
  const isOpen = more || !additional || !isNever(additional)
  const made = new GraphQLInputObjectType({
    name: place.own,
    fields: { ...fieldsOf(propertiesOf(shape), place, within), ...(isOpen && MORE) },
  })
  within.nest(made)
  return made
}

/** Whether values of the shape are written by their properties. */
export const hasInputs = (shape: Shape): boolean =>
  onlyKind(shape) === 'object' && [...shape.object.properties.values()].some((each) => !isNever(each))
