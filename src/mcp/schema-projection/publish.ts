/** Serializes a shape in the portable dialect: a single `type`, no references, no composition. */

import { hasInvisible } from '../../foundation/invisible-characters.ts'
import { clean, isKnownFormat, NULLABLE, phrase, sentence } from '../../schema-shape/descriptions.ts'
import { isPortablePattern } from '../../schema-shape/portable-pattern.ts'
import {
  ANY,
  BOUND_NAMES,
  BOUNDS,
  type Bound,
  isNever,
  KINDS,
  type Kind,
  type Shape,
} from '../../schema-shape/shape.ts'
import { type Names, NO_NAMES } from './rename-properties.ts'

type Scalar = string | number | boolean

/** The portable JSON Schema dialect. Every schema has one type. */
export type PortableSchema = {
  type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean'
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

const ENUM_VALUES = 250
const ENUM_CHARS = 200
const SAMPLE_CHARS = 200
const DESCRIPTION_CHARS = 500
/** Maximum characters of a description with its generated sentences. */
const WORDS_CHARS = 900
/** Maximum characters of the own name of a renamed property. */
const NAME_CHARS = 100

/**
 * Kinds by preference: a value that may be of several is published as the first of them, and the description
 * names the others. Clients refuse a list of types, and properties or no type at all.
 */
const PREFERRED = ['string', 'object', 'array', 'number', 'boolean'] as const

/** Publishes a shape. `lean` omits descriptions and samples, for schemas near the size limit. */
export function publish(shape: Shape, names: Names, lean: boolean): PortableSchema {
  const kinds = KINDS.filter((kind) => kind !== 'null').filter((kind) => shape.kinds.has(kind))
  const kind = kindOf(shape, kinds)
  const isMixed = kinds.length > 1
  const values = portableValues(shape)
  const type = typeOf(kind, shape)
  return {
    type,
    ...(lean ? {} : describe(shape, kinds, values !== undefined)),
    ...(values && { enum: values }),
    ...(!isMixed && keywordsOf(kind, shape)),
    ...(lean ? {} : samplesOf(shape, type)),
    ...(kind === 'array' && itemsOf(shape, names, lean)),
    ...(kind === 'object' && propertiesOf(shape, names, lean)),
  }
}

function kindOf({ object, items }: Shape, kinds: readonly Kind[]): (typeof PREFERRED)[number] {
  // Without a type, the keywords show which one is meant.
  const isAny = kinds.length === PREFERRED.length
  if (isAny && object.properties.size > 0) return 'object'
  if (isAny && items) return 'array'
  return PREFERRED.find((each) => kinds.includes(each)) ?? 'string'
}

function typeOf(kind: Exclude<Kind, 'null'>, { traits, values }: Shape): NonNullable<PortableSchema['type']> {
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
  if (!all || all.length === 0 || all.length > ENUM_VALUES) return undefined
  return all.every(isPortableValue) ? all : undefined
}

const isPortableValue = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && isPortableScalar(value)

function isPortableScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value.length <= ENUM_CHARS && !hasInvisible(value)
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
  const name = clean(original, NAME_CHARS) || '""'
  return { ...schema, description: schema.description ? `${name}: ${schema.description}` : `${name}.` }
}

/**
 * Publishes defaults and examples only if they are short scalars or lists of them. Objects would carry
 * unpublished names.
 */
function samplesOf({ default: preset, examples }: Shape, type: PortableSchema['type']): PortableSchema {
  const helps = (value: unknown) => isSample(value) && isOfType(value, type)
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
  return parts.every(isPortableScalar) && JSON.stringify(value).length <= SAMPLE_CHARS
}

/** Generates the description, including the keywords that clients ignore or that have no portable form. */
function describe(shape: Shape, kinds: readonly Kind[], enumerated: boolean): PortableSchema {
  const { notes, traits, values } = shape
  const description = clean(shape.description ?? '', DESCRIPTION_CHARS)
  const { format, pattern, multipleOf } = traits
  const alone = kinds.length === 1 ? kinds[0] : undefined
  const isListed = enumerated || notes.some((note) => note.startsWith('One of:'))
  const words = [
    description && (/[.!?…:]$/.test(description) ? description : `${description}.`),
    !isListed && values && `One of: ${phrase(shape)}.`,
    !isListed && !values && !alone && openPhrase(kinds, shape),
    alone === 'string' && format && sentence(phrase({ ...shape, values: undefined, kinds: new Set(kinds) })),
    alone === 'string' && pattern && !isPortablePattern(pattern) && `Matches ${clean(pattern, 100)} (RE2).`,
    alone === 'number' && multipleOf && !Number.isInteger(multipleOf) && `A multiple of ${multipleOf}.`,
    ...notes,
  ]
  const text = clean(words.filter(Boolean).join(' '), WORDS_CHARS)
  const nullable = kinds.length > 0 && shape.kinds.has('null') && (alone || enumerated) ? NULLABLE : ''
  const whole = [text, nullable].filter(Boolean).join(' ')
  return whole ? { description: whole } : {}
}

function openPhrase(kinds: readonly Kind[], shape: Shape): string {
  if (kinds.length === 0) return 'Always null.'
  return kinds.length === KINDS.length - 1 ? 'Any JSON value.' : sentence(phrase(shape))
}
