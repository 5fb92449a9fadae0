/** Rows that are JSON text already: who writes JSON takes them as they are, everybody else gets the values. */
export class JsonRows {
  readonly texts: readonly string[]

  constructor(texts: readonly string[]) {
    this.texts = texts
  }

  toJSON(): object[] {
    return this.texts.map((text) => JSON.parse(text) as object)
  }
}

/** The JSON text of a list whose rows are text; undefined for any other body. */
export function textOfRows(body: unknown): string | undefined {
  const { data, ...rest } = (body ?? {}) as { data?: unknown }
  if (!(data instanceof JsonRows)) return undefined
  // Joined once, and with all that stands around them: the text is long.
  return ['{"data":[', data.texts.join(','), '],', JSON.stringify(rest).slice(1)].join('')
}

export const valuesOf = (rows: unknown): object[] =>
  rows instanceof JsonRows ? rows.toJSON() : (rows as object[])

/** Where a page that starts behind each row of this one would start: made for a row when it is asked for. */
export class RowCursors {
  readonly #rows: number
  readonly #after: (index: number) => string

  constructor(rows: number, after: (index: number) => string) {
    this.#rows = rows
    this.#after = after
  }

  /** Behind the row of the index, from 0. */
  after(index: number): string {
    return this.#after(index)
  }

  toJSON(): string[] {
    return Array.from({ length: this.#rows }, (_, index) => this.#after(index))
  }
}
