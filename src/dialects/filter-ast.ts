/**
 * Dialect-neutral AST of a foreign filter, before names and operators are normalized. Every parser produces
 * one.
 */
export type FilterAst =
  | { kind: 'and' | 'or'; of: readonly FilterAst[] }
  | { kind: 'not'; of: FilterAst }
  | { kind: 'condition'; name: string; word: string; value: unknown }

/** Thrown for ambiguous input: no correction is better than a wrong one. */
export class Unclear extends Error {
  override readonly name = 'Unclear'
}

/**
 * Returns a defined value.
 * @throws Unclear for undefined
 */
export function orUnclear<T>(found: T | undefined): T {
  if (found === undefined) throw new Unclear()
  return found
}

/** The result of `read`; undefined when it throws Unclear. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof Unclear) return undefined
    throw thrown
  }
}

export const condition = (name: string, word: string, value?: unknown): FilterAst => ({
  kind: 'condition',
  name,
  word,
  value,
})
export const not = (of: FilterAst): FilterAst => ({ kind: 'not', of })

/**
 * Combines conditions with AND or OR.
 * @throws Unclear when there is none
 */
export function group(kind: 'and' | 'or', of: readonly FilterAst[]): FilterAst {
  const [only, ...more] = of
  return more.length === 0 ? orUnclear(only) : { kind, of }
}

/**
 * Combines implicitly conjoined conditions; flattens nested groups.
 * @throws Unclear when there is none
 */
export const conjunction = (of: readonly FilterAst[]): FilterAst =>
  group(
    'and',
    of.flatMap((each) => (each.kind === 'and' ? each.of : [each])),
  )
