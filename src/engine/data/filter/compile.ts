/** Compiles a bound filter to SQL with bind parameters. */

import type { Column } from '../../../contract/record-columns.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { compare } from './compare.ts'
import { withoutNegatedOperators } from './negated-operators.ts'
import type { Operand } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { BoundFilter, Condition, Filter, Linked } from './syntax-tree.ts'

type Group<C extends string> = Extract<Filter<C>, { kind: 'and' | 'or' }>

/** The SQL of the fields that a filter tests. */
export type FilterOperands<C extends string = Column> = {
  /** Calls `test` with the operand of the condition: once, or per element for a path with `[]`. */
  withOperand(condition: Condition<C>, test: (operand: Operand) => string): string
  /** Compiles a condition on linked records; records have them. */
  linked?(condition: Linked): string
  /** Compiles a search condition. */
  search(condition: Condition<C>): string
  parameters: Parameters
  /** The array whose elements the condition tests, if its path has `[]`. */
  arrayOf?(condition: Condition<C>): FieldPath | undefined
  /** Compiles conditions on one array with shared operands, so that its elements are expanded once. */
  overArray?(path: FieldPath, compile: (operands: FilterOperands<C>) => string): string
}

/** Compiles the filter to SQL: true for a match, else false or null. Every value is a bind parameter. */
export const compileFilter = <C extends string>(
  filter: BoundFilter<C>,
  operands: FilterOperands<C>,
): string => compileNode(filter, operands)

function compileNode<C extends string>(filter: Filter<C>, operands: FilterOperands<C>): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = compileParts(filter, operands)
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return negated(compileNode(filter.of, operands))
    case 'linked':
      if (!operands.linked) throw new Error('These rows have no links')
      return operands.linked(filter)
    case 'condition':
      return compileCondition(filter, operands)
  }
}

/**
 * Compiles the parts of a group. Conditions on one array are compiled together: separately, each would keep a
 * copy of the array until the statement ends.
 */
function compileParts<C extends string>(filter: Group<C>, operands: FilterOperands<C>): string[] {
  const arrays = Map.groupBy(filter.of, (each) => keyOf(arrayOf(each, operands)))
  return [...arrays].flatMap(([key, parts]) => {
    const [first] = parts
    const path = first && key !== undefined ? arrayOf(first, operands) : undefined
    const isShared = parts.length > 1 || first?.kind === 'and' || first?.kind === 'or'
    return path && operands.overArray && isShared
      ? [operands.overArray(path, (inner) => compileNode({ kind: filter.kind, of: parts }, inner))]
      : parts.map((each) => compileNode(each, operands))
  })
}

/** The one array that all conditions of the filter test; undefined otherwise. */
function arrayOf<C extends string>(filter: Filter<C>, operands: FilterOperands<C>): FieldPath | undefined {
  if (filter.kind === 'condition') return filter.op === 'search' ? undefined : operands.arrayOf?.(filter)
  if (filter.kind === 'linked') return undefined
  if (filter.kind === 'not') return arrayOf(filter.of, operands)
  const paths = filter.of.map((each) => arrayOf(each, operands))
  const [first] = paths
  return paths.every((path) => keyOf(path) === keyOf(first)) ? first : undefined
}

const keyOf = (path: FieldPath | undefined) => (path === undefined ? undefined : JSON.stringify(path))

const compileCondition = <C extends string>(condition: Condition<C>, operands: FilterOperands<C>): string =>
  withoutNegatedOperators(condition, {
    test: (op, value) =>
      op === 'search'
        ? operands.search(condition)
        : operands.withOperand(condition, (operand) => compare(operand, op, value, operands.parameters)),
    not: negated,
    either: (one, other) => `(${one} OR ${other})`,
  })

/** Negation in two-valued logic: null counts as false. */
const negated = (condition: string): string => `NOT coalesce(${condition}, false)`

/** Whether the filter has a search condition on the rows themselves. */
export function usesSearch(filter: Filter<string>): boolean {
  if (filter.kind === 'condition') return filter.op === 'search'
  if (filter.kind === 'linked') return false
  return filter.kind === 'not' ? usesSearch(filter.of) : filter.of.some(usesSearch)
}
