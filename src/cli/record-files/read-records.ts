/** The records of a file, one after the other. */

import { DomainError } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { parseJson } from '../../json/parse.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import { misused } from '../command/failure.ts'
import { type CsvRow, readCsv } from './csv.ts'
import { columnsOf, type FileRecord, OWN, recordOf } from './infer-columns.ts'

export type Format = 'ndjson' | 'csv'
/** What `line` counts: the lines of the text, or the items of a JSON array. */
type Noun = 'line' | 'item'
export type LineRecord = { line: number; noun: Noun; record: FileRecord }

/** The format of a file; for CSV with the delimiter of its cells, if that is named. */
export type Form = { format: Format; delimiter?: string | undefined; shape: Shape }
type Fault = { line: number; noun: Noun; message: string }

/**
 * After a wrong line no record follows, and the other lines are only checked.
 * @throws Failure that names all wrong lines, up to a limit
 */
export async function* readRecords(parts: AsyncIterable<string>, form: Form): AsyncGenerator<LineRecord> {
  const faults: Fault[] = []
  for await (const { line, noun = 'line', read } of textsOf(parts, form)) {
    try {
      const record = read()
      if (faults.length === 0) yield { line, noun, record }
    } catch (error) {
      faults.push({ line, noun, message: faultOf(error) })
      if (faults.length === LIMITS.importFaultsShown) break
    }
  }
  const [first] = faults
  if (first === undefined) return
  if (faults.length === 1) throw misused(`${placeOf(first)}: ${first.message}`)
  const most = faults.length === LIMITS.importFaultsShown ? 'At least ' : ''
  throw misused(
    `${most}${faults.length} ${first.noun}s are wrong.`,
    faults.map(({ line, noun, message }) => ({ path: `${noun} ${line}`, message })),
  )
}

/** @throws what is no fault of a line */
function faultOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof DomainError) return error.message
  throw error
}

type Text = { line: number; noun?: Noun; read: () => FileRecord }

/** `Line 3` */
const placeOf = ({ line, noun }: Pick<Fault, 'line' | 'noun'>): string =>
  `${noun === 'line' ? 'Line' : 'Item'} ${line}`

/** @throws Failure for a text that cannot be read further */
async function* textsOf(
  parts: AsyncIterable<string>,
  { format, delimiter, shape }: Form,
): AsyncGenerator<Text> {
  let line = 1
  let noun: Noun = 'line'
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
      const [isArray, all] = await peeked(parts)
      if (isArray) noun = 'item'
      for await (const text of isArray ? itemsOf(all) : linesOf(all)) {
        if (isArray || text.trim() !== '') yield { line, noun, read: () => recordOfJson(text, noun) }
        line++
      }
    }
  } catch (error) {
    const message = faultOf(error)
    throw misused(/^Line \d+: /.test(message) ? message : `${placeOf({ line, noun })}: ${message}`)
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

/** Whether a text is a JSON array, and all of its parts. No line of NDJSON begins with a bracket. */
async function peeked(parts: AsyncIterable<string>): Promise<[boolean, AsyncIterable<string>]> {
  const rest = parts[Symbol.asyncIterator]()
  let head = ''
  while (head.trim() === '' && head.length <= LIMITS.importLineChars) {
    const { done, value } = await rest.next()
    if (done) break
    head += value
  }
  async function* all() {
    yield head
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return [head.trimStart().startsWith('['), all()]
}

/** The texts of the items of a JSON array. Each is parsed by itself, so the array may be of any size. */
async function* itemsOf(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let item = ''
  let levels = 0
  let count = 0
  let isText = false
  let isEscaped = false
  for await (const part of parts) {
    let from = 0
    for (let at = 0; at < part.length; at++) {
      const char = part[at] ?? ''
      if (isText) {
        isText = isEscaped || char !== '"'
        isEscaped = !isEscaped && char === '\\'
        continue
      }
      if (char === '"') isText = true
      else if (char === '[' || char === '{') levels++
      else if (char === ']' || char === '}') levels--
      const isOpening = levels === 1 && char === '[' && count === 0 && item === '' && from === 0
      const isEnd = levels === 0 && char === ']'
      if (!isOpening && !isEnd && !(levels === 1 && char === ',')) continue
      const text = item + part.slice(from, at)
      item = ''
      from = at + 1
      if (isOpening || (isEnd && count === 0 && text.trim() === '')) continue
      count++
      yield text
    }
    item += part.slice(from)
    if (item.length > LIMITS.importLineChars) throw new SyntaxError('the item is too long.')
  }
  if (levels > 0) throw new SyntaxError('the array has no end.')
  if (item.trim() !== '') throw new SyntaxError('text follows the array.')
}

async function* linesOf(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > LIMITS.importLineChars) throw new SyntaxError('the line is too long.')
  }
  yield rest
}

const FIELDS: readonly string[] = [...OWN, 'data']

/** An object with `data` and fields of every record only is a record, any other one is the data of a record. */
function recordOfJson(text: string, noun: Noun): FileRecord {
  const value = parseJson(text)
  if (!isObject(value)) throw new SyntaxError(`A${noun === 'item' ? 'n' : ''} ${noun} must be a JSON object.`)
  const isRecord = isObject(value['data']) && Object.keys(value).every((name) => FIELDS.includes(name))
  if (!isRecord) return { data: value }
  const given = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(given) as FileRecord
}
