/** A SQL statement with its bind values. */
export type BoundStatement = { text: string; values: readonly unknown[] }

/** Bind parameters of a statement; each value gets the next `$n`. */
export class Parameters {
  readonly values: unknown[] = []

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** Binds the values that the text references and renumbers them: PostgreSQL rejects unused parameters. */
  bind(text: string): BoundStatement {
    const places = new Map<string, number>()
    const numbered = text.replace(/\$(\d+)/g, (_, n: string) => {
      if (!places.has(n)) places.set(n, places.size + 1)
      return `$${places.get(n)}`
    })
    return { text: numbered, values: [...places.keys()].map((n) => this.values[Number(n) - 1]) }
  }
}
