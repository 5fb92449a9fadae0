import type { SelectStmt } from '@pgsql/types'
import { nextTurn, turnIsOver } from '../../../../foundation/turns.ts'
import type { Parser } from './parser.ts'
import type { Source } from './source-map.ts'

/**
 * The text of a checked tree, which is all that is ever executed. It is parsed again and must be the very tree that was
 * checked, so that no slip of the printer can change what runs.
 * @throws VALIDATION_ERROR when it is not
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
    // What the printer does not know is refused like what it prints wrongly.
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

/** Places in the text, which differ between a tree and its print. */
const PLACES = /^(location|list_start|list_end|rexpr_list_start|rexpr_list_end)$/

/** Whether two trees are the same but for places. */
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
