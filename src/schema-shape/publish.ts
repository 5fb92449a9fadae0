/** Serializes a shape in the portable dialect: no references, and no composition but an `anyOf` of scalars. */

import { hasInvisible } from '../foundation/invisible-characters.ts'
import { LIMITS } from '../foundation/limits.ts'
import { clean, isKnownFormat, NULLABLE, phrase, sentence } from './descriptions.ts'
import { isPortablePattern } from './portable-pattern.ts'
import { type Names, NO_NAMES } from './rename-properties.ts'
import { ANY, BOUND_NAMES, BOUNDS, type Bound, isNever, KINDS, type Kind, type Shape } from './shape.ts'

type Scalar = string | number | boolean

/** The objects and arrays that a schema without `type` takes, for the decoding of JSON text. Not in its JSON. */
export const TAKES: unique symbol = Symbol('takes')

/** The portable JSON Schema dialect. A schema has one type, an `anyOf` of scalars, or only words. */
export type PortableSchema = {
  type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
  anyOf?: readonly PortableSchema[]
  [TAKES]?: readonly Kind[]
  description?: string
  /** Strings that are not empty: some clients refuse all tools for any other value. */
  enum?: readonly string[]
  format?: string
  pattern?: string
  multipleOf?: number
  uniqueItems?: true
  items?: PortableSchema
  properties?: Readonly<Record<string, PortableSchema>>
  required?: readonly string[]
  additionalProperties?: boolean | PortableSchema
  default?: unknown
  examples?: readonly unknown[]
} & Partial<Record<Bound, number>>

const SCALARS = ['string', 'number', 'boolean', 'null'] as const
const NESTED = ['object', 'array'] as const

/** Publishes a shape. `lean` omits descriptions and samples, for schemas near the size limit. */
export function publish(shape: Shape, names: Names, lean: boolean): PortableSchema {
  const values = portableValues(shape)
  const { type, ...form } = formOf(shape, values, names, lean)
  // Without a type, only words say what is taken.
  const words = type || form.anyOf ? {} : { description: openPhrase(kindsOf(shape), shape) }
  return {
    ...(type && { type }),
    ...(lean ? words : describe(shape, values !== undefined)),
    ...form,
    ...(lean ? {} : samplesOf(shape, type ? [type] : (form.anyOf ?? []).map((each) => each.type))),
  }
}

/**
 * Clients hold values to the published types. So each scalar type is named, and where objects or arrays are among
 * several, none is: clients keep only the object of an `anyOf`.
 */
function formOf(
  shape: Shape,
  values: readonly string[] | undefined,
  names: Names,
  lean: boolean,
): PortableSchema {
  const has = (kind: Kind) => shape.kinds.has(kind)
  const nested = NESTED.filter(has)
  const scalars = SCALARS.filter(has)
  if (nested.length === 0) {
    const branches = scalars.map((kind) => ({
      type: typeOf(kind, shape),
      ...(kind === 'string' && values && { enum: values }),
      ...keywordsOf(kind, shape),
    }))
    return branches.length === 1 ? { ...branches[0] } : { anyOf: branches }
  }
  const isAny = shape.kinds.size === KINDS.length
  const isAlone = nested.length === 1 && scalars.every((kind) => kind === 'null')
  const kind = isAny ? meantKind(shape) : isAlone ? nested[0] : undefined
  if (kind === undefined) return { [TAKES]: nested }
  return {
    type: kind,
    ...(isAlone && keywordsOf(kind, shape)),
    ...(kind === 'array' ? itemsOf(shape, names, lean) : propertiesOf(shape, names, lean)),
  }
}

/** Without a type, the keywords show which one is meant. */
function meantKind({ object, items }: Shape): 'object' | 'array' | undefined {
  return object.properties.size > 0 ? 'object' : items && 'array'
}

function typeOf(kind: Kind, { traits, values }: Shape): NonNullable<PortableSchema['type']> {
  const numbers = values?.filter((value) => typeof value === 'number')
  if (kind === 'number' && (traits.integer || numbers?.every(Number.isInteger))) return 'integer'
  return kind
}

/**
 * The values as an `enum`; undefined if there are too many, or one is not a string, is empty or has invisible
 * characters.
 */
function portableValues({ values }: Shape): readonly string[] | undefined {
  const all = values?.filter((value) => value !== null)
  if (!all || all.length === 0 || all.length > LIMITS.portableEnumValues) return undefined
  return all.every(isPortableValue) ? all : undefined
}

const isPortableValue = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && isPortableScalar(value)

function isPortableScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value.length <= LIMITS.portableEnumChars && !hasInvisible(value)
  return typeof value === 'number' || typeof value === 'boolean'
}

