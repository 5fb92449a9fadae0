import { LIMITS } from '../foundation/limits.ts'
import { condition, type FilterAst, group, not, Unclear } from './filter-ast.ts'
import { mirrored } from './infix-operands.ts'
import { Cursor } from './lexer.ts'
import { numberIn } from './literal.ts'
import { isOperatorWord } from './operators.ts'

const MAX_DEPTH = 2 * LIMITS.filterDepth

/** An expression of a formula: a field, a value, `BLANK()`, or a test, such as a FIND result. */
type Part =
  | { kind: 'field'; name: string; braced: boolean }
  | { kind: 'value'; value: unknown }
  | { kind: 'blank' }
  | { kind: 'test'; draft: FilterAst; place: boolean }

/**
 * Parses an Airtable formula: `AND({region}='Europe', NOT({area}<1000))`.
 * @throws Unclear
 */
export function readFormula(text: string): FilterAst {
  const cursor = new Cursor(text.replace(/^=/, ''))
  const draft = test(cursor, 0)
  cursor.expectEnd()
  return draft
}

function test(cursor: Cursor, depth: number): FilterAst {
  const left = part(cursor, depth)
  const { kind, text } = cursor.peek()
  if (kind !== 'sign' || !isOperatorWord(text)) {
    // A bare field is a truthiness test that depends on its type, which is unknown here.
    if (left.kind !== 'test') throw new Unclear()
    return left.draft
  }
  cursor.next()
  return compare(left, text, part(cursor, depth))
}

function compare(left: Part, sign: string, right: Part): FilterAst {
  if (left.kind === 'test') return place(left, sign, right)
  if (left.kind !== 'field') {
    if (right.kind !== 'field') throw new Unclear()
    return compare(right, mirrored(sign), left)
  }
  if (right.kind === 'blank') return condition(left.name, `$${sign}`, null)
  if (right.kind !== 'value') throw new Unclear()
  if (right.value !== '') return condition(left.name, `$${sign}`, right.value)
  // Airtable does not distinguish an empty text from an empty cell; a name without braces may be SQL, which
  // does.
  if (!left.braced) throw new Unclear()
  if (['=', '$eq'].includes(sign)) return condition(left.name, '$isempty')
  if (['!=', '$neq'].includes(sign)) return condition(left.name, '$isnotempty')
  throw new Unclear()
}

/** Parses `FIND('x', {name}) > 0` as a containment test. */
function place(left: Extract<Part, { kind: 'test' }>, sign: string, right: Part): FilterAst {
  const test = right.kind === 'value' ? `${sign}${String(right.value)}` : ''
  if (left.place && ['>0', '>=1', '!=0'].includes(test)) return left.draft
  if (left.place && ['=0', '<1'].includes(test)) return not(left.draft)
  throw new Unclear()
}

function part(cursor: Cursor, depth: number): Part {
  if (depth > MAX_DEPTH) throw new Unclear()
  if (cursor.is(1, '(') && cursor.peek().kind === 'name') return call(cursor, depth + 1)
  if (cursor.skip('(')) {
    const draft = test(cursor, depth + 1)
    cursor.expect(')')
    return { kind: 'test', draft, place: false }
  }
  const { kind, text } = cursor.next()
  if (kind === 'braced' || kind === 'name') return { kind: 'field', name: text, braced: kind === 'braced' }
  if (kind === 'string' || kind === 'quoted') return { kind: 'value', value: text }
  if (kind === 'number') return { kind: 'value', value: numberIn(text) }
  throw new Unclear()
}

function call(cursor: Cursor, depth: number): Part {
  const word = cursor.next().text.toUpperCase()
  cursor.expect('(')
  if (word === 'AND' || word === 'OR' || word === 'NOT') {
    const parts = [test(cursor, depth)]
    while (cursor.skip(',')) parts.push(test(cursor, depth))
    cursor.expect(')')
    if (word !== 'NOT') return asTest(group(word === 'AND' ? 'and' : 'or', parts))
    if (parts.length > 1) throw new Unclear()
    return asTest(not(group('and', parts)))
  }
  const parts: Part[] = []
  while (!cursor.skip(')')) {
    if (parts.length > 0) cursor.expect(',')
    parts.push(part(cursor, depth))
  }
  return applied(word, parts)
}

const asTest = (draft: FilterAst, place = false): Part => ({ kind: 'test', draft, place })

/**
 * Translates functions with an equivalent.
 * @throws Unclear for any other
 */
function applied(word: string, [first, second, ...more]: readonly Part[]): Part {
  if (first === undefined) {
    if (word === 'BLANK') return { kind: 'blank' }
    if (word === 'TRUE' || word === 'FALSE') return { kind: 'value', value: word === 'TRUE' }
  }
  if (second === undefined || more.length > 0) throw new Unclear()
  if (first?.kind === 'value' && typeof first.value === 'string' && second.kind === 'field') {
    if (word === 'FIND') return asTest(condition(second.name, '$substring', first.value), true)
    if (word === 'SEARCH') return asTest(condition(second.name, '$icontains', first.value), true)
  }
  if (first?.kind === 'field' && second.kind === 'value' && typeof second.value === 'string') {
    if (word === 'IS_BEFORE') return asTest(condition(first.name, '$lt', second.value))
    if (word === 'IS_AFTER') return asTest(condition(first.name, '$gt', second.value))
  }
  throw new Unclear()
}
