import { fieldOfKey, isField } from './fields.ts'
import { condition, type FilterAst, not, Unclear } from './filter-ast.ts'
import type { Cursor, Token } from './lexer.ts'
import { bareValue, numberIn } from './literal.ts'
import { isOperatorWord } from './operators.ts'

/** An operand of a comparison: a field name or a value. */
export type Operand = { name: string; value?: undefined } | { name?: undefined; value: unknown }

const LITERALS = new Set(['true', 'false', 'null'])
const isLiteral = ({ kind, text }: Token): boolean => kind === 'name' && LITERALS.has(text.toLowerCase())

/**
 * Parses the left operand, where double quotes delimit a name.
 * @throws Unclear
 */
export function operand(cursor: Cursor): Operand {
  const { kind, text } = cursor.peek()
  if (kind === 'string' || kind === 'number' || isLiteral(cursor.peek())) return { value: literalOf(cursor) }
  cursor.next()
  if (kind === 'quoted') return { name: isField(text) ? text : fieldOfKey(text) }
  if (kind === 'braced') return { name: text }
  if (kind !== 'name') throw new Unclear()
  return { name: arrows(cursor, text) }
}

/** Parses PostgreSQL's JSON operators in a name: `data->'address'->>'city'`. */
function arrows(cursor: Cursor, name: string): string {
  let path = name
  while (cursor.skip('->', '->>')) {
    const { kind, text } = cursor.next()
    if (kind === 'number' && /^\d+$/.test(text)) path += `[${text}]`
    else if (kind === 'string') path += fieldOfKey(text).slice(fieldOfKey(text).startsWith('data') ? 4 : 0)
    else throw new Unclear()
  }
  return path
}

/**
 * Parses the right operand, where double quotes delimit a text.
 * @throws Unclear for anything but a value
 */
export function literalOf(cursor: Cursor): unknown {
  const token = cursor.next()
  if (token.kind === 'string') return token.text
  if (token.kind === 'quoted') return token.text
  if (token.kind === 'number') return numberIn(token.text)
  if (isLiteral(token)) return bareValue(token.text.toLowerCase())
  throw new Unclear()
}

/**
 * Parses an operator, as a symbol or word, and its value.
 * @throws Unclear
 */
export function comparison(cursor: Cursor, name: string): FilterAst {
  const { kind, text } = cursor.next()
  const value = literalOf(cursor)
  if (text === '~') return part(name, value)
  if (text === '!~') return not(part(name, value))
  if ((kind !== 'sign' && kind !== 'name') || !isOperatorWord(text)) throw new Unclear()
  return condition(name, `$${text}`, value)
}

/**
 * PocketBase's `~`: case-insensitive containment, or a pattern if it has `%`. In PostgreSQL it is a regular
 * expression.
 */
function part(name: string, value: unknown): FilterAst {
  if (typeof value !== 'string' || /[\\^$.*+?()[\]{}|]/.test(value)) throw new Unclear()
  return value.includes('%') ? condition(name, '$ilike', value) : condition(name, '$icontains', value)
}

const MIRROR = new Map([
  ['=', '$eq'],
  ['==', '$eq'],
  ['!=', '$neq'],
  ['<>', '$neq'],
  ['<', '$gt'],
  ['<=', '$gte'],
  ['>', '$lt'],
  ['>=', '$lte'],
])

/**
 * Mirrors a comparison operator: `5 < area` is `area > 5`.
 * @throws Unclear
 */
export function mirrored(sign: string): string {
  const word = MIRROR.get(sign)
  if (word === undefined) throw new Unclear()
  return word
}
