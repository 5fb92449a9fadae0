/**
 * Descriptions of published schemas: cleans and truncates text, and describes keywords that are not portable.
 */
import { replaceInvisible } from '../foundation/invisible-characters.ts'
import { own } from '../foundation/own.ts'
import { ANY, KINDS, type Kind, type Shape } from './shape.ts'

/** Appended for objects and arrays that may be null: clients keep only one branch of an `anyOf` with them. */
export const NULLABLE = 'May be null.'

/** Cleans a text to one line of at most `chars` characters. Reads only the start of a huge text. */
export function clean(text: string, chars: number): string {
  const start = text.slice(0, 2 * chars).toWellFormed()
  const plain = replaceInvisible(start, ' ').replace(/\s+/g, ' ').trim()
  const points = [...plain]
  if (points.length <= chars && start.length === text.length) return plain
  return points.length < chars
    ? `${plain}…`
    : `${points
        .slice(0, chars - 1)
        .join('')
        .trimEnd()}…`
}

/** Cleans a text and keeps its line breaks. */
export const cleanLines = (text: string): string =>
  text
    .toWellFormed()
    .split(/\r?\n/)
    .map((line) => replaceInvisible(line, ' '))
    .join('\n')

const FORMATS: Readonly<Record<string, string>> = {
  date: 'a date (YYYY-MM-DD)',
  'date-time': 'a date and time with offset (2026-01-31T09:00:00Z)',
  time: 'a time with offset (09:00:00Z)',
  duration: 'an ISO 8601 duration (P3DT4H)',
  email: 'an email address',
  'idn-email': 'an email address',
  hostname: 'a host name',
  'idn-hostname': 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  uri: 'an absolute URI',
  iri: 'an absolute IRI',
  'uri-reference': 'a URI or relative reference',
  'iri-reference': 'an IRI or relative reference',
  'uri-template': 'a URI template',
  uuid: 'a UUID',
  'json-pointer': 'a JSON Pointer',
  'relative-json-pointer': 'a relative JSON Pointer',
  regex: 'a regular expression',
}

/** Whether the format is in the JSON Schema standard. Clients may reject a schema with an unknown format. */
export const isKnownFormat = (format: string) => Object.hasOwn(FORMATS, format)

const formatPhrase = (format: string) => own(FORMATS, format) ?? `a string of format ${clean(format, 40)}`

const KIND_PHRASES: Readonly<Record<Kind, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
}

/** Describes a shape in a few words, such as "an array of numbers". Descends one level into items at most. */
export function phrase(shape: Shape, deep = true): string {
  if (shape.values) return valuesPhrase(shape.values)
  const kinds = KINDS.filter((kind) => shape.kinds.has(kind))
  if (kinds.length === 0) return 'nothing'
  // A branch often says only which properties it has.
  if (kinds.length === KINDS.length) return hasNames(shape) ? kindPhrase('object', shape, deep) : 'any value'
  return kinds.map((kind) => kindPhrase(kind, shape, deep)).join(' or ')
}

function kindPhrase(kind: Kind, shape: Shape, deep: boolean): string {
  const { traits, object, items } = shape
  if (kind === 'number' && traits.integer) return 'an integer'
  if (kind === 'string' && traits.format) return formatPhrase(traits.format)
  if (kind === 'array' && deep && items && items !== ANY) return `an array of (${phrase(items, false)})`
  if (kind === 'object' && hasNames(shape)) return `an object with ${listed(namesOf(object))}`
  return KIND_PHRASES[kind]
}

const hasNames = ({ object }: Shape): boolean => object.properties.size > 0 || object.required.size > 0

/** The properties of an object. One with a single value distinguishes branches, so the value is shown. */
function namesOf({ properties, required }: Shape['object']): Set<string> {
  const declared = [...properties].map(([name, { values }]) =>
    values?.length === 1 ? `${name} = ${valuesPhrase(values)}` : name,
  )
  return new Set([...declared, ...[...required].filter((name) => !properties.has(name))])
}

function valuesPhrase(values: readonly unknown[]): string {
  const shown = values.slice(0, 20).map((value) => clean(JSON.stringify(value), 60))
  return values.length > shown.length ? `${shown.join(' | ')} | …` : shown.join(' | ')
}

/** Lists up to eight names and the number of the others. */
export function listed(names: Iterable<string>): string {
  const all = [...names]
  const shown = all.slice(0, 8).map((name) => clean(name, 64))
  return all.length > shown.length
    ? `${shown.join(', ')} and ${all.length - shown.length} more`
    : shown.join(', ')
}

/** Turns a phrase into a sentence. */
export const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
