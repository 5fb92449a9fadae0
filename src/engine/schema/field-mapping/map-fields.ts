/** What the fields of a mapping find in JSON of another system, converted as the mapping says. */
import type { FieldMapping } from '../../../contract/mapping-shapes.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import { pointer } from '../../../json/parse.ts'

/** The record type, as far as times need it, and the bytes that all records may have. */
export type ConversionOptions = {
  readonly timezone: string
  isDate(field: string): boolean
  readonly bytes: number
}

/** How values become those of a record type. */
export const conversionFor = (
  { timezone, jsonSchema }: { readonly timezone: string; readonly jsonSchema: unknown },
  bytes: number,
): ConversionOptions => ({ timezone, bytes, isDate: (field) => isDate(jsonSchema, field) })

const isDate = (schema: unknown, field: string): boolean => {
  const properties = isObject(schema) ? schema['properties'] : undefined
  const property = isObject(properties) ? own(properties, field) : undefined
  return isObject(property) && property['format'] === 'date'
}

/** The element that paths start at, where its faults are reported, and what room is left for its values. */
export type Place = {
  readonly payload: unknown
  readonly element: unknown
  readonly at: string
  readonly room: { left: number }
}
export type Find = (path: string, place: Place) => Promise<{ values: unknown[]; isSingular: boolean }>

/**
 * The data that the fields make of an element.
 * @throws VALIDATION_ERROR that says which path or value does not fit
 */
export async function mapFields(
  fields: Readonly<Record<string, FieldMapping>>,
  place: Place,
  options: ConversionOptions,
  find: Find,
): Promise<Record<string, unknown>> {
  const data: [string, unknown][] = []
  for (const [name, field] of Object.entries(fields)) {
    const value = await fieldValue(name, field, place, options, find)
    if (value === undefined) continue
    takeRoom(value, name, place)
    data.push([name, value])
  }
  return Object.fromEntries(data)
}

/** What a value has beside its text: quotes, a comma. */
const AROUND = 3
/** Reading a time takes as long as printing this many characters, or more: of a format that is known, or of a pattern. */
const TIME_COST = 100
const PATTERN_COST = 400

/** Paths may find the same large value many times, so what they find is counted before it is printed. */
function takeRoom(value: unknown, name: string, place: Place): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    const text = typeof each === 'object' && each !== null ? JSON.stringify(each) : String(each)
    spend(text.length + AROUND, name, place)
  }
}

function spend(characters: number, name: string, { at, room }: Place): void {
  room.left -= characters
  if (room.left < 0)
    throw invalid({
      path: `${at}/data${pointer(name)}`,
      code: 'too_large',
      message: 'What the paths of the mapping find is too large together. Map less of the payload.',
    })
}

/**
 * One text. A number is its JSON text.
 * @throws VALIDATION_ERROR
 */
export async function textAt(text: string, name: string, place: Place, find: Find): Promise<string> {
  return textOf((await find(text, place)).values, name, text, place)
}

/** @throws VALIDATION_ERROR unless one string or number was found */
export function textOf(values: readonly unknown[], name: string, text: string, place: Place): string {
  const [value] = values
  if (values.length === 1 && (typeof value === 'string' || typeof value === 'number')) return String(value)
  const found = values.length === 1 ? kindOf(value) : `${values.length} values`
  throw invalid({
    path: `${place.at}/${name}`,
    code: 'not_found_in_payload',
    message: `${name} needs one string or number at ${text}. The payload has ${found} there.`,
  })
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : isObject(value) ? 'an object' : typeof value

async function fieldValue(
  name: string,
  field: FieldMapping,
  place: Place,
  options: ConversionOptions,
  find: Find,
): Promise<unknown> {
  const how = typeof field === 'string' ? { path: field } : field
  const { values, isSingular } = await find(how.path, place)
  const isNothing = values.length === 0 || (isSingular && values[0] === null)
  if (isNothing && how.default !== undefined) return how.default
  if (isNothing && isSingular) return values[0]
  // The library of dates is loaded when a mapping first needs it.
  const dates = how.date_format === undefined ? undefined : await import('./dates.ts')
  const read = (value: unknown) => converted(value, how, name, place, options, dates)
  if (isSingular) return read(values[0])
  const list: unknown[] = []
  for (const value of values) {
    if (turnIsOver()) await nextTurn()
    list.push(read(value))
  }
  return list
}

type How = Exclude<FieldMapping, string>

function converted(
  value: unknown,
  { values, date_format: dateFormat, default: otherwise }: How,
  name: string,
  place: Place,
  { timezone, isDate }: ConversionOptions,
  dates: typeof import('./dates.ts') | undefined,
): unknown {
  const where = () => ({
    path: `${place.at}/data${pointer(name)}`,
    received: JSON.stringify(value)?.slice(0, 200),
  })
  if (values !== undefined) {
    // Its text is made, also where none of it is kept.
    if (isObject(value) || Array.isArray(value)) takeRoom([value], name, place)
    const key = typeof value === 'string' ? value : JSON.stringify(value)
    if (Object.hasOwn(values, key)) return values[key]
    if (otherwise !== undefined) return otherwise
    throw invalid({
      ...where(),
      code: 'unknown_value',
      message:
        'The value is not one of those that the mapping translates. Add it to values, or set a default.',
      allowed: Object.keys(values),
    })
  }
  if (!dates || dateFormat === undefined) return value
  spend(dates.isPattern(dateFormat) ? PATTERN_COST : TIME_COST, name, place)
  const time = dates.readTime(value, dateFormat, timezone, isDate(name))
  if (time !== undefined) return time
  throw invalid({
    ...where(),
    code: 'invalid_date',
    message: `The value is not a time in the format "${dateFormat}".`,
  })
}

// Faults of a field of a mapping: its path and its dates.

/** The faults of a field of a mapping. `faultsOf` checks its path. */
export async function fieldFaults(
  field: FieldMapping,
  at: string,
  faultsOf: (path: string, at: string) => Detail[],
): Promise<Detail[]> {
  if (typeof field === 'string') return faultsOf(field, at)
  const { path, date_format: dateFormat, values } = field
  const faults = faultsOf(path, `${at}/path`)
  if (dateFormat === undefined) return faults
  const { isDateFormat } = await import('./dates.ts')
  if (!isDateFormat(dateFormat))
    faults.push({
      path: `${at}/date_format`,
      code: 'invalid_date_format',
      message: 'Write it as a Unicode pattern such as "dd.MM.yyyy HH:mm", or "iso", "unix" or "unix_ms".',
      received: dateFormat,
    })
  if (values !== undefined)
    faults.push({
      path: `${at}/values`,
      code: 'exclusive',
      message: 'values and date_format cannot be combined. Leave one of them out.',
    })
  return faults
}
