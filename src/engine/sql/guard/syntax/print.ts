import type { SelectStmt } from '@pgsql/types'
import { nextTurn, turnIsOver } from '../../../../foundation/event-loop-turns.ts'
import type { Parser } from './parse-statement.ts'
import type { Source } from './source-map.ts'

/**
 * Prints a checked tree to the only text that is executed. The text is parsed again and must give the same
 * tree, as a defense against printer errors.
 * @throws VALIDATION_ERROR otherwise
 */
export async function print(parser: Parser, statement: SelectStmt, source: Source): Promise<string> {
  if (turnIsOver()) await nextTurn()
  const text = printed(parser, statement)
  if (turnIsOver()) await nextTurn()
  const again = text === undefined ? undefined : parsed(parser, text)
  if (turnIsOver()) await nextTurn()
  if (text !== undefined && isSame(again, { SelectStmt: statement })) return text
  throw source.fault(
    'unsupported',
    'This combination of SQL constructs is not supported. Rewrite the statement.',
  )
}

function printed(parser: Parser, statement: SelectStmt): string | undefined {
  try {
    return parser.print(statement)
  } catch {
    // A node that the printer does not support is rejected like a wrong print.
    return undefined
  }
}

function parsed(parser: Parser, text: string): unknown {
  try {
    const statements = parser.parse(text)
    return statements.length === 1 ? statements[0] : undefined
  } catch {
    return undefined
  }
}

/** Position fields, which differ between a tree and its reparsed print. */
const PLACES = /^(location|list_start|list_end|rexpr_list_start|rexpr_list_end)$/

/** Whether two trees are equal except for positions. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return one === other
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, index) => isSame(each, other[index]))
    )
  const [left, right] = [one, other] as Record<string, unknown>[]
  const [names, others] = [left, right].map((fields) =>
    Object.keys(fields ?? {}).filter((name) => !PLACES.test(name)),
  )
  return (
    names?.length === others?.length && (names ?? []).every((name) => isSame(left?.[name], right?.[name]))
  )
}
