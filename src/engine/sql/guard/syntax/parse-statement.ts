import v8 from 'node:v8'
import type { A_Indirection, CollateClause, Node, SelectStmt } from '@pgsql/types'
import type { ScanToken } from 'libpg-query'
import type { Deparser as Base } from 'pgsql-deparser'
import { invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { hintForStatement } from './hints.ts'
import { quoteName } from './names.ts'
import type { Source } from './source-map.ts'

type Context = Parameters<Base['A_Indirection']>[1]

/** PostgreSQL's parser, and the printer of its trees. */
export type Parser = {
  /** Parses a text into statements; throws the parser's error. */
  parse(text: string): readonly Node[]
  /** Tokenizes a text, with byte offsets; throws for an unterminated token. */
  scan(text: string): readonly ScanToken[]
  /** Fingerprint of a valid statement, without constants. */
  fingerprint(text: string): string
  /** Prints a tree; throws for an unsupported node. */
  print(statement: SelectStmt): string
}

let loaded: Promise<Parser> | undefined

/** Loads the parser once: its WebAssembly and tables cost 280 ms and 20 MB. */
export function loadParser(): Promise<Parser> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Parser> {
  const [library, { Deparser }] = await Promise.all([loadLibrary(), import('pgsql-deparser')])
  // Adds the parentheses that `(ARRAY[1, 2])[1]` needs and the library omits.
  class Printer extends Deparser {
    override A_Indirection({ arg, indirection = [] }: A_Indirection, context: Context): string {
      const steps = indirection.map((step) => this.visit(step, context))
      return `(${arg ? this.visit(arg, context) : ''})${steps.join('')}`
    }
    // Adds the parentheses of `(a || b) COLLATE "C"`.
    override CollateClause({ arg, collname = [] }: CollateClause, context: Context): string {
      const name = collname
        .map((word) => quoteName('String' in word ? (word.String.sval ?? '') : ''))
        .join('.')
      return `(${arg ? this.visit(arg, context) : ''}) COLLATE ${name}`
    }
  }
  return {
    parse: (text) => (library.parseSync(text).stmts ?? []).map(({ stmt }) => stmt as Node),
    scan: (text) => library.scanSync(text).tokens,
    fingerprint: library.fingerprintSync,
    print: (SelectStmt) => new Printer({ SelectStmt }, { pretty: false }).deparseQuery(),
  }
}

/**
 * Loads the WebAssembly of the parser, and keeps the code of V8's baseline compiler. The optimizing compiler takes
 * 610 MB and three seconds of a core for its largest function, and saves 20 us of a short statement.
 */
async function loadLibrary() {
  for (const flag of TIERING_FLAGS) v8.setFlagsFromString(`--no-${flag}`)
  try {
    const library = await import('libpg-query')
    await library.loadModule()
    // V8 compiles a function at its first call.
    library.parseSync('SELECT 1')
    library.scanSync('SELECT 1')
    library.fingerprintSync('SELECT 1')
    return library
  } finally {
    for (const flag of TIERING_FLAGS) v8.setFlagsFromString(`--${flag}`)
  }
}

const TIERING_FLAGS = ['wasm-dynamic-tiering', 'wasm-tier-up']

type SyntaxFault = { message: string; cursorPosition: number }

/**
 * Parses the text as a single SELECT.
 * @throws VALIDATION_ERROR for a syntax error, several statements or another kind
 */
export function parseOne(parser: Parser, source: Source): SelectStmt {
  const statements = parseAll(parser, source)
  if (statements.length > 1)
    throw source.fault('not_a_read', 'The query contains several statements. Send one statement per request.')
  const [statement] = statements
  if (!statement) throw source.fault('required', 'The query holds no statement. Write one SELECT.')
  if ('SelectStmt' in statement) return statement.SelectStmt
  throw source.fault('not_a_read', hintForStatement(Object.keys(statement)[0] ?? ''))
}

/**
 * Parses the text into its statements.
 * @throws VALIDATION_ERROR for a syntax error
 */
export function parseAll(parser: Parser, source: Source): readonly Node[] {
  try {
    return parser.parse(source.parsed)
  } catch (error) {
    const fault = syntaxFaultOf(error)
    if (!fault) throw source.fault('too_deep', 'The statement is nested too deeply. Flatten it.')
    const name = unquotedAt(source.parsed, fault.cursorPosition)
    throw source.fault(
      'sql_syntax',
      advise(fault.message, source.parsed, name),
      byteAt(source.parsed, fault.cursorPosition),
      name === undefined ? {} : { hint: quoteName(name) },
    )
  }
}

/** The syntax error of the parser; undefined if the parser ran out of stack or memory. */
function syntaxFaultOf(error: unknown): SyntaxFault | undefined {
  const details = (error as { sqlDetails?: SyntaxFault }).sqlDetails
  return details && !/memory|stack depth/.test(details.message) ? details : undefined
}

/** The name at a syntax error that has to be quoted: it has a dash or begins with a digit, or is a key word in its place. */
function unquotedAt(text: string, characters: number): string | undefined {
  const all = [...text]
  const [, start = ''] = /(?:^|[\s,(])([\w.-]{0,128})$/.exec(all.slice(0, characters).join('')) ?? []
  const [rest = ''] = /^[\w.-]{0,128}/.exec(all.slice(characters).join('')) ?? []
  const name = start + rest
  const isWord = /^[a-z_]\w*$/i.test(name)
  if (isWord) {
    const before = all.slice(0, characters).join('')
    return OF_RELATION.test(before) || (OF_COLUMN.test(before) && !CLAUSE.test(name)) ? name : undefined
  }
  return /^\w+(?:[-.]\w+)*$/.test(name) && /[a-z]/i.test(name) ? name : undefined
}

const OF_RELATION = /\b(?:from|join|into|update)\s+$/i
const OF_COLUMN = /(?:\b(?:select|by|set|where|and|or|having)\s+|[,(]\s*)$/i
/** Before these words, something is missing or one comma too many. */
const CLAUSE = /^(?:select|from|where|group|having|order|limit|and|or|values|set|returning|on)$/i

function advise(message: string, text: string, name: string | undefined): string {
  const [first = message] = message.split(' at or near ')
  const what =
    name === undefined
      ? first
      : `${first}. If ${name} is a name, write it in double quotes: ${quoteName(name)}`
  const past = PAST.test(text)
    ? ` The past is read with as_of, outside SQL, or from the relation changes.`
    : ''
  return `SQL syntax error: ${what}.${past}`
}
/** Temporal tables of other databases. */
const PAST = /\bas\s+of\b|\bsystem_(?:time|version)/i

/** Converts a character offset, which syntax errors use, to a byte offset. */
const byteAt = (text: string, characters: number): number =>
  Buffer.byteLength([...text].slice(0, characters).join(''))

/** What a text of statements is: its field in the request, its longest form, and an example. */
type TextKind = { field: string; what: string; example: string; mostBytes: number; mostWords?: number }

const QUERY: TextKind = {
  field: 'query',
  what: 'one SELECT',
  example: 'SELECT count(*) FROM records',
  mostBytes: LIMITS.sqlTextBytes,
}

/**
 * Reads the text of statements.
 * @throws VALIDATION_ERROR at `/query`
 */
export function readText(text: unknown, kind: TextKind = QUERY): string {
  const { field, what, example, mostBytes, mostWords = mostBytes } = kind
  const fault = (code: string, message: string, extra: object = {}) =>
    invalid({ path: '/query', code, message, ...extra })
  if (text === undefined) throw fault('required', `Send the text as "${field}", for example "${example}".`)
  if (typeof text !== 'string')
    throw fault('type', `"${field}" is the text of ${what}.`, { expected: 'string' })
  if (text.trim() === '')
    throw fault('required', `"${field}" is empty. Write ${what}, for example "${example}".`)
  const bytes = Buffer.byteLength(text)
  if (bytes > mostBytes) {
    const message = `"${field}" can have at most ${mostBytes} bytes. Send long values and lists as parameters.`
    throw fault('too_long', message, { expected: mostBytes, received: bytes })
  }
  const words = text.length > mostWords ? wordsIn(text) : 0
  if (words > mostWords) {
    const message = `"${field}" can have at most ${mostWords} words and signs. A string is one, except in a text with comments, E'…' or $$…$$. Send rows and lists as parameters.`
    throw fault('too_many', message, { expected: mostWords, received: words })
  }
  // The parser stops at a NUL, so the text after it would be unchecked.
  if (text.includes('\0') || !text.isWellFormed())
    throw fault('invalid_text', `"${field}" contains NUL or half of a surrogate pair. Send well-formed text.`)
  return text
}

const WORD = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu
const QUOTED = /'[^']*'|"[^"]*"/g
/** After one of these, quotes may stand within a comment or another form of string. */
const HIDES_QUOTES = /--|\/\*|\be'|\$(?!\d)/i

/** Words and signs of a text: at least as many as the parser finds. */
function wordsIn(text: string): number {
  const unquoted = text.replaceAll(QUOTED, "'")
  return (HIDES_QUOTES.test(unquoted) ? text : unquoted).match(WORD)?.length ?? 0
}
