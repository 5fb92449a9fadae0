import { LIMITS } from '../foundation/limits.ts'
import { condition, type FilterAst, group, not, orUnclear, Unclear } from './filter-ast.ts'
import { comparison, literalOf, mirrored, type Operand, operand } from './infix-operands.ts'
import { Cursor } from './lexer.ts'

const MAX_DEPTH = 2 * LIMITS.filterDepth

/**
 * Parses infix conditions of SQL WHERE, PocketBase and OData.
 * @throws Unclear
 */
export function readInfix(text: string): FilterAst {
  const cursor = new Cursor(text.replace(/^where\s/i, '').replace(/;$/, ''))
  const draft = anyOf(cursor, 0)
  cursor.expectEnd()
  return draft
}

function anyOf(cursor: Cursor, depth: number): FilterAst {
  const parts = [allOf(cursor, depth)]
  while (cursor.skip('or', '||')) parts.push(allOf(cursor, depth))
  return group('or', parts)
}

function allOf(cursor: Cursor, depth: number): FilterAst {
  const parts = [one(cursor, depth)]
  while (cursor.skip('and', '&&')) parts.push(one(cursor, depth))
  return group('and', parts)
}

function one(cursor: Cursor, depth: number): FilterAst {
  if (depth > MAX_DEPTH) throw new Unclear()
  if (cursor.skip('not', '!')) return not(one(cursor, depth + 1))
  if (cursor.skip('(')) {
    const inner = anyOf(cursor, depth + 1)
    cursor.expect(')')
    return inner
  }
  return cursor.is(1, '(') ? call(cursor) : test(cursor)
}

/** OData text functions, such as `contains(name,'x')`. */
const CALLS = new Map([
  ['contains', '$substring'],
  ['startswith', '$startswith'],
  ['endswith', '$endswith'],
])

function call(cursor: Cursor): FilterAst {
  const word = orUnclear(CALLS.get(cursor.next().text.toLowerCase()))
  cursor.expect('(')
  const subject = nameOf(operand(cursor))
  cursor.expect(',')
  const value = literalOf(cursor)
  cursor.expect(')')
  return condition(subject, word, value)
}

const nameOf = ({ name }: Operand): string => orUnclear(name)

function test(cursor: Cursor): FilterAst {
  const left = operand(cursor)
  if (left.name === undefined) {
    const word = mirrored(cursor.next().text)
    return condition(nameOf(operand(cursor)), word, left.value)
  }
  if (cursor.skip('is')) return isTest(cursor, left.name)
  const negative = cursor.skip('not')
  const made = setTest(cursor, left.name)
  if (made) return negative ? negation(made) : made
  if (negative) throw new Unclear()
  return comparison(cursor, left.name)
}

/** Parses `IS NULL` and `IS NOT TRUE`. */
function isTest(cursor: Cursor, name: string): FilterAst {
  const negative = cursor.skip('not')
  const value = literalOf(cursor)
  if (value !== null && typeof value !== 'boolean') throw new Unclear()
  return condition(name, negative ? '$neq' : '$eq', value)
}

/** Parses the tests that NOT may precede: `IN (…)`, `BETWEEN … AND …`, `LIKE …`. */
function setTest(cursor: Cursor, name: string): FilterAst | undefined {
  if (cursor.skip('in')) {
    cursor.expect('(')
    const values = [literalOf(cursor)]
    while (cursor.skip(',')) values.push(literalOf(cursor))
    cursor.expect(')')
    return condition(name, '$in', values)
  }
  if (cursor.skip('between')) {
    const low = literalOf(cursor)
    cursor.expect('and')
    return condition(name, '$between', [low, literalOf(cursor)])
  }
  if (cursor.skip('like')) return condition(name, '$like', literalOf(cursor))
  return cursor.skip('ilike') ? condition(name, '$ilike', literalOf(cursor)) : undefined
}

const NEGATIONS = new Map([
  ['$in', '$notin'],
  ['$between', '$notbetween'],
  ['$like', '$notlike'],
  ['$ilike', '$notilike'],
])
const negation = (draft: FilterAst): FilterAst =>
  draft.kind === 'condition'
    ? condition(draft.name, NEGATIONS.get(draft.word) ?? '', draft.value)
    : not(draft)
