/** Conditions on changes of records: the filter language, with `previous.` for the record before the change. */

import { COLUMN_TYPES, type Column } from '../../contract/record-columns.ts'
import { invalid } from '../../foundation/errors.ts'
import { type Field, parseField } from '../compiled-types/field-path.ts'
import { bindFilter, namedFilter } from '../filter/bind.ts'
import { compileFilter } from '../filter/compile.ts'
import { columnOperand, type FieldContext } from '../filter/operand.ts'
import { type BoundStatement, Parameters } from '../filter/parameters.ts'
import { type Fields, parseFilter } from '../filter/parse.ts'
import { operandsOver } from '../filter/record-operands.ts'
import { searchOver } from '../filter/search-condition.ts'
import type { Filter } from '../filter/syntax-tree.ts'
import { recordsWithPrevious } from './point-in-time-statements.ts'

type PreviousColumn = `previous.${Column}`
type ChangeColumn = Column | PreviousColumn
export type ChangeCondition = Filter<ChangeColumn>

const PREVIOUS = 'previous.'

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
const ANY_TYPE: FieldContext = { jsonSchema: {}, timezone: 'UTC' }

/**
 * Checks the fields of a condition against a record type, or null for any.
 * @throws VALIDATION_ERROR for a field that the type cannot have
 */
export const checkChangeCondition = (condition: ChangeCondition, type: FieldContext | null): void =>
  void bindFilter(condition, type ?? ANY_TYPE)

/**
 * Statement that finds which of the entries `seqs` are of the record type and meet one of the conditions: `met` says
 * for each condition, in their order, whether the entry meets it.
 */
export function matchingChanges(
  conditions: readonly ChangeCondition[],
  {
    baseId,
    recordType,
    type,
    seqs,
  }: { baseId: string; recordType: string; type: FieldContext; seqs: readonly number[] },
): BoundStatement {
  const parameters = new Parameters()
  const operandOf = (column: ChangeColumn) =>
    column.startsWith(PREVIOUS)
      ? columnOperand(column.slice(PREVIOUS.length) as Column, type, 'p')
      : columnOperand(column as Column, type)
  // Declared indexes are of present records.
  const searched = { ...type, indexes: [] }
  const search = searchOver<ChangeColumn>(baseId, searched, parameters, () => {}, operandOf)
  const operands = operandsOver<ChangeColumn>(type, parameters, search, operandOf)
  const entries = recordsWithPrevious({ base: parameters.add(baseId), seqs: parameters.add(seqs) })
  // The fields were checked when the trigger was stored. A type that has changed since has null in their place.
  const compiled = conditions.map((condition) => `(${compileFilter(namedFilter(condition), operands)})`)
  const ofType = `r.record_type = ${parameters.add(recordType)}`
  return parameters.bind(
    `SELECT seq, met FROM (
       SELECT r.seq::float8 AS seq, ARRAY[${compiled.join(', ')}] AS met FROM ${entries} WHERE ${ofType}) m
     WHERE true = ANY (met) ORDER BY seq`,
  )
}
