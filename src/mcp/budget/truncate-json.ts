/** Truncates JSON to a size in bytes of JSON text, longest values first. */
import { pointer } from '../../json/parse.ts'

/** Strings up to this size are never cut, because names and ids are useless in part. */
const NAME_BYTES = 130

/** Collects the JSON Pointers of truncated strings, arrays and objects. */
export type Cuts = { push(path: string): void }

/** A value to truncate, and its JSON Pointer. */
export type Part = { value: unknown; path: string }

/** Size of a value as JSON text. */
export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

/** Truncates a value to at most `room` bytes, unless numbers and short strings alone exceed it. */
export function shrink(part: Part, maxBytes: number, cuts: Cuts): unknown {
  return new Shrinking(cuts).shrink(part, maxBytes)
}

/** Truncates several values to `room` bytes together. Short ones stay whole, the others share the rest. */
export function shrinkParts(parts: readonly Part[], maxBytes: number, cuts: Cuts): unknown[] {
  return new Shrinking(cuts).shrinkAll(parts, maxBytes)
}

class Shrinking {
  readonly #cuts: Cuts
  /** Size cache: every level above asks for each size again. */
  readonly #sizes = new Map<unknown, number>()

  constructor(cuts: Cuts) {
    this.#cuts = cuts
  }

  shrink({ value, path }: Part, maxBytes: number): unknown {
    if (this.#size(value) <= maxBytes || this.#least(value) >= maxBytes)
      return this.#asLittle({ value, path }, maxBytes)
    if (typeof value === 'string') {
      this.#cuts.push(path)
      return cutText(value, maxBytes)
    }
    return Array.isArray(value)
      ? this.#array(value, path, maxBytes)
      : this.#object(value as Record<string, unknown>, path, maxBytes)
  }

  shrinkAll(parts: readonly Part[], maxBytes: number): unknown[] {
    const shares = this.#share(
      parts.map(({ value }) => value),
      maxBytes,
    )
    return parts.map((part, i) => this.shrink(part, shares[i] ?? 0))
  }

  /** Keeps the value if it fits; otherwise returns its minimal form. */
  #asLittle({ value, path }: Part, maxBytes: number): unknown {
    if (this.#size(value) <= maxBytes || this.#least(value) === this.#size(value)) return value
    this.#cuts.push(path)
    return typeof value === 'string' ? '' : Array.isArray(value) ? [] : {}
  }

  /** Keeps as many leading items as fit; always the first, truncated if necessary. */
  #array(items: readonly unknown[], path: string, maxBytes: number): unknown[] {
    const kept: unknown[] = []
    let left = maxBytes - '[]'.length
    for (const item of items) {
      left -= this.#size(item) + (kept.length > 0 ? ','.length : 0)
      if (left < 0) break
      kept.push(item)
    }
    const inside = maxBytes - '[]'.length
    if (kept.length === 0 && this.#least(items[0]) <= inside)
      kept.push(this.shrink({ value: items[0], path: path + pointer(0) }, inside))
    if (kept.length < items.length) this.#cuts.push(path)
    return kept
  }

  /** Keeps all members if each can be truncated enough; otherwise the first ones. */
  #object(object: Record<string, unknown>, path: string, maxBytes: number): object {
    const members: [string, unknown][] = []
    let left = maxBytes - '{}'.length
    let needed = 0
    for (const [name, value] of Object.entries(object)) {
      const around = sizeOf(name) + ':'.length + (members.length > 0 ? ','.length : 0)
      const least = this.#least(value)
      if (left - around < needed + least) {
        this.#cuts.push(path)
        break
      }
      left -= around
      needed += least
      members.push([name, value])
    }
    const parts = members.map(([name, value]) => ({ value, path: path + pointer(name) }))
    const values = this.shrinkAll(parts, left)
    return Object.fromEntries(members.map(([name], i) => [name, values[i]]))
  }

  /**
   * Distributes the available bytes: each value gets its minimum, and a share of the rest up to its full
   * size.
   */
  #share(values: readonly unknown[], maxBytes: number): number[] {
    const asks = values.map((value, index) => {
      const least = this.#least(value)
      return { index, least, more: this.#size(value) - least }
    })
    let spare = maxBytes - asks.reduce((sum, { least }) => sum + least, 0)
    const shares: number[] = []
    for (const [n, { index, least, more }] of asks.sort((a, b) => a.more - b.more).entries()) {
      const given = Math.max(0, Math.min(more, Math.floor(spare / (asks.length - n))))
      spare -= given
      shares[index] = least + given
    }
    return shares
  }

  /** Minimum size of a value. */
  #least(value: unknown): number {
    const size = this.#size(value)
    const canBeCut =
      typeof value === 'string' ? size > NAME_BYTES : typeof value === 'object' && value !== null
    return canBeCut ? '{}'.length : size
  }

  #size(value: unknown): number {
    const isLong = typeof value === 'string' ? value.length > NAME_BYTES : typeof value === 'object'
    if (!isLong || value === null) return sizeOf(value)
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    const size = typeof value === 'string' ? sizeOf(value) : this.#sizeOfAll(value as object)
    this.#sizes.set(value, size)
    return size
  }

  #sizeOfAll(value: object): number {
    const parts = Array.isArray(value)
      ? value.map((item) => this.#size(item))
      : Object.entries(value).map(([name, part]) => sizeOf(name) + ':'.length + this.#size(part))
    return parts.reduce((sum, size) => sum + size, '{}'.length + Math.max(0, parts.length - 1))
  }
}

/** Longest prefix of the text that fits, without splitting a surrogate pair. */
function cutText(text: string, maxBytes: number): string {
  // Binary search; each code unit takes at least one byte.
  let [fits, over] = [0, Math.min(text.length, maxBytes) + 1]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (sizeOf(text.slice(0, middle).toWellFormed()) <= maxBytes) fits = middle
    else over = middle
  }
  const start = text.slice(0, fits)
  return /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start
}
