/** Conditions on changes of records: the filter language, with `previous.` for the record before the change. */

import { COLUMN_TYPES, type Column } from '../../../contract/record-columns.ts'
import { invalid } from '../../../foundation/errors.ts'
import { type Field, parseField } from '../../schema/compiled-types/field-path.ts'
import { bindFilter } from './check-fields.ts'
import type { FieldContext } from './operand.ts'
import { type Fields, parseFilter } from './parse.ts'
import type { Filter } from './syntax-tree.ts'

type PreviousColumn = `previous.${Column}`
export type ChangeColumn = Column | PreviousColumn
export type ChangeCondition = Filter<ChangeColumn>

export const PREVIOUS = 'previous.'

const FIELDS: Fields<ChangeColumn> = {
  read: (text, at) => {
    if (typeof text !== 'string' || !text.startsWith(PREVIOUS)) return parseField(text, at)
    const field = parseField(text.slice(PREVIOUS.length), at)
    return field.kind === 'column'
      ? { kind: 'column', column: `previous.${field.column}` }
      : { ...field, of: 'previous' }
  },
  types: {
    ...COLUMN_TYPES,
    ...(Object.fromEntries(
      Object.entries(COLUMN_TYPES).map(([name, type]) => [PREVIOUS + name, type]),
    ) as Record<PreviousColumn, (typeof COLUMN_TYPES)[Column]>),
  },
}

/**
 * Parses a condition on changes.
 * @throws VALIDATION_ERROR
 */
export function parseChangeCondition(raw: unknown, at: string): ChangeCondition {
  const condition = parseFilter(raw, at, FIELDS)
  refuseSearchOfPrevious(condition)
  return condition
}

/** A search reads the words of a record, which are those of its present state. */
function refuseSearchOfPrevious(filter: ChangeCondition): void {
  if (filter.kind === 'linked') return
  if (filter.kind !== 'condition') {
    for (const each of filter.kind === 'not' ? [filter.of] : filter.of) refuseSearchOfPrevious(each)
    return
  }
  if (filter.op !== 'search' || !isPrevious(filter.field)) return
  throw invalid({
    path: `${filter.at}/op`,
    code: 'operator_mismatch',
    message: '"search" cannot be used on the previous state. Use "ilike", or search the record.',
    received: 'search',
  })
}

const isPrevious = (field: Field<ChangeColumn>): boolean =>
  field.kind === 'data' ? field.of === 'previous' : field.column.startsWith(PREVIOUS)

/** Of records of any type: what holds for the fields that all of them have. */
export const ANY_TYPE: FieldContext = { jsonSchema: {}, timezone: 'UTC' }

/**
 * Checks the fields of a condition against a record type, or null for any.
 * @throws VALIDATION_ERROR for a field that the type cannot have
 */
export const checkChangeCondition = (condition: ChangeCondition, type: FieldContext | null): void =>
  void bindFilter(condition, type ?? ANY_TYPE)
