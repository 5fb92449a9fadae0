import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

/**
 * Bounds a GraphQL text before it is parsed: the parser reads it whole, and calls itself for each bracket that opens.
 * @throws VALIDATION_ERROR
 */
export function demandSmall(text: unknown): void {
  // What is no text is for the parser of requests to refuse.
  if (typeof text !== 'string') return
  if (Buffer.byteLength(text) > LIMITS.graphqlTextBytes)
    throw invalid({
      path: '/query',
      code: 'too_long',
      message: `A GraphQL text has at most ${LIMITS.graphqlTextBytes} bytes. Put values into variables, or ask in several requests.`,
      expected: LIMITS.graphqlTextBytes,
    })
  if (nesting(text) > LIMITS.graphqlNesting)
    throw invalid({
      path: '/query',
      code: 'too_deep',
      message: `The brackets of a GraphQL text nest at most ${LIMITS.graphqlNesting} deep. Flatten it.`,
      expected: LIMITS.graphqlNesting,
    })
}

/** Strings and comments, whose brackets open nothing, and brackets. */
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
