/** The slow lists of this process, and the index that would serve each. */
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../foundation/limits.ts'

export type SlowList = {
  readonly baseId: string
  readonly recordType: string
  /** The index that would serve it; null if none would. */
  readonly index: object | null
  readonly status: 'undeclared' | 'building' | 'failed' | null
}
type Counted = SlowList & { readonly count: number; readonly longestMs: number }

export class SlowLists {
  readonly #lists = new LRUCache<string, Counted>({ max: LIMITS.slowListsKept })

  add(list: SlowList, ms: number): void {
    const key = JSON.stringify([list.baseId, list.recordType, list.index])
    const { count = 0, longestMs = 0 } = this.#lists.get(key) ?? {}
    this.#lists.set(key, { ...list, count: count + 1, longestMs: Math.max(longestMs, ms) })
  }

  /** The most frequent first. */
  list(): readonly Counted[] {
    return [...this.#lists.values()].sort((one, other) => other.count - one.count)
  }
}
