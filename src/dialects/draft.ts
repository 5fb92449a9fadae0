/** What a foreign filter says, before its names and operator words are made ours. Every reader makes one of these. */
export type Draft =
  | { kind: 'and' | 'or'; of: readonly Draft[] }
  | { kind: 'not'; of: Draft }
  | { kind: 'condition'; name: string; word: string; value: unknown }

/** Thrown by a reader that cannot be sure what is meant: no correction is better than a wrong one. */
export class Doubt extends Error {
  override readonly name = 'Doubt'
}

/** A thing that has one meaning, or a doubt. @throws Doubt for undefined */
export function sure<T>(found: T | undefined): T {
  if (found === undefined) throw new Doubt()
  return found
}

/** What `read` is sure of; undefined where it doubts. */
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

/** The drafts as one, of which `kind` of them must hold. @throws Doubt when there is none */
export function group(kind: 'and' | 'or', of: readonly Draft[]): Draft {
  const [only, ...more] = of
  return more.length === 0 ? sure(only) : { kind, of }
}

/** Things that all hold, said without a word for it: groups of the same sort become one. @throws Doubt when there is none */
export const together = (of: readonly Draft[]): Draft =>
  group(
    'and',
    of.flatMap((each) => (each.kind === 'and' ? each.of : [each])),
  )
