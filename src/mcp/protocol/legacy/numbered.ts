/** More than can be there at the same time. */
const PLACES = 2 ** 20

/**
 * Values under numbers of their own, which are never used twice. A Map makes a table anew whenever so many came and went, and
 * each former one leads to the next: what they held would stay until a major collection.
 */
export class Numbered<Value> {
  readonly #entries: ({ readonly number: number; readonly value: Value } | undefined)[] = []
  readonly #free: number[] = []
  #added = 0

  add(value: Value): number {
    const place = this.#free.pop() ?? this.#entries.length
    const number = ++this.#added * PLACES + place
    this.#entries[place] = { number, value }
    return number
  }
  get(number: unknown): Value | undefined {
    const entry = typeof number === 'number' ? this.#entries[number % PLACES] : undefined
    return entry?.number === number ? entry?.value : undefined
  }
  delete(number: unknown): void {
    if (typeof number !== 'number' || this.get(number) === undefined) return
    this.#entries[number % PLACES] = undefined
    this.#free.push(number % PLACES)
  }
  /** All of them, as they are now. */
  all(): { readonly number: number; readonly value: Value }[] {
    return this.#entries.filter((entry) => entry !== undefined)
  }
}
