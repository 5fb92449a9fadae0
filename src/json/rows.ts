import { nextTurn, turnIsOver } from '../foundation/turns.ts'

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

/** The JSON text of a list; undefined for any other body. */
export function textOfList(body: object): string | Promise<string> | undefined {
  const { data, ...rest } = body as { data?: unknown }
  if (data instanceof JsonRows) return listText(data.texts, rest)
  // A single object, or a short list, is written at once by whoever sends it.
  if (!Array.isArray(data) || data.length < 2) return undefined
  return textInTurns(data, rest)
}

// Joined once, and with all that stands around them: the text is long.
const listText = (texts: readonly string[], rest: object): string =>
  [
    '{"data":[',
    texts.join(','),
    ']',
    Object.keys(rest).length > 0 ? ',' : '',
    JSON.stringify(rest).slice(1),
  ].join('')

async function textInTurns(rows: readonly unknown[], rest: object): Promise<string> {
  const texts: string[] = []
  for (const row of rows) {
    if (turnIsOver()) await nextTurn()
    texts.push(JSON.stringify(row))
  }
  return listText(texts, rest)
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
