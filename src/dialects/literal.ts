import { DomainError } from '../foundation/errors.ts'
import { parseJson } from '../json/parse.ts'

/** Parses a JSON value; undefined for invalid JSON or a value that would lose precision. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch (thrown) {
    if (thrown instanceof DomainError) return undefined
    throw thrown
  }
}
