import type { Column } from '../../record-columns.ts'
import { compare, type Test } from './compare.ts'
import type { Operand } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition, Filter } from './parse.ts'

/** What a filter is compiled against. */
export type Target<C extends string = Column> = {
  /** Calls the test with what the condition's field holds: once, or on some element for a path with `[]`. */
  reach(condition: Condition<C>, test: (operand: Operand) => string): string
  /** The condition of a search. */
  search(condition: Condition<C>): string
  parameters: Parameters
}

/** The filter as SQL: true for what matches, false or null for the rest. Every value is bound. */
export function compileFilter<C extends string>(filter: Filter<C>, target: Target<C>): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.of.map((each) => compileFilter(each, target))
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return negated(compileFilter(filter.of, target))
    case 'condition':
      return compileCondition(filter, target)
  }
}

/** `neq`, `not_in` and `is_null` are the exact negations of `eq`, `in` and `is_not_null`; null is what is missing. */
function compileCondition<C extends string>(condition: Condition<C>, target: Target<C>): string {
  const { op, value } = condition
  const test = (how: Test, against: unknown = value) =>
    target.reach(condition, (operand) => compare(operand, how, against, target.parameters))
  const isNull = () => negated(test('is_not_null'))
  const equals = () => (value === null ? isNull() : test('eq'))
  const isIn = () => {
    const values = value as unknown[]
    if (!values.includes(null)) return test('in')
    const others = values.filter((each) => each !== null)
    return `(${isNull()} OR ${test('in', others)})`
  }
  switch (op) {
    case 'search':
      return target.search(condition)
    case 'eq':
      return equals()
    case 'neq':
      return negated(equals())
    case 'in':
      return isIn()
    case 'not_in':
      return negated(isIn())
    case 'is_null':
      return isNull()
    default:
      return test(op)
  }
}

/** True for all that the condition is not true for. */
const negated = (condition: string): string => `NOT coalesce(${condition}, false)`

/** Is there a search anywhere in it? */
export function holdsSearch(filter: Filter<string>): boolean {
  if (filter.kind === 'condition') return filter.op === 'search'
  return filter.kind === 'not' ? holdsSearch(filter.of) : filter.of.some(holdsSearch)
}
