/** Advice about conditions whose value the schema excludes: they are no fault, and find nothing. */

import { nearest } from '../../../contract/suggest.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { isScalar, typesAt, valuesAt } from '../../schema/json-schema/fields.ts'
import { nearProperty } from '../../schema/json-schema/misspelt-properties.ts'
import { type FieldContext, zoneOf } from './operand.ts'
import type { Condition, Filter } from './syntax-tree.ts'
import { isTime } from './value.ts'

/** Operators that compare with whole values, and whether each member of a list is one. */
const EQUAL: readonly string[] = ['eq', 'neq', 'in', 'not_in']
const MEMBERS: readonly string[] = ['has', 'has_any', 'has_all']
const COMPARED: readonly string[] = [...EQUAL, 'gt', 'gte', 'lt', 'lte']

/** Names the first value of a filter that no valid record has; null if there is none. */
export function adviseValues(filter: Filter<string> | null, type: FieldContext): string | null {
  if (!filter) return null
  if (filter.kind === 'condition') return filter.trusted ? null : adviseValue(filter, type)
  if (filter.kind === 'linked') return filter.end ? adviseValues(filter.of, filter.end.type) : null
  if (filter.kind === 'not') return adviseValues(filter.of, type)
  for (const each of filter.of) {
    const advice = adviseValues(each, type)
    if (advice) return advice
  }
  return null
}

function adviseValue({ field, op, value, name }: Condition<string>, type: FieldContext): string | null {
  const sent = Array.isArray(value) && op !== 'eq' && op !== 'neq' && op !== 'has' ? value : [value]
  const isInstant =
    field.kind === 'column'
      ? field.column === 'created_at' || field.column === 'updated_at'
      : zoneOf(field.path, type) !== null
  if (isInstant && COMPARED.includes(op)) {
    const wrong = sent.find((each) => typeof each === 'string' && !isTime(each))
    if (wrong !== undefined)
      return `${shown(wrong)} is not a time, so the condition on ${name} never matches. Write 2026-01-31 or 2026-01-31T09:30:00Z.`
  }
  if (field.kind === 'column') return null
  const path = EQUAL.includes(op) ? field.path : MEMBERS.includes(op) ? [...field.path, null] : null
  const allowed = path && valuesAt(type.jsonSchema, path)
  if (!allowed)
    return COMPARED.includes(op) ? adviseKind(sent, name, typesAt(type.jsonSchema, field.path)) : null
  const wrong = sent.find((each) => isScalar(each) && each !== null && !allowed.includes(each))
  return wrong === undefined ? null : adviseEnum(wrong, name, allowed)
}

/** Names the first property of a filter that the schema seems to name otherwise; for a filter that finds nothing. */
export function adviseNames(filter: Filter<string> | null, type: FieldContext): string | null {
  if (!filter) return null
  if (filter.kind === 'condition')
    return filter.trusted || filter.field.kind === 'column' ? null : adviseName(filter.field.path, type)
  if (filter.kind === 'linked') return filter.end ? adviseNames(filter.of, filter.end.type) : null
  for (const each of filter.kind === 'not' ? [filter.of] : filter.of) {
    const advice = adviseNames(each, type)
    if (advice) return advice
  }
  return null
}

/** Says which declared property is near to one that an open schema does not declare. */
export function adviseName(
  [name, ...below]: FieldPath,
  { jsonSchema, visible }: FieldContext,
): string | null {
  const near = typeof name === 'string' && !visible ? nearProperty(jsonSchema, name) : undefined
  if (near === undefined || typeof name !== 'string') return null
  return `The schema has no ${fieldName([name]).slice(0, 80)}. Did you mean ${fieldName([near, ...below]).slice(0, 160)}?`
}

/** Names the first value that is of no type of the field, and how it is written as one. */
function adviseKind(sent: readonly unknown[], name: string, types: readonly unknown[]): string | null {
  const kinds = types.map((type) => (type === 'integer' ? 'number' : String(type)))
  const wrong = sent.find((each) => isScalar(each) && each !== null && !kinds.includes(typeof each))
  if (kinds.length === 0 || wrong === undefined) return null
  const read = typeof wrong === 'string' ? wrong.trim() : String(wrong)
  const isMeant =
    (kinds.includes('number') && read !== '' && Number.isFinite(Number(read))) ||
    (kinds.includes('boolean') && (read === 'true' || read === 'false'))
  const meant = isMeant
    ? ` Did you mean ${read.slice(0, 64)}?`
    : kinds.includes('string')
      ? ` Did you mean ${shown(read)}?`
      : kinds.includes('array')
        ? ' A list that contains it is found with the operator "has".'
        : ''
  const only = kinds.filter((kind) => kind !== 'null').join(' or ')
  return `The schema allows no ${typeof wrong} in ${name}, only ${only}, and ${shown(wrong)} compares with none.${meant}`
}

/** Says which values a field has, and the nearest of them. */
export function adviseEnum(wrong: unknown, name: string, allowed: readonly unknown[]): string {
  const texts = allowed.filter((each) => typeof each === 'string')
  const close = typeof wrong === 'string' ? nearest(wrong, texts) : undefined
  const some = allowed.slice(0, LIMITS.advisedValues).map(shown).join(', ')
  const more = allowed.length > LIMITS.advisedValues ? ', …' : ''
  const meant = close === undefined ? '' : ` Did you mean ${shown(close)}?`
  return `The schema allows no ${shown(wrong)} in ${name}, only ${some}${more}.${meant}`
}

const shown = (value: unknown): string =>
  JSON.stringify(typeof value === 'string' ? value.slice(0, 64) : value)
