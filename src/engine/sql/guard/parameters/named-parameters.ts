import type { ScanToken } from 'libpg-query'
import type { Parser } from '../syntax/parse-statement.ts'
import { type Edit, Source } from '../syntax/source-map.ts'

/** Inside brackets, a colon after one of these tokens separates the bounds of a slice. */
const ENDS_EXPRESSION = /^(IDENT|ICONST|FCONST|SCONST|PARAM)$/

/**
 * Finds `:name` parameters, excluding strings, comments, casts and slices. Names are numbered by first use
 * and replaced with `$1…$n`.
 * @throws VALIDATION_ERROR when `$n` is also used
 */
export function namedParameters(
  parser: Parser,
  text: string,
  given: ReadonlyMap<string, unknown>,
): { source: Source; names: string[] } {
  if (!/:\w/.test(text) && given.size === 0) return { source: new Source(text), names: [] }
  const tokens = scan(parser, text)
  const positional = tokens.find(({ tokenName }) => tokenName === 'PARAM')
  if (positional && given.size > 0)
    throw new Source(text).fault(
      'exclusive',
      'Parameters are $1, $2 … with an array, or :name with an object: not both.',
      positional.start,
    )
  return rewrite(text, marksIn(tokens, given))
}

type Mark = { start: number; end: number; name: string }

function rewrite(text: string, marks: readonly Mark[]): { source: Source; names: string[] } {
  const bytes = Buffer.from(text)
  const numbers = new Map<string, number>()
  const edits: Edit[] = []
  let parsed = ''
  let read = 0
  let length = 0
  for (const { start, end, name } of marks) {
    const number = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, number)
    const by = `$${number}`
    parsed += bytes.subarray(read, start).toString() + by
    length += start - read
    edits.push({ start: length, end: length + by.length, from: start, to: end })
    length += by.length
    read = end
  }
  return {
    source: new Source(text, parsed + bytes.subarray(read).toString(), edits),
    names: [...numbers.keys()],
  }
}

function marksIn(tokens: readonly ScanToken[], given: ReadonlyMap<string, unknown>): Mark[] {
  let brackets = 0
  return [...tokens.entries()].flatMap(([index, { text }]) => {
    if (text === '[') brackets++
    if (text === ']') brackets--
    return markAt(tokens, index, brackets > 0, given) ?? []
  })
}

/** The parameter name after a colon token. */
function markAt(
  tokens: readonly ScanToken[],
  index: number,
  inBrackets: boolean,
  given: ReadonlyMap<string, unknown>,
): Mark | undefined {
  const [before, colon, word] = [tokens[index - 1], tokens[index], tokens[index + 1]]
  if (colon?.text !== ':' || !word || word.start !== colon.end || !/^[\p{L}_]/u.test(word.text))
    return undefined
  const name = word.text
  if (inBrackets && before) {
    if (ENDS_EXPRESSION.test(before.tokenName) || before.text === ')' || before.text === ']') return undefined
    const isLowerBound = before.text === '[' && tokens[index - 2]?.text.toLowerCase() !== 'array'
    if (isLowerBound && !given.has(name)) return undefined
  }
  return { start: colon.start, end: word.end, name }
}

function scan(parser: Parser, text: string): readonly ScanToken[] {
  try {
    return parser.scan(text).filter(({ tokenName }) => !/^(SQL|C)_COMMENT$/.test(tokenName))
  } catch {
    // Text that does not scan does not parse either, and the parser reports the position.
    return []
  }
}
