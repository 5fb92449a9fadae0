/** Limits of the conditions in a path, so that the cost of one does not depend on the size of the payload. */
import { type JSONPathQuery, jsonpath } from 'json-p3'
import { compilePattern, PatternError } from '../json-schema/pattern.ts'

/** A path that cannot be used, and why. */
export class PathFault extends Error {}

const { FilterSelector } = jsonpath.selectors
const {
  LogicalExpression,
  PrefixExpression,
  InfixExpression,
  FunctionExtension,
  FilterQuery,
  StringLiteral,
} = jsonpath.expressions
type Expression = jsonpath.expressions.FilterExpression

/** @throws PathFault */
export function checkFilters(query: JSONPathQuery): void {
  for (const { selectors } of query.segments)
    for (const selector of selectors) if (selector instanceof FilterSelector) check(selector.expression)
}

function check(expression: Expression): void {
  if (expression instanceof LogicalExpression) check(expression.expression)
  else if (expression instanceof PrefixExpression) check(expression.right)
  else if (expression instanceof InfixExpression) {
    check(expression.left)
    check(expression.right)
  } else if (expression instanceof FilterQuery) checkQuery(expression.path)
  else if (expression instanceof FunctionExtension) {
    for (const each of expression.args) check(each)
    if (expression.name === 'match' || expression.name === 'search') checkPattern(expression.args[1])
  }
}

function checkQuery(path: JSONPathQuery): void {
  if (!path.singularQuery())
    throw new PathFault(
      'In a condition, a path names one place: @.key, @.tags[0]. Leave "*", ".." and slices out.',
    )
}

function checkPattern(pattern: Expression | undefined): void {
  if (!(pattern instanceof StringLiteral))
    throw new PathFault('The pattern of match() and search() is a text in quotes.')
  try {
    compilePattern(pattern.value)
  } catch (thrown) {
    if (!(thrown instanceof PatternError)) throw thrown
    throw new PathFault(`The pattern cannot be used: ${thrown.message}.`)
  }
}
