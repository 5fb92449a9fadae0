/** A statement with its values. */
export type BoundStatement = { text: string; values: readonly unknown[] }

/** Collects the values of a statement; each gets the next `$n`. */
export class Parameters {
  readonly values: unknown[] = []

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** The statement with the values that its text names, numbered anew: the database refuses any others. */
  bind(text: string): BoundStatement {
    const places = new Map<string, number>()
    const numbered = text.replace(/\$(\d+)/g, (_, n: string) => {
      if (!places.has(n)) places.set(n, places.size + 1)
      return `$${places.get(n)}`
    })
    return { text: numbered, values: [...places.keys()].map((n) => this.values[Number(n) - 1]) }
  }
}
