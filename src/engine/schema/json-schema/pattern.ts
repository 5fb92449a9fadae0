import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { spend } from './evaluation-cost.ts'
import { PatternError, translate } from './pattern-syntax.ts'

export { PatternError }

/** A compiled regular expression. `test` is linear in the text length and charges the budget. */
export type Pattern = { test(text: string): boolean; size: number }

// The cost is program size times text length, so both are limited; {1,1000} of one character is about 2,000.
const MOST_INSTRUCTIONS = 5000
// Fixed size of any pattern, in addition to its instructions.
const PATTERN_SIZE = 20

// Pattern cache: compilation costs far more than a look-up, and a type is recompiled on each change.
const KEPT_INSTRUCTIONS = 200_000
const known = new LRUCache<string, Pattern>({
  maxSize: KEPT_INSTRUCTIONS,
  sizeCalculation: ({ size }, source) => size + source.length,
})

/**
 * Compiles an ECMA-262 pattern for the linear-time engine (RE2). Returns undefined, without compiling, for a
 * pattern larger than `most`.
 * @throws PatternError
 */
export function compilePattern(source: string, most = Number.POSITIVE_INFINITY): Pattern | undefined {
  const before = known.get(source)
  if (before) return before.size > most ? undefined : before
  const { text, size } = translate(source)
  if (size > MOST_INSTRUCTIONS) {
    throw new PatternError('it repeats too much: use smaller repeat counts, or maxLength and maxItems')
  }
  if (size + PATTERN_SIZE > most) return undefined
  const pattern = runnable(text, size + PATTERN_SIZE)
  known.set(source, pattern)
  return pattern
}

function runnable(text: string, size: number): Pattern {
  const engine = compile(text)
  const cost = engine.programSize() / 4
  const test = (text: string) => {
    spend(20 + text.length * cost)
    return engine.test(text)
  }
  return { test, size }
}

function compile(text: string): RE2JS {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    if (reason.startsWith('invalid repeat count')) {
      throw new PatternError('a repeat count is over 1000: use maxLength or maxItems')
    }
    throw new PatternError(reason.slice(0, 100))
  }
}