function keywordsOf(kind: Kind, { bounds, traits }: Shape): PortableSchema {
  const { format, pattern, multipleOf, uniqueItems } = traits
  const mine = BOUND_NAMES.filter((name) => BOUNDS[name].kind === kind && bounds[name] !== undefined)
  return {
    ...Object.fromEntries(mine.map((name) => [name, bounds[name]])),
    ...(kind === 'string' && format && isKnownFormat(format) && { format }),
    ...(kind === 'string' && pattern && isPortablePattern(pattern) && { pattern }),
    // Clients divide in floating point, where 0.07 is not a multiple of 0.01.
    ...(kind === 'number' && multipleOf && Number.isInteger(multipleOf) && { multipleOf }),
    ...(kind === 'array' && uniqueItems && { uniqueItems }),
  }
}

function itemsOf({ items }: Shape, names: Names, lean: boolean): PortableSchema {
  if (isNever(items)) return { items: publish(ANY, NO_NAMES, lean), maxItems: 0 }
  return { items: publish(items ?? ANY, names.items ?? NO_NAMES, lean) }
}

function propertiesOf({ object }: Shape, names: Names, lean: boolean): PortableSchema {
  const { additional: rest, required } = object
  const known = [...names.properties].map(([name, { original, names }]) => {
    const shape = object.properties.get(original) ?? rest ?? ANY
    const schema = publish(shape, names, lean)
    return {
      name,
      // A write fills in a default before it checks what is required.
      needed: required.has(original) && shape.default === undefined,
      schema: name === original ? schema : named(original, schema),
    }
  })
  const needed = known.filter((property) => property.needed).map(({ name }) => name)
  const open = rest === undefined
  return {
    ...(known.length > 0 && {
      properties: Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
    }),
    ...(needed.length > 0 && { required: needed }),
    // Objects are open by default. State it only if there are no properties.
    ...(open && known.length > 0
      ? {}
      : {
          additionalProperties: open || (!isNever(rest) && publish(rest, names.additional ?? NO_NAMES, lean)),
        }),
  }
}

/** A property with another name than in the record: its description begins with its own name. */
const named = (original: string, schema: PortableSchema): PortableSchema => {
  const name = clean(original, LIMITS.renamedNameChars) || '""'
  return { ...schema, description: schema.description ? `${name}: ${schema.description}` : `${name}.` }
}

/**
 * Publishes defaults and examples only if they are short scalars or lists of them. Objects would carry
 * unpublished names.
 */
function samplesOf(
  { default: preset, examples }: Shape,
  types: readonly PortableSchema['type'][],
): PortableSchema {
  const helps = (value: unknown) => isSample(value) && types.some((type) => isOfType(value, type))
  const shown = examples.filter(helps)
  return { ...(helps(preset) && { default: preset }), ...(shown.length > 0 && { examples: shown }) }
}

/** A default may violate its own schema, and strict clients would then reject the tool. */
function isOfType(value: unknown, type: PortableSchema['type']): boolean {
  if (type === 'array') return Array.isArray(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function isSample(value: unknown): boolean {
  const parts = Array.isArray(value) ? value : [value]
  return parts.every(isPortableScalar) && JSON.stringify(value).length <= LIMITS.portableSampleChars
}

/** Generates the description, including the keywords that clients ignore or that have no portable form. */
function describe(shape: Shape, enumerated: boolean): PortableSchema {
  const { notes, traits, values } = shape
  const kinds = kindsOf(shape)
  const isNested = NESTED.some((kind) => shape.kinds.has(kind))
  const description = clean(shape.description ?? '', LIMITS.portableDescriptionChars)
  const { format, pattern, multipleOf } = traits
  const alone = kinds.length === 1 ? kinds[0] : undefined
  const isListed = enumerated || notes.some((note) => note.startsWith('One of:'))
  const words = [
    description && (/[.!?…:]$/.test(description) ? description : `${description}.`),
    !isListed && values && `One of: ${phrase(shape)}.`,
    // An `anyOf` says the types itself.
    !isListed && !values && !alone && (isNested || format) && openPhrase(kinds, shape),
    alone === 'string' && format && sentence(phrase({ ...shape, values: undefined, kinds: new Set(kinds) })),
    alone === 'string' && pattern && !isPortablePattern(pattern) && `Matches ${clean(pattern, 100)} (RE2).`,
    alone === 'number' && multipleOf && !Number.isInteger(multipleOf) && `A multiple of ${multipleOf}.`,
    ...notes,
  ]
  const text = clean(words.filter(Boolean).join(' '), LIMITS.portableWordsChars)
  const nullable = isNested && alone && shape.kinds.has('null') ? NULLABLE : ''
  const whole = [text, nullable].filter(Boolean).join(' ')
  return whole ? { description: whole } : {}
}

const kindsOf = ({ kinds }: Shape): readonly Kind[] =>
  KINDS.filter((kind) => kind !== 'null' && kinds.has(kind))

function openPhrase(kinds: readonly Kind[], shape: Shape): string {
  return kinds.length === KINDS.length - 1 ? 'Any JSON value.' : sentence(phrase(shape))
}
