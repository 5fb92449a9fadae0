/** What `neq`, `not_in`, `is_null` and a value of null mean, by the operators that they negate. */
import type { Operator } from '../../../contract/operators.ts'

/** Operators that are not the negation of another. */
export type PositiveOperator = Exclude<Operator, 'neq' | 'not_in' | 'is_null'>

/** How a condition is made: of SQL, or of a syntax tree. */
type Parts<T> = {
  test(op: PositiveOperator, value: unknown): T
  not(of: T): T
  either(one: T, other: T): T
}

/**
 * Makes a condition of positive operators. `neq`, `not_in` and `is_null` are the exact negations of `eq`, `in`
 * and `is_not_null`; a missing value is null.
 */
export function withoutNegatedOperators<T>(
  { op, value }: { op: Operator; value: unknown },
  { test, not, either }: Parts<T>,
): T {
  const isNull = () => not(test('is_not_null', undefined))
  const equals = () => (value === null ? isNull() : test('eq', value))
  const isIn = () => {
    const values = value as unknown[]
    if (!values.includes(null)) return test('in', values)
    const others = values.filter((each) => each !== null)
    return either(isNull(), test('in', others))
  }
  switch (op) {
    case 'eq':
      return equals()
    case 'neq':
      return not(equals())
    case 'in':
      return isIn()
    case 'not_in':
      return not(isIn())
    case 'is_null':
      return isNull()
    default:
      return test(op, value)
  }
}
