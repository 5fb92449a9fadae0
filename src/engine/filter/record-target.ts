import type { Column } from '../../record-columns.ts'
import type { Target } from './compile.ts'
import type { FieldPath } from './field.ts'
import { columnOperand, demandField, type FieldContext, type Operand, step, zoneOf } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition } from './parse.ts'

/** Filters over `plinth.record AS r`. @throws VALIDATION_ERROR for a field that a closed schema does not have */
export const recordTarget = (
  type: FieldContext,
  parameters: Parameters,
  search: (condition: Condition) => string,
): Target => targetOver<Column>(type, parameters, search, (column) => columnOperand(column, type))

/** The same over other rows `r` that have `data`, whose columns are the operands that `operandOf` makes. */
export function targetOver<C extends string>(
  type: FieldContext,
  parameters: Parameters,
  search: (condition: Condition<C>) => string,
  operandOf: (column: C) => Operand,
): Target<C> {
  return {
    parameters,
    search,
    reach({ field, at, trusted }, test) {
      if (field.kind === 'column') return test(operandOf(field.column))
      if (!trusted) demandField(field, type, `${at}/field`)
      return onElements(field.path, zoneOf(field.path, type), parameters, test)
    },
  }
}

/** The test on the value at the path; with `[]` in it, on some element. */
function onElements(
  path: FieldPath,
  zone: string | null,
  parameters: Parameters,
  test: (operand: Operand) => string,
): string {
  const open: string[] = []
  let found = 'r.data'
  for (const segment of path) {
    if (segment === null) {
      const element = `e${open.length}`
      open.push(
        `jsonb_array_elements(CASE WHEN jsonb_typeof(${found}) = 'array' THEN ${found} END) AS ${element}`,
      )
      found = element
    } else found = step(found, segment, parameters)
  }
  const tested = test({ kind: 'json', sql: found, zone })
  return open.length === 0 ? tested : `EXISTS (SELECT FROM ${open.join(', ')} WHERE ${tested})`
}
