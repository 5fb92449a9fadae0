/** The statement that finds the changes that meet conditions. */
import type { Column } from '../../../contract/record-columns.ts'
import { namedFilter } from '../../data/filter/bind.ts'
import { type ChangeColumn, type ChangeCondition, PREVIOUS } from '../../data/filter/change-condition.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { columnOperand, type FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import { operandsOver } from '../../data/filter/record-operands.ts'
import { searchOver } from '../../data/filter/search-condition.ts'
import { recordsWithPrevious } from './point-in-time-statements.ts'

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
