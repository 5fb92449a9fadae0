import { invalid } from '../../errors.ts'
import type { CompiledType } from '../compiled-type.ts'
import { fieldExists, formatAt } from '../json-schema/index.ts'
import type { Column, Field, FieldPath } from './field.ts'
import type { Condition, Filter } from './parse.ts'

/** Collects the values of a statement; each gets the next `$n`. */
export class Parameters {
  readonly values: unknown[] = []
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** The filter as a condition over `plinth.record`: two-valued, and every value bound. */
export function compileFilter(filter: Filter, type: CompiledType, parameters: Parameters): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.of.map((each) => compileFilter(each, type, parameters)).join(filter.kind === 'and' ? ' AND ' : ' OR ')})`
    case 'not':
      return `NOT ${compileFilter(filter.of, type, parameters)}`
    case 'condition':
      return `coalesce(${equality(filter, type, parameters)}, false)`
  }
}

function equality({ field, value, at }: Condition, type: CompiledType, parameters: Parameters): string {
  if (field.kind === 'column') return columnEquals(field.column, value, type.timezone, parameters)
  demandField(field, type, at)
  if (value === null)
    return `NOT ${onElements(field.path, parameters, (found) => `jsonb_typeof(coalesce(${found}, 'null'::jsonb)) <> 'null'`)}`
  const isInstant = ['date-time', 'date'].includes(formatAt(type.jsonSchema, field.path) ?? '')
  return onElements(field.path, parameters, (found) => {
    if (isInstant && typeof value === 'string') {
      const zone = parameters.add(type.timezone)
      return `plinth.instant(${found} #>> '{}', ${zone}) = plinth.instant(${parameters.add(value)}, ${zone})`
    }
    return `${found} = ${parameters.add(JSON.stringify(value))}::jsonb`
  })
}

/** Columns compare with their own type only; a value of another type matches nothing. */
function columnEquals(column: Column, value: unknown, zone: string, parameters: Parameters): string {
  const nullable = column === 'external_id' || column === 'external_source'
  if (value === null) return nullable ? `${column} IS NULL` : 'false'
  if (column === 'version')
    return typeof value === 'number' && Number.isSafeInteger(value)
      ? `version = ${parameters.add(value)}::bigint`
      : 'false'
  if (typeof value !== 'string') return 'false'
  if (column === 'status') {
    if (value !== 'active' && value !== 'cancelled') return 'false'
    return `cancelled_at IS ${value === 'active' ? '' : 'NOT '}NULL`
  }
  // Columns keep milliseconds, as they are shown.
  if (column === 'created_at' || column === 'updated_at')
    return `${column} = plinth.instant(${parameters.add(value)}, ${parameters.add(zone)})`
  return `${column} = ${parameters.add(value)}`
}

/** The test on the value at the path; with `[]` in it, on some element. */
function onElements(path: FieldPath, parameters: Parameters, test: (found: string) => string): string {
  const open: string[] = []
  let found = 'data'
  for (const segment of path) {
    if (segment === null) {
      const element = `e${open.length}`
      open.push(
        `jsonb_array_elements(CASE WHEN jsonb_typeof(${found}) = 'array' THEN ${found} END) AS ${element}`,
      )
      found = element
    } else if (typeof segment === 'number') {
      // The arrow would take a scalar for an array of one.
      const at = `jsonb_build_object('i', ${parameters.add(segment)}::int)`
      found = `jsonb_path_query_first(${found}, 'strict $[$i]', ${at}, true)`
    } else found = `${found} -> ${parameters.add(segment)}::text`
    found = `(${found})`
  }
  return open.length === 0 ? test(found) : `EXISTS (SELECT FROM ${open.join(', ')} WHERE ${test(found)})`
}

/** @throws VALIDATION_ERROR for a property that a closed schema does not have */
function demandField(field: Extract<Field, { kind: 'data' }>, type: CompiledType, at: string): void {
  const { exists, allowed } = fieldExists(type.jsonSchema, field.path)
  if (exists) return
  throw invalid({
    path: `${at}/field`,
    code: 'unknown_field',
    message: 'The type has no such property, and its schema takes no others.',
    allowed: allowed.slice(0, 50),
  })
}
