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
