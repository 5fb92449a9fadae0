import { RE2JS } from 're2js'
import { spend } from './budget.ts'
import { PatternError, translate } from './pattern-syntax.ts'

export { PatternError }

/** A compiled pattern. `test` takes time linear in the text and counts it against the budget. */
export type Pattern = { test(text: string): boolean; toString(): string; size: number }

// A pattern's cost is its size times the text, so both are bounded; {1,1000} of one character is about 2,000.
const MOST_INSTRUCTIONS = 5000

/** True when the linear-time engine runs this pattern with the meaning it has in JavaScript. */
export function canRunPattern(pattern: string): boolean {
  try {
    compilePattern(pattern)
    return true
  } catch (error) {
    if (error instanceof PatternError) return false
    throw error
  }
}

/** Compiles an ECMA-262 pattern for the linear-time engine; throws PatternError. */
export function compilePattern(source: string): Pattern {
  const { text, size } = translate(source)
  if (size > MOST_INSTRUCTIONS) {
    throw new PatternError('it repeats too much: use smaller repeat counts, or maxLength and maxItems')
  }
  const engine = compile(text)
  const cost = engine.programSize() / 4
  const test = (text: string) => {
    spend(text.length * cost)
    return engine.test(text)
  }
  // Ajv tells patterns apart by their text.
  return { test, toString: () => source, size: size + 20 }
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
