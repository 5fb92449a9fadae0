import type { Column } from '../../../contract/record-columns.ts'
import { nearest } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Field, type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { fieldExists, formatAt } from '../../schema/json-schema/fields.ts'
import type { Parameters } from './parameters.ts'

/**
 * SQL operand of a condition. `json`: a jsonb value of any type; with a `zone`, its strings that are times
 * compare as instants. The other kinds are typed columns.
 */
export type Operand =
  | { kind: 'json'; sql: string; zone: string | null }
  | { kind: 'text' | 'number'; sql: string }
  | { kind: 'instant'; sql: string; zone: string }

/** The parts of a record type that filters, sorts and aggregates need. */
export type FieldContext = Pick<CompiledType, 'jsonSchema' | 'timezone'> & {
  /** The properties of `data` that the caller may name; all without a field policy. */
  readonly visible?: readonly string[] | null
}

/** A column of `plinth.record AS r`, or of another row that has them; of no row, it is null. */
export function columnOperand(column: Column, { timezone }: FieldContext, row = 'r'): Operand {
  switch (column) {
    case 'created_at':
    case 'updated_at':
      return { kind: 'instant', sql: `${row}.${column}`, zone: timezone }
    case 'version':
      return { kind: 'number', sql: `${row}.version` }
    case 'status': {
      const active = row === 'r' ? '' : `WHEN ${row}.version IS NULL THEN NULL `
      return {
        kind: 'text',
        sql: `(CASE ${active}WHEN ${row}.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END COLLATE "C")`,
      }
    }
    case 'valid':
      return { kind: 'json', sql: `to_jsonb(${row}.valid)`, zone: null }
    default:
      return { kind: 'text', sql: `${row}.${column}` }
  }
}

/** The type's timezone when the schema declares times or dates at the path; else null. */
export function zoneOf(path: FieldPath, { jsonSchema, timezone }: FieldContext): string | null {
  const format = formatAt(jsonSchema, path)
  return format === 'date-time' || format === 'date' ? timezone : null
}

/** SQL of one path step into jsonb. Only arrays have positions, only objects have names. */
export function step(value: string, segment: string | number, parameters: Parameters): string {
  if (typeof segment === 'string') return `(${value} -> ${parameters.add(segment)}::text)`
  // The `->` operator would treat a scalar as an array of one element.
  const at = `jsonb_build_object('i', ${parameters.add(segment)}::int)`
  return `jsonb_path_query_first(${value}, 'strict $[$i]', ${at}, true)`
}

/** The jsonb value at a path without `[]`; null when it is missing. */
export const valueAt = (path: FieldPath, parameters: Parameters, from = 'r.data'): string =>
  path.reduce<string>((value, segment) => step(value, segment ?? 0, parameters), from)

/** The string at a path of names, as text; of another value, its JSON. Null when it is missing. */
export const textAt = (path: FieldPath, parameters: Parameters): string =>
  `(${valueAt(path.slice(0, -1), parameters)} ->> ${parameters.add(path.at(-1))}::text)`

/**
 * The field as a single operand, for sorting and grouping.
 * @throws VALIDATION_ERROR at `at` for a `[]` path
 */
export function singleOperand(
  field: Field,
  type: FieldContext,
  parameters: Parameters,
  at: string,
  what: string,
): Operand {
  if (field.kind === 'column') return columnOperand(field.column, type)
  return dataOperand(field, type, parameters, at, what)
}

/** The single operand of a field in `data`. */
export function dataOperand(
  field: Extract<Field, { kind: 'data' }>,
  type: FieldContext,
  parameters: Parameters,
  at: string,
  what: string,
): Extract<Operand, { kind: 'json' }> {
  if (field.path.includes(null))
    throw invalid({
      path: at,
      code: 'many_values',
      message: `"[]" means any element, so there is no one value to ${what}. Name a position, such as [0].`,
    })
  return { kind: 'json', sql: valueAt(field.path, parameters), zone: zoneOf(field.path, type) }
}

/**
 * Checks a path against the schema.
 * @throws VALIDATION_ERROR for a property that a closed schema excludes
 */
export function checkField(
  field: Extract<Field, { kind: 'data' }>,
  { jsonSchema, visible }: FieldContext,
  at: string,
  written = '',
): void {
  const {
    exists,
    allowed,
    missing = 0,
    renamed,
  }: ReturnType<typeof fieldExists> = visible
    ? within(visible, jsonSchema, field.path)
    : fieldExists(jsonSchema, field.path)
  if (exists) return
  const names = field.path.filter((segment) => typeof segment === 'string')
  const close = renamed ?? nearest(String(field.path[missing]), allowed)
  // The relationship types before a field of linked records.
  const own = fieldName(field.path)
  const before = written.endsWith(own) ? written.slice(0, -own.length) : ''
  const meant =
    close === undefined ? undefined : (before + fieldName(field.path.with(missing, close))).slice(0, 160)
  const advice = renamed ? ` It is called ${renamed} now.` : meant ? ` Did you mean ${meant}?` : ''
  throw invalid({
    path: at,
    code: 'unknown_field',
    message: `The type has no property "${names.join('.').slice(0, 128)}", and its schema allows no additional properties.${advice}`,
    allowed: allowed.slice(0, 50),
    ...(meant && { hint: meant }),
  })
}

/** With hidden properties, the visible ones count as a closed schema; `data` as a whole is rejected. */
function within(visible: readonly string[], jsonSchema: unknown, path: FieldPath) {
  const [first] = path
  const isShown = typeof first === 'string' && visible.includes(first)
  return isShown ? fieldExists(jsonSchema, path) : { exists: false, allowed: [...visible] }
}
