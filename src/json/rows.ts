import { mapInTurns } from '../foundation/event-loop-turns.ts'

/** Rows as JSON text. Serializers write the texts unchanged; other readers get the parsed values. */
export class JsonRows {
  readonly texts: readonly string[]

  constructor(texts: readonly string[]) {
    this.texts = texts
  }

  toJSON(): object[] {
    return this.texts.map((text) => JSON.parse(text) as object)
  }
}

/** Serializes a list body; undefined for any other body. */
export function textOfList(body: object): string | Promise<string> | undefined {
  const { data, ...rest } = body as { data?: unknown }
  if (data instanceof JsonRows) return listText(data.texts, rest)
  // The HTTP layer serializes single objects and short lists in one step.
  if (!Array.isArray(data) || data.length < 2) return undefined
  return textInTurns(data, rest)
}

/** Joins all parts at once, because the text is long. */
function listText(texts: readonly string[], rest: object): string {
  const end = `]${Object.keys(rest).length > 0 ? ',' : ''}${JSON.stringify(rest).slice(1)}`
  const parts = texts.length === 0 ? [''] : [...texts]
  parts[0] = `{"data":[${parts[0]}`
  parts[parts.length - 1] += end
  return parts.join(',')
}

async function textInTurns(rows: readonly unknown[], rest: object): Promise<string> {
  const texts = await mapInTurns(rows, (row) => JSON.stringify(row))
  return listText(texts, rest)
}

export const valuesOf = (rows: unknown): object[] =>
  rows instanceof JsonRows ? rows.toJSON() : (rows as object[])

/** Cursors behind each row of a page, computed lazily. */
export class RowCursors {
  readonly #rows: number
  readonly #after: (index: number) => string

  constructor(rows: number, after: (index: number) => string) {
    this.#rows = rows
    this.#after = after
  }

  /** Returns the cursor behind the row with this index (from 0). */
  after(index: number): string {
    return this.#after(index)
  }

  toJSON(): string[] {
    return Array.from({ length: this.#rows }, (_, index) => this.#after(index))
  }
}
