import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { dereference } from '../../../schema-shape/refs.ts'
import type { CompiledType } from '../../compiled-types/compiled-type.ts'
import { type FieldPath, fieldName } from '../../compiled-types/field-path.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import type { Summary } from './summary.ts'
import type { Scalar } from './value-stats.ts'

type Schema = Record<string, unknown>
type Known = {
  root: unknown
  /** A frequent value per field, in filter format; for a unique field a new value or none. */
  common: ReadonlyMap<string, Scalar>
  unique: ReadonlySet<string>
  /** Whether to include optional properties, as an illustration. */
  optional: boolean
  nodes: NodeBudget
}
/** Remaining work budget: expanded references can be much larger than the schema text. */
type NodeBudget = { left: number }

/**
 * Generates example data for a new record from frequent values, enums and schema keywords. Null when no
 * candidate is valid.
 */
export async function exampleData(type: CompiledType, summaries: readonly Summary[]): Promise<object | null> {
  const { jsonSchema: root, schema } = type
  const unique = uniqueFields(type)
  const common = new Map(
    summaries.flatMap(({ profile }) => {
      const value = unique.has(profile.field) ? nextAfter(profile.max) : profile.top[0]?.value
      return value === undefined ? [] : [[profile.field, value] as const]
    }),
  )
  const needed = { root, common, unique, optional: false, nodes: { left: PROFILE_LIMITS.exampleSteps } }
  const shape = whole(root, needed)
  const rich = objectOf(shape, [], { ...needed, optional: true })
  const tries = [{ ...undeclared(shape, summaries, common), ...rich }, rich, objectOf(shape, [], needed)]
  for (const data of tries) {
    if (turnIsOver()) await nextTurn()
    if (schema.isValid(data)) return data
  }
  return null
}

/** Fields with a unique index. */
const uniqueFields = ({ indexes }: CompiledType): ReadonlySet<string> =>
  new Set(
    indexes
      .filter(({ kind }) => kind === 'unique')
      .flatMap(({ fields }) => fields.flatMap(({ path }) => (path ? [fieldName(path)] : []))),
  )

/** The next number above the maximum. */
const nextAfter = (max: Scalar | null) => (typeof max === 'number' ? max + 1 : undefined)

/** Top-level properties that most records have and an open schema does not declare. */
function undeclared(
  { properties }: Schema,
  summaries: readonly Summary[],
  common: ReadonlyMap<string, Scalar>,
): Schema {
  const named = isObject(properties) ? properties : {}
  const values = summaries.flatMap(({ path: [name, ...below], profile: { field, nullShare } }) => {
    const value = common.get(field)
    const isRare = nullShare === null || nullShare > RARE
    if (typeof name !== 'string' || below.length > 0 || value === undefined || isRare) return []
    return Object.hasOwn(named, name) ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values.slice(0, PROFILE_LIMITS.exampleProperties))
}

const RARE = 0.5

function exampleOf(schema: Schema, path: FieldPath, known: Known): unknown {
  const field = fieldName(path)
  const common = known.common.get(field)
  if ('const' in schema) return schema['const']
  const { enum: listed } = schema
  if (Array.isArray(listed)) return listed.includes(common) ? common : listed.find((value) => value !== null)
  if (common !== undefined) return common
  const [type] = [schema['type']].flat().filter((each) => each !== 'null')
  if (type === 'object' || (type === undefined && 'properties' in schema))
    return objectOf(schema, path, known)
  if (type === 'array') return listOf(schema, path, known)
  const [given] = [schema['examples']].flat()
  const shown = given ?? schema['default']
  if (shown !== undefined && !known.unique.has(field)) return shown
  return sampleOf(schema, type)
}

/** The required properties, and some optional ones as an illustration. */
function objectOf({ properties, required }: Schema, path: FieldPath, known: Known): Schema {
  const declared = isObject(properties) ? Object.entries(properties) : []
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : [])
  if (path.length >= PROFILE_LIMITS.depth) return {}
  const isUseful = (name: string, schema: Schema) =>
    known.optional && (Array.isArray(schema['enum']) || known.common.has(fieldName([...path, name])))
  let left = Math.max(0, PROFILE_LIMITS.exampleProperties - needed.size)
  const members: [string, unknown][] = []
  for (const [name, raw] of declared) {
    if (known.nodes.left <= 0) break
    const schema = whole(raw, known)
    if (!needed.has(name) && (!isUseful(name, schema) || left-- <= 0)) continue
    const value = exampleOf(schema, [...path, name], known)
    if (value !== undefined) members.push([name, value])
  }
  return Object.fromEntries(members)
}

function listOf({ items, minItems }: Schema, path: FieldPath, known: Known): unknown[] {
  if (path.length >= PROFILE_LIMITS.depth || !isObject(items)) return []
  const list = Array.from({ length: countOf(minItems) }, () =>
    exampleOf(whole(items, known), [...path, null], known),
  )
  return list.filter((item) => item !== undefined)
}

const countOf = (minItems: unknown) =>
  typeof minItems === 'number' ? Math.min(Math.max(minItems, 1), 10) : 1

/**
 * Resolves references, `allOf` and the first alternative into one schema; empty when the budget is used up.
 */
function whole(raw: unknown, known: Known, depth = 0): Schema {
  const { root, nodes } = known
  if (nodes.left <= 0) return {}
  const schema = dereference(raw, root) ?? {}
  nodes.left -= sizeOf(schema)
  if (depth >= PROFILE_LIMITS.depth) return schema
  const [either] = [schema['anyOf'] ?? schema['oneOf']].flat()
  const parts = [...[schema['allOf'] ?? []].flat(), ...(either === undefined ? [] : [either])]
  let sum = schema
  for (const part of parts) {
    if (nodes.left <= 0) break
    sum = joined(sum, whole(part, known, depth + 1), nodes)
  }
  return sum
}

function joined(a: Schema, b: Schema, nodes: NodeBudget): Schema {
  // Each merge step copies the accumulated result.
  nodes.left -= sizeOf(a) + sizeOf(b)
  return {
    ...b,
    ...a,
    ...((isObject(a['properties']) || isObject(b['properties'])) && {
      properties: { ...(b['properties'] as object), ...(a['properties'] as object) },
    }),
    required: [...new Set([a['required'] ?? [], b['required'] ?? []].flat())],
  }
}

/** Size of a schema, without its subschemas, in budget units. */
const sizeOf = ({ properties, required }: Schema): number =>
  1 + Object.keys(Object(properties)).length + (Array.isArray(required) ? required.length : 0)

/** Generates a value for a schema of one type from its simple keywords; undefined without a type. */
function sampleOf(schema: Readonly<Schema>, type: unknown): unknown {
  if (type === 'string') return textOf(schema)
  if (type === 'integer' || type === 'number') return numberOf(schema)
  return type === 'boolean' ? true : undefined
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

function textOf({ format, minLength, maxLength }: Readonly<Schema>): string {
  const known = typeof format === 'string' ? OF_FORMAT[format] : undefined
  if (known !== undefined) return known
  const least = typeof minLength === 'number' ? Math.min(minLength, 100) : 0
  return 'text'.padEnd(least, '.').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: Readonly<Schema>): number {
  const step = typeof multipleOf === 'number' ? multipleOf : 1
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : step
  const least = Math.max(above, typeof minimum === 'number' ? minimum : above)
  const value = Math.ceil(least / step) * step
  return typeof maximum === 'number' ? Math.min(value, maximum) : value
}
