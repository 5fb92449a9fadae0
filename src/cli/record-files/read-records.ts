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

/** The format of a file; for CSV with the delimiter of its cells, if that is named. */
export type Form = { format: Format; delimiter?: string | undefined; shape: Shape }
type Fault = { line: number; message: string }

/**
 * After a wrong line no record follows, and the other lines are only checked.
 * @throws Failure that names all wrong lines, up to a limit
 */
export async function* readRecords(parts: AsyncIterable<string>, form: Form): AsyncGenerator<LineRecord> {
  const faults: Fault[] = []
  for await (const { line, read } of textsOf(parts, form)) {
    try {
      const record = read()
      if (faults.length === 0) yield { line, record }
    } catch (error) {
      faults.push({ line, message: faultOf(error) })
      if (faults.length === MOST_FAULTS) break
    }
  }
  const [first] = faults
  if (first === undefined) return
  if (faults.length === 1) throw misused(`Line ${first.line}: ${first.message}`)
  const most = faults.length === MOST_FAULTS ? 'At least ' : ''
  throw misused(
    `${most}${faults.length} lines are wrong.`,
    faults.map(({ line, message }) => ({ path: `line ${line}`, message })),
  )
}

const MOST_FAULTS = 50

/** @throws what is no fault of a line */
function faultOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof DomainError) return error.message
  throw error
}

type Text = { line: number; read: () => FileRecord }

/** @throws Failure for a text that cannot be read further */
async function* textsOf(
  parts: AsyncIterable<string>,
  { format, delimiter, shape }: Form,
): AsyncGenerator<Text> {
  let line = 1
  try {
    if (format === 'csv') {
      let columns: string[] | undefined
      for await (const row of readCsv(parts, delimiter ?? ',') as AsyncIterable<CsvRow>) {
        line = row.line
        const { fields } = row
        const named = columns
        if (named) yield { line, read: () => recordOf(named, fields, shape) }
        else columns = columnsOf(checkDelimiter(fields, delimiter))
      }
    } else {
      for await (const text of linesOf(parts)) {
        if (text.trim() !== '') yield { line, read: () => recordOfJson(text) }
        line++
      }
    }
  } catch (error) {
    const message = faultOf(error)
    throw misused(/^Line \d+: /.test(message) ? message : `Line ${line}: ${message}`)
  }
}

/** Spreadsheets of many countries separate cells by semicolons. */
function checkDelimiter(fields: readonly string[], delimiter: string | undefined): readonly string[] {
  const [first = '', second] = fields
  const meant = second === undefined && delimiter === undefined ? /[;\t|]/.exec(first)?.[0] : undefined
  if (meant === undefined) return fields
  const name = meant === '\t' ? 'tab' : meant
  throw new SyntaxError(
    `The first row has no comma, and ${meant === '\t' ? 'a tab' : `"${meant}"`}. Pass --delimiter "${name}" if that separates the cells, or --delimiter "," if not.`,
  )
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
  if (Array.isArray(value))
    throw new SyntaxError(
      "A line must be a JSON object. Write the items of an array as lines: jq -c '.[]' file.json",
    )
  if (!isObject(value)) throw new SyntaxError('A line must be a JSON object.')
  const isRecord = isObject(value['data']) && Object.keys(value).every((name) => FIELDS.includes(name))
  if (!isRecord) return { data: value }
  const given = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(given) as FileRecord
}
