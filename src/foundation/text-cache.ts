import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

export type CachedText = { readonly text: string; readonly etag: string }

/** Large texts by the key of what they show, with their ETags. The least used are dropped, and made again when needed. */
export class TextCache {
  readonly #kept: LRUCache<string, CachedText>
  readonly #making = new Map<string, Promise<CachedText>>()

  /** @param maxChars size of all texts together */
  constructor(maxChars: number) {
    this.#kept = new LRUCache({ maxSize: maxChars, sizeCalculation: ({ text }) => text.length || 1 })
  }

  /** The text of a key. Requests for the same one share the work of `make`. */
  of(key: string, make: () => Promise<string>): Promise<CachedText> {
    const known = this.#kept.get(key)
    if (known) return Promise.resolve(known)
    const running = this.#making.get(key) ?? this.#make(key, make)
    this.#making.set(key, running)
    return running
  }

  async #make(key: string, make: () => Promise<string>): Promise<CachedText> {
    try {
      const text = await make()
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
      const kept = { text, etag }
      this.#kept.set(key, kept)
      return kept
    } finally {
      this.#making.delete(key)
    }
  }
}
