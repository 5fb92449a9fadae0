import { Unclear } from './filter-ast.ts'

/**
 * A token. `quoted` has double quotes or backticks: a text in some languages, a name in others. `braced` is
 * `{a name}`.
 */
export type Token = {
  kind: 'name' | 'quoted' | 'braced' | 'string' | 'number' | 'sign' | 'end'
  text: string
}

const NAME_PART = '[\\p{L}_][\\p{L}\\p{N}\\p{M}_$]*'
const KINDS: readonly [Token['kind'] | 'space', string][] = [
  ['space', '\\s+'],
  ['number', '-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?(?![\\p{L}\\p{N}_.])'],
  ['string', "'(?:[^'\\\\]|''|\\\\.)*'"],
  ['quoted', '"(?:[^"\\\\]|""|\\\\.)*"|`[^`]+`'],
  ['braced', '\\{[^{}]+\\}'],
  ['name', `${NAME_PART}(?:\\.${NAME_PART}|\\.\\d+|\\[\\d*\\]|\\["(?:[^"\\\\]|\\\\.)*"\\])*`],
  ['sign', '->>|->|===|!==|!~~\\*?|~~\\*?|&&|\\|\\||[<>=!]=|<>|!~|[=<>!~(),≥≤≠]'],
]
const TOKEN = new RegExp(KINDS.map(([kind, source]) => `(?<${kind}>${source})`).join('|'), 'suy')
const MAX_TOKENS = 2000

/**
 * Tokenizes a formula or infix condition.
 * @throws Unclear at invalid input
 */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (let from = 0; from < text.length; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from
    const groups = TOKEN.exec(text)?.groups
    const [kind, found] = Object.entries(groups ?? {}).find(([, part]) => part !== undefined) ?? []
    if (kind === undefined || found === undefined || tokens.length >= MAX_TOKENS) throw new Unclear()
    if (kind !== 'space') tokens.push({ kind: kind as Token['kind'], text: bare(kind, found) })
  }
  return tokens
}

function bare(kind: string, text: string): string {
  if (kind === 'braced') return text.slice(1, -1).trim()
  if (kind !== 'string' && kind !== 'quoted') return text
  const inner = text.slice(1, -1)
  // Languages differ in the meaning of other backslashes: literal in SQL, an escape elsewhere.
  if (/\\[^'"%_]/s.test(inner)) throw new Unclear()
  const quote = text.charAt(0)
  return inner.replaceAll(quote + quote, quote).replace(/\\(['"])/g, '$1')
}

const END: Token = { kind: 'end', text: '' }

/** Token cursor with case-insensitive word comparison. */
export class Cursor {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokensOf(text)
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? END
  }

  next(): Token {
    const token = this.peek()
    this.#at++
    return token
  }

  /** Consumes the next token if it matches. */
  skip(...texts: string[]): boolean {
    const here = this.is(0, ...texts)
    if (here) this.#at++
    return here
  }

  is(ahead: number, ...texts: string[]): boolean {
    const { kind, text } = this.peek(ahead)
    return (kind === 'sign' || kind === 'name') && texts.includes(text.toLowerCase())
  }

  /**
   * Consumes a required token.
   * @throws Unclear when it is missing
   */
  expect(text: string): void {
    if (!this.skip(text)) throw new Unclear()
  }

  expectEnd(): void {
    if (this.peek().kind !== 'end') throw new Unclear()
  }
}
