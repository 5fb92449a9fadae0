/** The records of a file, one after the other. */
import { DomainError } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { parseJson } from '../../json/parse.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import { misused } from '../command/failure.ts'
import { columnsOf, type FileRecord, OWN, recordOf } from './columns.ts'
import { type CsvRow, readCsv } from './csv.ts'

export type Format = 'ndjson' | 'csv'
export type LineRecord = { line: number; record: FileRecord }

/** @throws Failure that names the line */
export async function* readRecords(
  parts: AsyncIterable<string>,
  format: Format,
  shape: Shape,
): AsyncGenerator<LineRecord> {
  let line = 1
  try {
    if (format === 'csv') {
      let columns: string[] | undefined
      for await (const row of readCsv(parts) as AsyncIterable<CsvRow>) {
        line = row.line
        if (columns) yield { line, record: recordOf(columns, row.fields, shape) }
        else columns = columnsOf(row.fields)
      }
    } else {
      for await (const text of linesOf(parts)) {
        if (text.trim() !== '') yield { line, record: recordOfJson(text) }
        line++
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DomainError)
      throw misused(/^Line \d+: /.test(error.message) ? error.message : `Line ${line}: ${error.message}`)
    throw error
  }
}

/** Characters of a line. */
const MOST_CHARS = 8 * 1024 * 1024

async function* linesOf(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > MOST_CHARS) throw new SyntaxError('the line is too long.')
  }
  yield rest
}

const FIELDS: readonly string[] = [...OWN, 'data']

/** An object with `data` and fields of every record only is a record, any other one is the data of a record. */
function recordOfJson(text: string): FileRecord {
  const value = parseJson(text)
  if (!isObject(value)) throw new SyntaxError('A line must be a JSON object.')
  const isRecord = isObject(value['data']) && Object.keys(value).every((name) => FIELDS.includes(name))
  if (!isRecord) return { data: value }
  const given = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(given) as FileRecord
}
