import { COLUMNS } from '../../../contract/record-columns.ts'
import { nearest } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkField, type FieldContext } from '../../data/filter/operand.ts'
import { type FieldPath, parseField } from '../../schema/compiled-types/field-path.ts'

/** Field projection of a record: fields beside the data, and paths into it. */
export type Projection = { names: ReadonlySet<string>; paths: readonly FieldPath[] }

const SHOWN = [...COLUMNS, 'record_type', 'cancelled_at', 'valid', 'data'] as const

/**
 * Parses a projection such as `["id", "data.name", "data.items[].sku"]`.
 * @throws VALIDATION_ERROR
 */
export function parseFields(raw: readonly string[], at: string): Projection {
  if (raw.length === 0 || raw.length > LIMITS.fieldNames)
    throw invalid({
      path: at,
      code: 'out_of_range',
      message: `fields must name 1 to ${LIMITS.fieldNames} fields, such as "id" or "data.name".`,
    })
  const names = new Set<string>()
  const paths: FieldPath[] = []
  for (const name of raw) {
    if (/^data[.[]/.test(name)) paths.push(readPath(name, at))
    else if ((SHOWN as readonly string[]).includes(name)) names.add(name)
    else throw unknown(name, at)
  }
  return { names, paths: names.has('data') ? [] : paths }
}

function readPath(name: string, at: string): FieldPath {
  const field = parseField(name, at)
  const path = field.kind === 'data' ? field.path : []
  if (!path.some((segment) => typeof segment === 'number')) return path
  throw invalid({
    path: at,
    code: 'invalid_field',
    message:
      'fields cannot name a position of a list, because the result keeps the nesting. Name the whole list, or "[]" for each element.',
    hint: name.replaceAll(/\[\d+\]/g, '[]'),
  })
}

function unknown(name: string, at: string) {
  const hint = nearest(name, SHOWN) ?? `data.${name}`
  return invalid({
    path: at,
    code: 'unknown_field',
    message: `There is no field "${name.slice(0, 64)}". A property of its data is written "data.<name>".`,
    received: name.slice(0, 64),
    allowed: [...SHOWN, 'data.<name>'],
    hint,
  })
}

/**
 * Rejects paths that a closed schema excludes, since every record would lack them.
 * @throws VALIDATION_ERROR
 */
export function checkProjectable({ paths }: Projection, type: FieldContext, at: string): void {
  for (const path of paths) checkField({ kind: 'data', path }, type, at)
}

export const showsData = ({ names, paths }: Projection): boolean => names.has('data') || paths.length > 0

/** Projects a record to the named fields; missing fields are omitted. */
export function project(
  record: Readonly<Record<string, unknown>>,
  { names, paths }: Projection,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const name in record) if (names.has(name) || name.startsWith('_')) shown[name] = record[name]
  if (paths.length > 0) {
    const data = projectData(record['data'], paths)
    if (data !== undefined) shown['data'] = data
  }
  return shown
}

/** Projects a value to the paths; undefined when it has none of them. */
export function projectData(value: unknown, paths: readonly FieldPath[]): unknown {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) return projectElements(value, paths)
  if (typeof value !== 'object' || value === null) return undefined
  const source = value as Record<string, unknown>
  const below = new Map<string, FieldPath[]>()
  for (const [segment, ...rest] of paths)
    if (typeof segment === 'string' && Object.hasOwn(source, segment))
      below.set(segment, [...(below.get(segment) ?? []), rest])
  const entries = [...below].flatMap(([name, rests]) => {
    const shown = projectData(source[name], rests)
    return shown === undefined ? [] : [[name, shown] as const]
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

function projectElements(elements: unknown[], paths: readonly FieldPath[]): unknown {
  const rests = paths.flatMap(([segment, ...rest]) => (segment === null ? [rest] : []))
  if (rests.length === 0) return undefined
  // An element without the field keeps its position, as null.
  return elements.map((element) => projectData(element, rests) ?? null)
}
