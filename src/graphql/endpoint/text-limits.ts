import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

/**
 * Limits the size and nesting of a GraphQL text before parsing, because the parser is recursive.
 * @throws VALIDATION_ERROR
 */
export function checkTextSize(text: unknown): void {
  // Non-strings are rejected later, by the request parser.
  if (typeof text !== 'string') return
  if (Buffer.byteLength(text) > LIMITS.graphqlTextBytes)
    throw invalid({
      path: '/query',
      code: 'too_long',
      message: `A GraphQL document can have at most ${LIMITS.graphqlTextBytes} bytes. Put values into variables, or send several requests.`,
      expected: LIMITS.graphqlTextBytes,
    })
  if (nesting(text) > LIMITS.graphqlNesting)
    throw invalid({
      path: '/query',
      code: 'too_deep',
      message: `The brackets of a GraphQL document can nest at most ${LIMITS.graphqlNesting} deep. Flatten it.`,
      expected: LIMITS.graphqlNesting,
    })
}

/** Matches brackets, and skips strings and comments. */
const TOKEN = /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\r\n])*"?|#[^\r\n]*|[[{(]|[\]})]/g

function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if ('[{('.includes(token)) deepest = Math.max(deepest, ++depth)
    else if (']})'.includes(token)) depth = Math.max(0, depth - 1)
  }
  return deepest
}
