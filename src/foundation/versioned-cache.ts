import { LRUCache } from 'lru-cache'

type Entry<V> = { readonly version: string; readonly value: V; seenAt: number }

/**
 * Cache of values that are made from something with a version. It holds one value of each key: a value of an
 * earlier version is never asked for again.
 */
export class VersionedCache<V extends object> {
  readonly #entries: LRUCache<string, Entry<V>>

  /** @param maxChars size of all values, in characters of JSON */
  constructor(maxChars: number, ttl = 0) {
    this.#entries = new LRUCache<string, Entry<V>>({ maxSize: maxChars, ttl })
  }

  get(key: string, version: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry?.version !== version) return undefined
    entry.seenAt = performance.now()
    return entry.value
  }

  /** The value of a version that was current at most this long ago. */
  recent(key: string, withinMs: number): V | undefined {
    const entry = this.#entries.get(key)
    return entry && performance.now() - entry.seenAt <= withinMs ? entry.value : undefined
  }

  set(key: string, version: string, value: V, chars: number): void {
    this.#entries.set(key, { version, value, seenAt: performance.now() }, { size: Math.max(1, chars) })
  }
}
