/** CSV as RFC 4180 has it: fields in quotes may have commas, line ends, and quotes written twice. */
import { Readable } from 'node:stream'
import { CsvError, type Info, parse } from 'csv-parse'

/** `line` is where the row begins, from 1. */
export type CsvRow = { line: number; fields: string[] }

/** Characters of a row. */
const MOST_CHARS = 8 * 1024 * 1024

/**
 * The rows of a text that arrives in parts. Empty lines are skipped.
 * @throws SyntaxError that names the line
 */
export async function* readCsv(parts: AsyncIterable<string>, delimiter = ','): AsyncGenerator<CsvRow> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MOST_CHARS,
    record_delimiter: ['\r\n', '\n'],
  })
  let line = 1
  try {
    for await (const { info, record } of Readable.from(parts).compose(parser) as AsyncIterable<Parsed>) {
      const height = record.reduce((sum, field) => sum + field.split('\n').length - 1, 0)
      line = info.lines - height
      yield { line, fields: record }
      line = info.lines + 1
    }
  } catch (error) {
    if (error instanceof CsvError) throw new SyntaxError(`Line ${line}: ${faultOf(error)}`)
    throw error
  }
}

type Parsed = { info: Info; record: string[] }

const FAULTS: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed.',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closed quote.',
  INVALID_OPENING_QUOTE: 'a quote is within a field. Put the field in quotes, and write its quotes twice.',
  CSV_MAX_RECORD_SIZE: 'the row is too long.',
}
const faultOf = ({ code, message }: CsvError): string => FAULTS[code] ?? message
