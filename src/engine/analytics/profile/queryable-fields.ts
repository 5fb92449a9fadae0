import { type FieldContext, zoneOf } from '../../data/filter/operand.ts'
import { fieldName } from '../../schema/compiled-types/field-path.ts'
import { fieldExists } from '../../schema/json-schema/fields.ts'
import type { Candidate } from './examples.ts'
import type { Declared } from './schema-fields.ts'
import { isShort, type Summary, type Value } from './summary.ts'
import type { Scalar } from './value-stats.ts'

const KINDS: Readonly<Record<string, Candidate['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

/** Selects queryable fields from the sampled data; `declared` supplies which fields have an enum. */
export function candidatesFrom(
  summaries: readonly Summary[],
  type: FieldContext,
  declared: readonly Declared[],
): Candidate[] {
  const listed = new Set(declared.filter(isListed).map(({ path }) => fieldName(path)))
  return summaries.flatMap(({ profile, path, values }) => {
    // Stored records may predate the schema and have fields that it no longer allows.
    if (profile.top.length === 0 || !fieldExists(type.jsonSchema, path).exists) return []
    const isTime = zoneOf(path, type) !== null
    const usable = values.filter(({ value, instant }) => (isTime ? instant !== null : value !== ''))
    const common = profile.top.find(({ value }) => usable.some((each) => each.value === value))?.value
    if (common === undefined) return []
    const kind = isTime ? 'time' : (KINDS[typeof common] ?? null)
    const { field, nullShare, distinct } = profile
    const all = values.reduce((sum, { count }) => sum + count, 0)
    const share = (profile.top[0]?.count ?? 0) / all
    const middle = middleOf(usable, common)
    const isOfList = listed.has(field)
    return [
      { field, path, kind, isListed: isOfList, nullShare: nullShare ?? 0, distinct, share, common, middle },
    ]
  })
}

/**
 * The median value of one type, or a common one if the median is too long. Booleans have no order in filters.
 */
function middleOf(values: readonly Value[], common: Scalar): Scalar | undefined {
  if (typeof common === 'boolean') return undefined
  const alike = values.filter(({ value }) => typeof value === typeof common)
  const middle = alike[Math.floor(alike.length / 2)]?.value
  return middle !== undefined && isShort(middle) ? middle : common
}

const isListed = ({ schema }: Declared) => Array.isArray(schema['enum'])

/** Selects queryable fields from the schema alone, for a type without records. */
export function candidatesDeclared(declared: readonly Declared[], type: FieldContext): Candidate[] {
  return declared.map(({ path, schema }) => {
    const isTime = zoneOf(path, type) !== null
    const listed = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : []
    const first = listed.find((value) => typeof value === 'string')
    const types = [schema['type']].flat().filter((each) => each !== 'null')
    const kind = isTime ? 'time' : first !== undefined ? 'text' : (KINDS[String(types[0])] ?? null)
    return {
      field: fieldName(path),
      path,
      kind,
      isListed: listed.length > 0,
      nullShare: 0,
      distinct: listed.length,
      share: 0,
      common: isTime ? undefined : first,
      middle: undefined,
    }
  })
}
