import type { Operand } from './operand.ts'
import type { Parameters } from './parameters.ts'

/** The operand's place in the order of all values, as text that compares by byte; null when there is no value. */
export const keyOf = (operand: Operand, parameters: Parameters): string =>
  // A function's result has the collation of the database, whatever its body says.
  `(${keyFunction(operand, parameters)} COLLATE "C")`

function keyFunction(operand: Operand, parameters: Parameters): string {
  switch (operand.kind) {
    case 'json':
      return operand.zone === null
        ? `plinth.key(${operand.sql})`
        : `plinth.key(${operand.sql}, ${parameters.add(operand.zone)})`
    case 'instant':
      return `plinth.time_key(${operand.sql})`
    default:
      return `plinth.key(to_jsonb(${operand.sql}))`
  }
}

/** The least string, by code point, above all that start with the text; undefined when there is none. */
export function successor(text: string): string | undefined {
  const points = [...text].map((char) => char.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Surrogates are no characters of their own.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
