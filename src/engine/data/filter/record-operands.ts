import type { Column } from '../../../contract/record-columns.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import type { FilterOperands } from './compile.ts'
import { columnOperand, type FieldContext, type Operand, step, zoneOf } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition } from './syntax-tree.ts'

/** Operands of `plinth.record AS r`. */
export const recordOperands = (
  type: FieldContext,
  parameters: Parameters,
  search: (condition: Condition) => string,
): FilterOperands => operandsOver<Column>(type, parameters, search, (column) => columnOperand(column, type))

/**
 * Operands of other rows `r` with `data`, and `p` where fields may be of the previous row; `operandOf` maps
 * their columns.
 */
export function operandsOver<C extends string>(
  type: FieldContext,
  parameters: Parameters,
  search: (condition: Condition<C>) => string,
  operandOf: (column: C) => Operand,
): FilterOperands<C> {
  return {
    parameters,
    search,
    withOperand({ field }, test) {
      if (field.kind === 'column') return test(operandOf(field.column))
      const row = field.of === 'previous' ? 'p' : 'r'
      return onElements(field.path, zoneOf(field.path, type), parameters, test, row)
    },
    arrayOf: ({ field }) => (field.kind === 'data' && !field.of ? arrayIn(field.path) : undefined),
    overArray: (path, compile) => {
      const { value, elements } = open(path, parameters)
      const condition = compile({
        parameters,
        search,
        withOperand({ field }, test) {
          const whole = field.kind === 'data' ? field.path : []
          const rest = whole.slice(path.length)
          const found = rest.reduce<string>((at, segment) => step(at, segment ?? 0, parameters), value)
          // Null without elements; a filter treats null as false.
          return `bool_or(${test({ kind: 'json', sql: found, zone: zoneOf(whole, type) })})`
        },
      })
      return `(SELECT ${condition} FROM ${elements})`
    },
  }
}

/** The path up to and including its last `[]`. */
function arrayIn(path: FieldPath): FieldPath | undefined {
  const last = path.lastIndexOf(null)
  return last < 0 ? undefined : path.slice(0, last + 1)
}

/** Applies the test to the value at the path; with `[]`, to any element. */
function onElements(
  path: FieldPath,
  zone: string | null,
  parameters: Parameters,
  test: (operand: Operand) => string,
  row: string,
): string {
  const { value, elements } = open(path, parameters, row)
  const tested = test({ kind: 'json', sql: value, zone })
  return elements === '' ? tested : `EXISTS (SELECT FROM ${elements} WHERE ${tested})`
}

/** The SQL of a value at a path, and the set-returning expressions that expand its `[]`. */
function open(path: FieldPath, parameters: Parameters, row = 'r'): { value: string; elements: string } {
  const opened: string[] = []
  let value = `${row}.data`
  for (const segment of path) {
    if (segment === null) {
      const element = `e${opened.length}`
      opened.push(
        `jsonb_array_elements(CASE WHEN jsonb_typeof(${value}) = 'array' THEN ${value} END) AS ${element}`,
      )
      value = element
    } else value = step(value, segment, parameters)
  }
  return { value, elements: opened.join(', ') }
}
