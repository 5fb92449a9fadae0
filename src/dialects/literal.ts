import { DomainError } from '../foundation/errors.ts'
import { parseJson } from '../json/parse.ts'
import { Unclear } from './filter-ast.ts'

/** Parses a JSON value; undefined for invalid JSON or a value that would lose precision. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch (thrown) {
    if (thrown instanceof DomainError) return undefined
    throw thrown
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/**
 * Parses a number.
 * @throws Unclear for one that a double does not preserve
 */
export function numberIn(text: string): number {
  const value = jsonIn(text)
  if (typeof value !== 'number') throw new Unclear()
  return value
}

/**
 * Parses an unquoted value, as in a URL or form: a number, true, false, null, or else text.
 * @throws Unclear
 */
export function bareValue(text: string): unknown {
  if (NUMBER.test(text)) return numberIn(text)
  return WORDS.has(text) ? WORDS.get(text) : text
}
