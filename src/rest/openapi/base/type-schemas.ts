/** The components of one record type. */

import { LIMITS } from '../../../foundation/limits.ts'
import { clean } from '../../../schema-shape/descriptions.ts'
import { isPortablePattern } from '../../../schema-shape/portable-pattern.ts'
import { MOST_LEVELS, namesOnly, readRoot } from '../../../schema-shape/read.ts'
import { BOUND_NAMES, BOUNDS, isNever, KINDS, type Kind, type Shape } from '../../../schema-shape/shape.ts'
import type { Json } from '../json-schema.ts'
import { filterSchemas } from './filter-schemas.ts'

export type DescribedType = {
  readonly id: string
  /** The name of its components: `Deal`. No name has an underscore. */
  readonly name: string
  readonly description: string | null
  readonly schemaText: string
  readonly writable: boolean
}

/** The schemas of data, fields and filters as members of JSON text: `"Deal_Data":{…},…`. */
export function typeSchemas({ name, schemaText, writable }: DescribedType): string {
  const { shape, stored } = withinLimit(JSON.parse(schemaText))
  const written = (form: Form): Json => {
    const text = JSON.stringify(schemaOfShape(shape, form))
    return text === stored ? { $ref: `#/components/schemas/${name}_Data` } : (JSON.parse(text) as Json)
  }
  const schemas: Json = {
    [`${name}_Data`]: JSON.parse(stored),
    ...(writable && { [`${name}_Input`]: written('input'), [`${name}_Patch`]: written('patch') }),
    ...filterSchemas(name, shape),
  }
  return JSON.stringify(schemas).slice(1, -1)
}

function withinLimit(jsonSchema: unknown): { shape: Shape; stored: string } {
  for (let levels = MOST_LEVELS; levels > 0; levels = levels >> 1) {
    const shape = readRoot(jsonSchema, levels)
    const stored = shape && JSON.stringify(schemaOfShape(shape, 'stored'))
    if (stored && stored.length <= LIMITS.openapiSchemaChars) return { shape, stored }
  }
  const shape = namesOnly(jsonSchema)
  return { shape, stored: JSON.stringify(schemaOfShape(shape, 'stored')) }
}

/** How data is written: as it is stored, as a whole that is sent, or as a merge patch, where null removes. */
type Form = 'stored' | 'input' | 'patch'

/** Writes the shape of a schema as JSON Schema without references or composition. */
function schemaOfShape(shape: Shape, form: Form): Json {
  if (isNever(shape)) return { not: {} }
  const { kinds, values, items } = shape
  const isTyped = kinds.size < KINDS.length
  // Generators of clients make names of the values, which objects and lists have not.
  const isListed =
    values !== undefined && values.length <= LIMITS.openapiEnumValues && !values.some(isContainer)
  const listed = isListed ? { enum: values } : {}
  return {
    ...descriptionOf(shape),
    ...(isTyped && typeOf(shape)),
    ...listed,
    ...boundsOf(shape, form),
    // Linters ask for the items of every array.
    ...(kinds.has('array') && (items || isTyped) && { items: items ? schemaOfShape(items, form) : {} }),
    ...(kinds.has('object') && propertiesOf(shape, form)),
  }
}

const isContainer = (value: unknown) => typeof value === 'object' && value !== null

function typeOf({ kinds, traits }: Shape): Json {
  const names = [...kinds].map((kind) => (kind === 'number' && traits.integer ? 'integer' : kind))
  return { type: names.length === 1 ? names[0] : names }
}

/** Generators of clients make a property with a `default` a required one, so the description has it. */
function descriptionOf({ description, default: preset }: Shape): Json {
  const shown = preset === undefined ? '' : (JSON.stringify(preset) ?? '')
  const words = [
    clean(description ?? '', LIMITS.openapiDescriptionChars),
    shown !== '' &&
      shown.length <= LIMITS.openapiDescriptionChars &&
      `Default: ${clean(shown, LIMITS.openapiDescriptionChars)}`,
  ]
  const text = words.filter(Boolean).join(' ')
  return text ? { description: text } : {}
}

function boundsOf({ kinds, bounds, traits }: Shape, form: Form): Json {
  const { format, pattern, multipleOf, uniqueItems } = traits
  const isShown = (kind: Kind) => kinds.has(kind) && !(form === 'patch' && kind === 'object')
  const names = BOUND_NAMES.filter((name) => bounds[name] !== undefined && isShown(BOUNDS[name].kind))
  return {
    ...Object.fromEntries(names.map((name) => [name, bounds[name]])),
    ...(kinds.has('string') && format && { format }),
    ...(kinds.has('string') && pattern && isPortablePattern(pattern) && { pattern }),
    ...(kinds.has('number') && multipleOf && { multipleOf }),
    ...(kinds.has('array') && uniqueItems && { uniqueItems }),
  }
}

function propertiesOf({ object: { properties, required, additional } }: Shape, form: Form): Json {
  const shown = [...properties].filter(([, shape]) => !isNever(shape))
  const toSchema = (shape: Shape) =>
    form === 'patch' ? nullable(schemaOfShape(shape, form)) : schemaOfShape(shape, form)
  // A write fills in a default before it checks what is required.
  const isFilled = (name: string) => form === 'input' && properties.get(name)?.default !== undefined
  const needed = form === 'patch' ? [] : [...required].filter((name) => !isFilled(name))
  // Readers of the description would take a property of this name for a reference.
  const reference = shown.find(([name]) => name === '$ref')?.[1]
  const named = shown.filter(([name]) => name !== '$ref')
  return {
    ...(named.length > 0 && {
      properties: Object.fromEntries(named.map(([name, shape]) => [name, toSchema(shape)])),
    }),
    ...(reference && { patternProperties: { '^\\$ref$': toSchema(reference) } }),
    ...(needed.length > 0 && { required: needed }),
    ...(additional && { additionalProperties: !isNever(additional) && toSchema(additional) }),
  }
}

/** The schema, which also admits null. */
function nullable(schema: Json): Json {
  const { type, enum: values } = schema
  if (type === undefined && values === undefined)
    return schema['not'] !== undefined ? { type: 'null' } : schema
  const types = type === undefined ? [] : Array.isArray(type) ? (type as string[]) : [String(type)]
  return {
    ...schema,
    ...(type !== undefined && { type: types.includes('null') ? type : [...types, 'null'] }),
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
  }
}
