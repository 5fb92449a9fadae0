import { DomainError } from '../foundation/errors.ts'
import { parseJson } from '../json/index.ts'
import { Doubt } from './draft.ts'

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON value that a text holds; undefined where it holds none, or one that could not be kept as it is. */
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

/** The number a text spells. @throws Doubt for one that would change in a double */
export function numberIn(text: string): number {
  const value = jsonIn(text)
  if (typeof value !== 'number') throw new Doubt()
  return value
}

/** A value written without quotes, as a URL or a form does: a number, true, false, null, or else text. @throws Doubt */
export function bareValue(text: string): unknown {
  if (NUMBER.test(text)) return numberIn(text)
  return WORDS.has(text) ? WORDS.get(text) : text
}
