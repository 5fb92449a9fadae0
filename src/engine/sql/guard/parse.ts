import type { Node, SelectStmt } from '@pgsql/types'
import { hintForStatement } from './hints.ts'
import type { Parser } from './parser.ts'
import type { Source } from './source.ts'

type SyntaxFault = { message: string; cursorPosition: number }

/** The one SELECT of the text. @throws VALIDATION_ERROR where it does not parse, or is more or other than that */
export function parseOne(parser: Parser, source: Source): SelectStmt {
  const statements = parse(parser, source)
  if (statements.length > 1)
    throw source.fault('not_a_read', 'The query contains several statements. Send one statement per request.')
  const [statement] = statements
  if (!statement) throw source.fault('required', 'The query holds no statement. Write one SELECT.')
  if ('SelectStmt' in statement) return statement.SelectStmt
  throw source.fault('not_a_read', hintForStatement(Object.keys(statement)[0] ?? ''))
}

function parse(parser: Parser, source: Source): readonly Node[] {
  try {
    return parser.parse(source.parsed)
  } catch (error) {
    const fault = syntaxFaultOf(error)
    if (!fault) throw source.fault('too_deep', 'The statement is nested too deeply. Flatten it.')
    throw source.fault('sql_syntax', advise(fault.message), byteAt(source.parsed, fault.cursorPosition))
  }
}

/** What the parser says of a text that is not SQL; undefined where it ran out of stack or memory instead. */
function syntaxFaultOf(error: unknown): SyntaxFault | undefined {
  const details = (error as { sqlDetails?: SyntaxFault }).sqlDetails
  return details && !/memory|stack depth/.test(details.message) ? details : undefined
}

function advise(message: string): string {
  const [what = message] = message.split(' at or near ')
  return `SQL syntax error: ${what}.`
}

/** The parser counts a fault's place in characters and everything else in bytes. */
const byteAt = (text: string, characters: number): number =>
  Buffer.byteLength([...text].slice(0, characters).join(''))
