import { condition, Doubt, type Draft, not } from './draft.ts'
import { fieldOfKey, isField } from './fields.ts'
import type { Cursor, Token } from './lexer.ts'
import { bareValue, numberIn } from './literal.ts'
import { isOperatorWord } from './operators.ts'

/** One side of a comparison: the name of a field, or a value. */
export type Operand = { name: string; value?: undefined } | { name?: undefined; value: unknown }

const LITERALS = new Set(['true', 'false', 'null'])
const isLiteral = ({ kind, text }: Token): boolean => kind === 'name' && LITERALS.has(text.toLowerCase())

/** What stands before a sign. There, double quotes make a name. @throws Doubt */
export function operand(cursor: Cursor): Operand {
  const { kind, text } = cursor.peek()
  if (kind === 'string' || kind === 'number' || isLiteral(cursor.peek())) return { value: literalOf(cursor) }
  cursor.next()
  if (kind === 'quoted') return { name: isField(text) ? text : fieldOfKey(text) }
  if (kind === 'braced') return { name: text }
  if (kind !== 'name') throw new Doubt()
  return { name: arrows(cursor, text) }
}

/** The name with PostgreSQL's steps into JSON: `data->'address'->>'city'`. */
function arrows(cursor: Cursor, name: string): string {
  let path = name
  while (cursor.skip('->', '->>')) {
    const { kind, text } = cursor.next()
    if (kind === 'number' && /^\d+$/.test(text)) path += `[${text}]`
    else if (kind === 'string') path += fieldOfKey(text).slice(fieldOfKey(text).startsWith('data') ? 4 : 0)
    else throw new Doubt()
  }
  return path
}

/** What stands after a sign. There, double quotes make a text. @throws Doubt for anything but a value */
export function literalOf(cursor: Cursor): unknown {
  const token = cursor.next()
  if (token.kind === 'string') return token.text
  if (token.kind === 'quoted') return token.text
  if (token.kind === 'number') return numberIn(token.text)
  if (isLiteral(token)) return bareValue(token.text.toLowerCase())
  throw new Doubt()
}

/** Reads an operator, as a sign or a word, and its value. @throws Doubt */
export function comparison(cursor: Cursor, name: string): Draft {
  const { kind, text } = cursor.next()
  const value = literalOf(cursor)
  if (text === '~') return part(name, value)
  if (text === '!~') return not(part(name, value))
  if ((kind !== 'sign' && kind !== 'name') || !isOperatorWord(text)) throw new Doubt()
  return condition(name, `$${text}`, value)
}

/** PocketBase's `~`: a part of the text in any case, or a pattern where it has `%`. In PostgreSQL it is a regular expression. */
function part(name: string, value: unknown): Draft {
  if (typeof value !== 'string' || /[\\^$.*+?()[\]{}|]/.test(value)) throw new Doubt()
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

/** The operator with its sides changed over: `5 < area` is `area > 5`. @throws Doubt */
export function mirrored(sign: string): string {
  const word = MIRROR.get(sign)
  if (word === undefined) throw new Doubt()
  return word
}
