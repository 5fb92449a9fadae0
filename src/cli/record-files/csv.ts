/** CSV as RFC 4180 has it: fields in quotes may have commas, line ends, and quotes written twice. */

export type CsvRow = { line: number; fields: string[] }

/** The rows of a text that arrives in parts. Empty lines are skipped. */
export async function* readCsv(parts: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const reader = new CsvReader()
  for await (const part of parts) yield* reader.read(part)
  yield* reader.end()
}

class CsvReader {
  #fields: string[] = []
  #field = ''
  /** A quote within quotes is the end of the field, or the first of two. */
  #state: 'plain' | 'quoted' | 'quote' = 'plain'
  #line = 1
  #start = 1
  #isFirst = true;

  *read(part: string): Generator<CsvRow> {
    const text = this.#isFirst ? part.replace(/^\uFEFF/, '') : part
    this.#isFirst = false
    for (const char of text) {
      const row = this.#take(char)
      if (row) yield row
    }
  }

  *end(): Generator<CsvRow> {
    if (this.#state === 'quoted') throw new SyntaxError(`Line ${this.#start}: a quote is not closed.`)
    const row = this.#endRow()
    if (row) yield row
  }

  #take(char: string): CsvRow | undefined {
    if (char === '\n') this.#line++
    if (this.#state === 'quoted') {
      if (char === '"') this.#state = 'quote'
      else this.#field += char
    } else if (char === '"' && (this.#state === 'quote' || this.#field === '')) {
      if (this.#state === 'quote') this.#field += '"'
      this.#state = 'quoted'
    } else if (char === ',') this.#endField()
    else if (char === '\n') return this.#endRow()
    else if (char !== '\r') {
      if (this.#state === 'quote') throw new SyntaxError(`Line ${this.#line}: text follows a closed quote.`)
      this.#field += char
    }
    return undefined
  }

  #endField(): void {
    this.#fields.push(this.#field)
    this.#field = ''
    this.#state = 'plain'
  }

  #endRow(): CsvRow | undefined {
    const isEmpty = this.#fields.length === 0 && this.#field === '' && this.#state === 'plain'
    this.#endField()
    const row = { line: this.#start, fields: this.#fields }
    this.#fields = []
    this.#start = this.#line
    return isEmpty ? undefined : row
  }
}

/** A row as text. */
export const csvLine = (fields: readonly string[]): string =>
  `${fields.map((field) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')}\r\n`
