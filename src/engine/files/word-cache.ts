/** Words that the text indexes of files are known to have, so that a write looks only for the others. */
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../foundation/limits.ts'
import type { Caches } from '../core/caches.ts'
import type { Scope } from '../core/scope.ts'

/** The words of the index of a base. Committed words stay in an index, and ids of indexes are not reused. */
type Known = { readonly indexId: string; readonly words: Set<string> }

/** What a write has to look for: all words if the index of the base has another id by now. */
export type Lookup = { readonly indexId: string | null; readonly unknown: readonly string[] }

const opened = new WeakMap<Caches, LRUCache<string, Known>>()

function entriesOf(caches: Caches): LRUCache<string, Known> {
  const known = opened.get(caches)
  if (known) return known
  const entries = new LRUCache<string, Known>({
    maxSize: LIMITS.knownWords,
    sizeCalculation: ({ words }) => words.size || 1,
  })
  opened.set(caches, entries)
  return entries
}

/** The distinct words of some texts that a write has to look for. */
export function lookUp(
  { caches }: Pick<Scope, 'caches'>,
  baseId: string,
  texts: readonly (readonly string[])[],
): Lookup {
  const known = entriesOf(caches).get(baseId)
  const unknown = new Set<string>()
  // Most words of a text are known, so they are not collected first.
  for (const words of texts) for (const word of words) if (!known?.words.has(word)) unknown.add(word)
  return { indexId: known?.indexId ?? null, unknown: [...unknown] }
}

/** Notes that the words are in the index, which a commit has made sure of. */
export function remember(
  { caches }: Pick<Scope, 'caches'>,
  baseId: string,
  indexId: string,
  words: readonly string[],
): void {
  const entries = entriesOf(caches)
  const known = entries.get(baseId)
  if (known?.indexId === indexId && words.length === 0) return
  const isFull = known && known.words.size + words.length > LIMITS.knownWordsOfBase
  const kept = known?.indexId === indexId && !isFull ? known.words : new Set<string>()
  // As texts of their own: parts of a text keep all of it in memory.
  for (const word of words) kept.add(Buffer.from(word).toString())
  entries.delete(baseId)
  entries.set(baseId, { indexId, words: kept })
}
