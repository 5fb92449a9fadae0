/** Example data for a new record: those of a stored record, or else what the schema describes. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import { fewerLevels, MOST_LEVELS, namesOnly, readRoot } from '../../../schema-shape/read.ts'
import { isNever, KINDS, type Kind, type Shape } from '../../../schema-shape/shape.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import type { FieldProfile } from './summary.ts'

type Data = Record<string, unknown>

/** The first valid example: one of the stored records, and then two from the schema. Null when none is. */
export async function exampleData(
  type: CompiledType,
  stored: readonly unknown[],
  fields: readonly FieldProfile[],
): Promise<Data | null> {
  const { jsonSchema, schema } = type
  const renewed = uniqueFields(type).map((path) => ({
    path,
    value: nextAfter(fields.find(({ field }) => field === fieldName(path))?.max),
  }))
  for (const data of stored) {
    if (turnIsOver()) await nextTurn()
    const example = shortened(data, jsonSchema)
    for (const { path, value } of renewed) replace(example, path, value)
    if (schema.isValid(example)) return example
  }
  const shape = await readShape(jsonSchema)
  for (const optional of [true, false]) {
    const example = objectOf(shape, { optional, left: PROFILE_LIMITS.exampleSteps })
    if (schema.isValid(example)) return example
  }
  return null
}

/** Fields with a unique index. */
const uniqueFields = ({ indexes }: CompiledType): FieldPath[] =>
  indexes
    .filter(({ kind }) => kind === 'unique')
    .flatMap(({ fields }) => fields.flatMap(({ path }) => (path ? [path] : [])))

/** The next number above the maximum. */
const nextAfter = (max: unknown) => (typeof max === 'number' ? max + 1 : undefined)

/** Properties of a record, the required ones first. Long texts are cut, and other long values left out. */
function shortened(data: unknown, jsonSchema: unknown): Data {
  const { required } = Object(jsonSchema) as Data
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : [])
  const short = Object.entries(Object(data) as Data).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value === 'string') return [[name, value.slice(0, PROFILE_LIMITS.exampleChars).toWellFormed()]]
    return JSON.stringify(value).length <= PROFILE_LIMITS.exampleChars ? [[name, value]] : []
  })
  const ordered = short.sort(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
  return Object.fromEntries(ordered.slice(0, Math.max(needed.size, PROFILE_LIMITS.exampleProperties)))
}

/** Replaces the value at a path, or removes it. */
function replace(data: Data, path: FieldPath, value: unknown): void {
  let at: unknown = data
  for (const segment of path.slice(0, -1)) at = isObject(at) && segment !== null ? at[segment] : undefined
  const last = path.at(-1)
  if (!isObject(at) || typeof last !== 'string') return
  if (value === undefined) delete at[last]
  else at[last] = value
}

async function readShape(jsonSchema: unknown): Promise<Shape> {
  for (let levels = MOST_LEVELS; levels > 0; levels = fewerLevels(levels, undefined)) {
    const shape = readRoot(jsonSchema, levels)
    if (shape) return shape
    if (turnIsOver()) await nextTurn()
  }
  return namesOnly(jsonSchema)
}

/** `optional`: whether to illustrate properties with listed values. `left`: values that may be made. */
type Making = { readonly optional: boolean; left: number }

function objectOf({ object: { properties, required } }: Shape, making: Making): Data {
  let left = PROFILE_LIMITS.exampleProperties - required.size
  const members: [string, unknown][] = []
  for (const [name, shape] of properties) {
    if (making.left-- <= 0) break
    if (!required.has(name) && !(making.optional && shape.values && left-- > 0)) continue
    const value = exampleOf(shape, making)
    if (value !== undefined) members.push([name, value])
  }
  return Object.fromEntries(members)
}

/** A listed value, an example or the default, or one that fits the bounds. Undefined where any value is allowed. */
function exampleOf(shape: Shape, making: Making): unknown {
  const given = [...(shape.values?.filter((value) => value !== null) ?? []), ...shape.examples, shape.default]
  const found = given.find((value) => value !== undefined)
  if (found !== undefined) return found
  if (shape.values) return null
  const kinds = KINDS.filter((kind) => kind !== 'null' && shape.kinds.has(kind))
  if (kinds.length === KINDS.length - 1)
    return shape.object.properties.size > 0 ? objectOf(shape, making) : undefined
  return kinds[0] ? MAKERS[kinds[0]](shape, making) : null
}

const MAKERS: Readonly<Record<Kind, (shape: Shape, making: Making) => unknown>> = {
  null: () => null,
  boolean: () => true,
  number: numberOf,
  string: textOf,
  array: listOf,
  object: objectOf,
}

function listOf({ items, bounds }: Shape, making: Making): unknown[] {
  if (!items || isNever(items)) return []
  const list: unknown[] = []
  for (let count = Math.min(Math.max(bounds.minItems ?? 1, 1), 10); count > 0 && making.left-- > 0; count--) {
    const item = exampleOf(items, making)
    if (item !== undefined) list.push(item)
  }
  return list
}

/** Names and addresses reserved for documentation. */
const OF_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  uuid: '0197f0c0-0000-7000-8000-000000000000',
}

function textOf({ traits: { format }, bounds: { minLength = 0, maxLength } }: Shape): string {
  const known = format === undefined ? undefined : own(OF_FORMAT, format)
  return known ?? 'text'.padEnd(Math.min(minLength, 100), '.').slice(0, maxLength)
}

function numberOf({ traits, bounds }: Shape): number {
  const step = traits.multipleOf ?? 1
  const above = bounds.exclusiveMinimum === undefined ? step : bounds.exclusiveMinimum + step
  const value = Math.ceil(Math.max(above, bounds.minimum ?? above) / step) * step
  return Math.min(value, bounds.maximum ?? value)
}
