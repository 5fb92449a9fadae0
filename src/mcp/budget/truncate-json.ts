/** JSON made smaller until it has room, by cutting what is longest first. Sizes are bytes of JSON text. */
import { pointer } from '../../json/index.ts'

/** Strings up to this size are never cut: they are what things are called, and half an id is none. */
const NAME_BYTES = 130

/** Where something was cut, as JSON Pointers: a string that goes on, or an array or object that holds more. */
export type Cuts = { push(path: string): void }

/** What is to be made smaller, and where it stands. */
export type Part = { value: unknown; path: string }

/** The size of a value as JSON text. */
export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

/** The value in at most `room` bytes, if its numbers and names leave it that. */
export function shrink(part: Part, room: number, cuts: Cuts): unknown {
  return new Shrinking(cuts).shrink(part, room)
}

/** The values in at most `room` bytes together: short ones stay whole, the others share what is left. */
export function shrinkTogether(parts: readonly Part[], room: number, cuts: Cuts): unknown[] {
  return new Shrinking(cuts).together(parts, room)
}

class Shrinking {
  readonly #cuts: Cuts
  /** Each size is asked for again at every level above. */
  readonly #sizes = new Map<unknown, number>()

  constructor(cuts: Cuts) {
    this.#cuts = cuts
  }

  shrink({ value, path }: Part, room: number): unknown {
    if (this.#size(value) <= room || this.#least(value) >= room) return this.#asLittle({ value, path }, room)
    if (typeof value === 'string') {
      this.#cuts.push(path)
      return cutText(value, room)
    }
    return Array.isArray(value)
      ? this.#array(value, path, room)
      : this.#object(value as Record<string, unknown>, path, room)
  }

  together(parts: readonly Part[], room: number): unknown[] {
    const shares = this.#share(
      parts.map(({ value }) => value),
      room,
    )
    return parts.map((part, i) => this.shrink(part, shares[i] ?? 0))
  }

  /** Whole where it has room; else what cannot be less. */
  #asLittle({ value, path }: Part, room: number): unknown {
    if (this.#size(value) <= room || this.#least(value) === this.#size(value)) return value
    this.#cuts.push(path)
    return typeof value === 'string' ? '' : Array.isArray(value) ? [] : {}
  }

  /** The first items, as many as have room; the first at any rate, smaller if it must be. */
  #array(items: readonly unknown[], path: string, room: number): unknown[] {
    const kept: unknown[] = []
    let left = room - '[]'.length
    for (const item of items) {
      left -= this.#size(item) + (kept.length > 0 ? ','.length : 0)
      if (left < 0) break
      kept.push(item)
    }
    const inside = room - '[]'.length
    if (kept.length === 0 && this.#least(items[0]) <= inside)
      kept.push(this.shrink({ value: items[0], path: path + pointer(0) }, inside))
    if (kept.length < items.length) this.#cuts.push(path)
    return kept
  }

  /** All members where each can be made small enough; else the first ones. */
  #object(object: Record<string, unknown>, path: string, room: number): object {
    const members: [string, unknown][] = []
    let left = room - '{}'.length
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
    const values = this.together(parts, left)
    return Object.fromEntries(members.map(([name], i) => [name, values[i]]))
  }

  /** What each value may take of the room: what it cannot do without, and of the rest no more than it asks for. */
  #share(values: readonly unknown[], room: number): number[] {
    const asks = values.map((value, index) => {
      const least = this.#least(value)
      return { index, least, more: this.#size(value) - least }
    })
    let spare = room - asks.reduce((sum, { least }) => sum + least, 0)
    const shares: number[] = []
    for (const [n, { index, least, more }] of asks.sort((a, b) => a.more - b.more).entries()) {
      const given = Math.max(0, Math.min(more, Math.floor(spare / (asks.length - n))))
      spare -= given
      shares[index] = least + given
    }
    return shares
  }

  /** The size that a value can be brought to. */
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

/** The longest start of the text that has room, never half a character. */
function cutText(text: string, room: number): string {
  // A code unit takes a byte at least.
  let [fits, over] = [0, Math.min(text.length, room) + 1]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (sizeOf(text.slice(0, middle).toWellFormed()) <= room) fits = middle
    else over = middle
  }
  const start = text.slice(0, fits)
  return /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start
}
