/** Makes records of a payload, by the mapping of its webhook. */

import type { Mapping } from '../../contract/inbound-webhook-shapes.ts'
import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { pointer } from '../../json/parse.ts'
import { compileJsonPath, openPathBudget, type PathBudget } from '../json-path/json-path.ts'
import type { PairInput } from '../record-store/record.ts'

/** A record to write. */
export type Mapped = PairInput & { readonly data: unknown }

/** The record type, as far as times need it, and the bytes that all records may have. */
export type ConversionOptions = {
  readonly timezone: string
  isDate(field: string): boolean
  readonly bytes: number
}

type Field = NonNullable<Mapping['data']>[string]
type Place = {
  readonly payload: unknown
  readonly element: unknown
  readonly at: string
  readonly room: { left: number }
}
type Find = (path: string, place: Place) => Promise<{ values: unknown[]; isSingular: boolean }>

/**
 * The records of a payload: one, or one for each element of `items`.
 * @throws VALIDATION_ERROR that says which path or value does not fit
 */
export async function mapPayload(
  payload: unknown,
  mapping: Mapping | null,
  options: ConversionOptions,
): Promise<{ records: Mapped[]; isList: boolean }> {
  if (mapping === null) return { records: [{ data: payload }], isList: false }
  const budget = openPathBudget()
  const find = finder(mapping.items !== undefined, budget)
  const elements = await elementsOf(payload, mapping, budget)
  const room = { left: options.bytes }
  const records: Mapped[] = []
  for (const [n, element] of (elements ?? [payload]).entries()) {
    const at = elements ? `/records/${n}` : ''
    records.push(await mapOne({ payload, element, at, room }, mapping, options, find))
  }
  return { records, isList: elements !== null }
}

async function elementsOf(
  payload: unknown,
  { items }: Mapping,
  budget: PathBudget,
): Promise<unknown[] | null> {
  if (items === undefined) return null
  const path = compileJsonPath(items)
  const found = await path.find(payload, budget)
  const elements = path.isSingular ? found[0] : found
  if (!Array.isArray(elements))
    throw invalid({
      path: '/mapping/items',
      code: 'no_items',
      message: `The payload has no array at ${items}.`,
    })
  if (elements.length > LIMITS.batchOperations)
    throw invalid({
      path: '/mapping/items',
      code: 'too_many_items',
      message: `The payload has ${elements.length} elements at ${items}. A delivery can make ${LIMITS.batchOperations} records.`,
      expected: LIMITS.batchOperations,
      received: elements.length,
    })
  return elements
}

/** Finds values from the element, or by `$$` from the payload. What is found in the payload is found once. */
function finder(hasItems: boolean, budget: PathBudget): Find {
  const ofPayload = new Map<string, Promise<unknown[]>>()
  return async (text, { payload, element }) => {
    const isOfPayload = hasItems && text.startsWith('$$')
    const path = compileJsonPath(isOfPayload ? text.slice(1) : text)
    if (!isOfPayload) return { values: await path.find(element, budget), isSingular: path.isSingular }
    const found = ofPayload.get(text) ?? path.find(payload, budget)
    ofPayload.set(text, found)
    return { values: await found, isSingular: path.isSingular }
  }
}

async function mapOne(
  place: Place,
  mapping: Mapping,
  options: ConversionOptions,
  find: Find,
): Promise<Mapped> {
  if (turnIsOver()) await nextTurn()
  const { external_id: idPath, external_source: source } = mapping
  const pair =
    idPath === undefined
      ? {}
      : {
          externalId: await textAt(idPath, 'external_id', place, find),
          externalSource: source?.startsWith('$')
            ? await textAt(source, 'external_source', place, find)
            : (source ?? null),
        }
  if (mapping.data === undefined) return { ...pair, data: place.element }
  const data: [string, unknown][] = []
  for (const [name, field] of Object.entries(mapping.data)) {
    const value = await fieldValue(name, field, place, options, find)
    if (value === undefined) continue
    takeRoom(value, name, place)
    data.push([name, value])
  }
  return { ...pair, data: Object.fromEntries(data) }
}

/** Paths may find the same large value many times, so what they find is counted before it is printed. */
function takeRoom(value: unknown, name: string, { at, room }: Place): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    room.left -= typeof each === 'object' && each !== null ? JSON.stringify(each).length : String(each).length
    if (room.left < 0)
      throw invalid({
        path: `${at}/data${pointer(name)}`,
        code: 'too_large',
        message: 'What the paths of the mapping find is too large together. Map less of the payload.',
      })
  }
}

/** One text. A number is its JSON text. */
async function textAt(text: string, name: string, place: Place, find: Find): Promise<string> {
  const { values } = await find(text, place)
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
  field: Field,
  place: Place,
  options: ConversionOptions,
  find: Find,
): Promise<unknown> {
  const how = typeof field === 'string' ? { path: field } : field
  const { values, isSingular } = await find(how.path, place)
  const isNothing = values.length === 0 || (isSingular && values[0] === null)
  if (isNothing && how.default !== undefined) return how.default
  if (isNothing && isSingular) return values[0]
  const read = (value: unknown) => converted(value, how, name, place, options)
  if (isSingular) return read(values[0])
  const list: unknown[] = []
  for (const value of values) list.push(await read(value))
  return list
}

type How = Exclude<Field, string>

async function converted(
  value: unknown,
  { values, date_format: dateFormat, default: otherwise }: How,
  name: string,
  { at }: Place,
  { timezone, isDate }: ConversionOptions,
): Promise<unknown> {
  const where = () => ({ path: `${at}/data${pointer(name)}`, received: JSON.stringify(value)?.slice(0, 200) })
  if (values !== undefined) {
    const key = typeof value === 'string' ? value : JSON.stringify(value)
    if (Object.hasOwn(values, key)) return values[key]
    if (otherwise !== undefined) return otherwise
    throw invalid({
      ...where(),
      code: 'unknown_value',
      message: 'The values of the mapping do not have this one. Add it, or a default.',
      allowed: Object.keys(values),
    })
  }
  if (dateFormat === undefined) return value
  const { readTime } = await import('../configuration/inbound-webhooks/dates.ts')
  const time = readTime(value, dateFormat, timezone, isDate(name))
  if (time !== undefined) return time
  throw invalid({
    ...where(),
    code: 'invalid_date',
    message: `The value is not a time in the format "${dateFormat}".`,
  })
}
