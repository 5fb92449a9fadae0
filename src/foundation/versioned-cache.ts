import { LRUCache } from 'lru-cache'

type Entry<V> = { readonly version: string; readonly value: V; seenAt: number }
type Made<V> = { readonly value: V; readonly chars: number }

/**
 * Cache of values that are made from something with a version. It holds one value of each key: a value of an
 * earlier version is never asked for again.
 */
export class VersionedCache<V extends object> {
  readonly #entries: LRUCache<string, Entry<V>>
  readonly #making = new Map<string, Promise<V>>()

  /** @param maxChars size of all values, in characters of JSON */
  constructor(maxChars: number, ttl = 0) {
    this.#entries = new LRUCache<string, Entry<V>>({ maxSize: maxChars, ttl })
  }

  /**
   * The value of a version. Requests for the same one share the work of `make`, which counts the characters too. Its
   * failure is that of the request that began it, and the others make the value themselves.
   */
  async of(key: string, version: string, make: () => Promise<Made<V>>): Promise<V> {
    const known = this.get(key, version)
    if (known) return known
    const place = JSON.stringify([key, version])
    const begun = this.#making.get(place)
    const shared = begun && (await begun.catch(() => undefined))
    if (shared) return shared
    const making = this.#make(key, version, make)
    this.#making.set(place, making)
    try {
      return await making
    } finally {
      if (this.#making.get(place) === making) this.#making.delete(place)
    }
  }

  async #make(key: string, version: string, make: () => Promise<Made<V>>): Promise<V> {
    const { value, chars } = await make()
    this.set(key, version, value, chars)
    return value
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
