import { styleText } from 'node:util'
import { escapeForScreen as escaped } from '../../foundation/invisible-characters.ts'
import type { Answer } from './client.ts'
import { localTime } from './local-time.ts'
import { layOut } from './table.ts'

type Fields = Record<string, unknown>
type Page = { data: Fields[]; meta: Meta }
type Meta = { has_more?: boolean; offset: number; next_cursor?: string; total?: number }

/** Prints a message to standard error. */
export const note = (text: string): void => void process.stderr.write(escaped(text))

/** Prints a failure to standard error: its first word is the code. */
export function noteFailure(text: string): void {
  const code = /^\w+/.exec(text)?.[0] ?? ''
  const shown = styleText(['red', 'bold'], code, { stream: process.stderr })
  process.stderr.write(`${code && shown}${escaped(text.slice(code.length))}`)
}

/** Prints a text to standard output. */
export const print = (text: string): void =>
  void process.stdout.write(process.stdout.isTTY ? escaped(text) : text)

export type Color = 'green' | 'red' | 'yellow' | 'dim'

/** Prints a line in a color, if standard output is a terminal that has any. NO_COLOR and FORCE_COLOR decide otherwise. */
export function printLine(text: string, color?: Color): void {
  const line = escaped(text)
  process.stdout.write(`${color ? colored(color, line) : line}\n`)
}

/** Prints the response body: indented on a terminal, unchanged in a pipe. */
export function showJson({ text, body }: Answer): void {
  process.stdout.write(`${process.stdout.isTTY ? escaped(JSON.stringify(body, null, 2)) : text}\n`)
}

/** Prints a success: a list as a table, an object as fields. */
export function show({ body }: Answer, columns: readonly string[]): void {
  if (isPage(body)) showPage(body, columns)
  else showOne(body)
}

const isPage = (body: unknown): body is Page =>
  typeof body === 'object' && body !== null && Array.isArray((body as Fields)['data']) && 'meta' in body

function showPage({ data, meta }: Page, columns: readonly string[]): void {
  showRows(data, columns)
  noteMore(data.length, meta)
}

/** Says how many items there are, if the request counted them, and how to get the next page. */
export function noteMore(
  shown: number,
  { has_more: hasMore, offset, next_cursor: cursor, total }: Meta,
): void {
  if (total !== undefined) note(`${shown} of ${total}\n`)
  if (hasMore) note(`There are more: ${cursor ? `--cursor ${cursor}` : `--offset ${offset + shown}`}\n`)
}

/** Prints rows: a table on a terminal, tab-separated lines in a pipe. */
export function showRows(
  data: readonly Fields[],
  columns: readonly string[],
  labelOf = (column: string): string => column,
): void {
  const names = columns.map((column) => cell(labelOf(column)))
  const rows = data.map((item) => columns.map((column) => cell(item[column])))
  const times = columns.map((column) => TIME.test(column))
  const read = (row: readonly string[]) => row.map((text, at) => (times[at] ? localTime(text) : text))
  if (process.stdout.isTTY) showTable(names, rows.map(read), times)
  else for (const row of [names, ...rows]) process.stdout.write(`${row.join('\t')}\n`)
}

/** Columns of moments. Those of data have another name, and stay as they are. */
const TIME = /^(\w+_)?at$/

/** Prints one row, tab-separated. */
export const showLine = (values: readonly unknown[]): void =>
  void process.stdout.write(`${values.map(cell).join('\t')}\n`)

/** Prints one stream entry as a line of JSON; unchanged in a pipe. */
export const showJsonLine = (json: string): void =>
  void process.stdout.write(`${process.stdout.isTTY ? escaped(json) : json}\n`)

/** Prints a table that fits in the terminal, and what it has no room for. */
function showTable(columns: readonly string[], rows: readonly string[][], times: readonly boolean[]): void {
  const { lines, hidden } = layOut(columns, rows, process.stdout.columns || STANDARD_WIDTH, times)
  for (const [n, line] of lines.entries()) {
    const cells = n === 0 ? [colored('bold', line.join(''))] : line.map(asCell)
    process.stdout.write(`${cells.join('').trimEnd()}\n`)
  }
  if (hidden.length > 0) note(`No room for: ${hidden.join(', ')}. --json shows all.\n`)
}

const STANDARD_WIDTH = 80
const asCell = (text: string): string => (text.trimEnd() === '-' ? colored('dim', text) : text)
const colored = (format: 'bold' | Color, text: string): string =>
  styleText(format, text, { stream: process.stdout })

/** Prints the fields of an object, one per line, with nested objects indented. */
export function showOne(body: unknown, out: NodeJS.WritableStream = process.stdout): void {
  const fields = Object.entries(body as Fields)
  const width = Math.max(0, ...fields.map(([name]) => name.length))
  for (const [name, value] of fields) {
    const nested = typeof value === 'object' && value !== null && Object.keys(value).length > 0
    const shown = nested
      ? JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
      : value === null
        ? '-'
        : asText(value)
    const label = styleText('dim', escaped(nested ? name : name.padEnd(width)), { stream: out })
    out.write(`${label}${nested ? '\n' : ''}  ${escaped(shown)}\n`)
  }
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const cell = (value: unknown): string =>
  value === null || value === undefined
    ? '-'
    : escaped(asText(value).replaceAll('\t', '\\t').replaceAll('\n', '\\n'))
