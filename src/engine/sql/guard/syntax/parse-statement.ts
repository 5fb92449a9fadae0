import type { Node, SelectStmt } from '@pgsql/types'
import { invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { hintForStatement } from './hints.ts'
import type { Parser } from './parser.ts'
import type { Source } from './source-map.ts'

type SyntaxFault = { message: string; cursorPosition: number }

/**
 * Parses the text as a single SELECT.
 * @throws VALIDATION_ERROR for a syntax error, several statements or another kind
 */
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

/** The syntax error of the parser; undefined if the parser ran out of stack or memory. */
function syntaxFaultOf(error: unknown): SyntaxFault | undefined {
  const details = (error as { sqlDetails?: SyntaxFault }).sqlDetails
  return details && !/memory|stack depth/.test(details.message) ? details : undefined
}

function advise(message: string): string {
  const [what = message] = message.split(' at or near ')
  return `SQL syntax error: ${what}.`
}

/** Converts a character offset, which syntax errors use, to a byte offset. */
const byteAt = (text: string, characters: number): number =>
  Buffer.byteLength([...text].slice(0, characters).join(''))

/** Maximum statement length, in bytes of UTF-8. */

/**
 * Reads the statement text.
 * @throws VALIDATION_ERROR at `/query`
 */
export function readText(query: unknown): string {
  const fault = (code: string, message: string, extra: object = {}) =>
    invalid({ path: '/query', code, message, ...extra })
  if (query === undefined)
    throw fault('required', 'Send the statement as "query", for example "SELECT count(*) FROM records".')
  if (typeof query !== 'string')
    throw fault('type', 'The query is the text of one SELECT.', { expected: 'string' })
  if (query.trim() === '')
    throw fault(
      'required',
      'The query is empty. Write one SELECT, for example "SELECT count(*) FROM records".',
    )
  const bytes = Buffer.byteLength(query)
  if (bytes > LIMITS.sqlTextBytes) {
    const message = `A query can have at most ${LIMITS.sqlTextBytes} bytes. Send long values and lists as parameters.`
    throw fault('too_long', message, { expected: LIMITS.sqlTextBytes, received: bytes })
  }
  // The parser stops at a NUL, so the text after it would be unchecked.
  if (query.includes('\0') || !query.isWellFormed())
    throw fault('invalid_text', 'The query contains NUL or half of a surrogate pair. Send well-formed text.')
  return query
}
