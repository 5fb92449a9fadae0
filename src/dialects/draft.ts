/**
 * Dialect-neutral AST of a foreign filter, before names and operators are normalized. Every parser produces
 * one.
 */
export type Draft =
  | { kind: 'and' | 'or'; of: readonly Draft[] }
  | { kind: 'not'; of: Draft }
  | { kind: 'condition'; name: string; word: string; value: unknown }

/** Thrown for ambiguous input: no correction is better than a wrong one. */
export class Doubt extends Error {
  override readonly name = 'Doubt'
}

/**
 * Returns a defined value.
 * @throws Doubt for undefined
 */
export function sure<T>(found: T | undefined): T {
  if (found === undefined) throw new Doubt()
  return found
}

/** The result of `read`; undefined when it throws Doubt. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof Doubt) return undefined
    throw thrown
  }
}

export const condition = (name: string, word: string, value?: unknown): Draft => ({
  kind: 'condition',
  name,
  word,
  value,
})
export const not = (of: Draft): Draft => ({ kind: 'not', of })

/**
 * Combines drafts with AND or OR.
 * @throws Doubt when there is none
 */
export function group(kind: 'and' | 'or', of: readonly Draft[]): Draft {
  const [only, ...more] = of
  return more.length === 0 ? sure(only) : { kind, of }
}

/**
 * Combines implicitly conjoined drafts; flattens nested groups.
 * @throws Doubt when there is none
 */
export const together = (of: readonly Draft[]): Draft =>
  group(
    'and',
    of.flatMap((each) => (each.kind === 'and' ? each.of : [each])),
  )
