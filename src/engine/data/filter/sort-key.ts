import type { Operand } from './operand.ts'
import type { Parameters } from './parameters.ts'

/**
 * The sort key of the operand: text whose byte order is the total order of values; null for a missing value.
 */
export const keyOf = (operand: Operand, parameters: Parameters): string =>
  // A function result has the database's default collation, so the byte order must be explicit.
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

/**
 * The upper bound of a prefix scan: the least string, by code point, above all that start with the text;
 * undefined without one.
 */
export function successor(text: string): string | undefined {
  const points = [...text].map((char) => char.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Skip the surrogate range, which holds no characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
