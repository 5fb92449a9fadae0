import { styleText } from 'node:util'
import { escapeForScreen as escaped } from '../../foundation/invisible-characters.ts'
import type { Answer } from './client.ts'
import { localTime } from './local-time.ts'

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
  const rows = data.map((item) => ({
    ...item,
    ...nameIn(item, 'by'),
    ...nameIn(item, 'of'),
    ...nameIn(item, 'holder'),
  }))
  showRows(rows, columns)
  noteMore(data.length, meta)
}

/** Who or what a row is of, by its name: a cell has no room for more. */
const nameIn = (item: Fields, column: string): Fields => {
  const { name } = (item[column] ?? {}) as { name?: unknown }
  return typeof name === 'string' ? { [column]: name } : {}
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

// Tables within the width of a terminal.

const GAP = 2
/** The least width of a cut column. */
const LEAST = 8
/** A UUID is shown whole, where another column has room. */
const LONGEST_ID = 36
/** Characters that take two columns: East Asian ones and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
/** Characters that take none: marks, joiners and selectors of variants. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOfChar = (char: string): number => (NARROW.test(char) ? 0 : WIDE.test(char) ? 2 : 1)
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
const widthOf = (text: string): number =>
  isPlain(text) ? text.length : [...text].reduce((sum, char) => sum + widthOfChar(char), 0)

type Table = {
  /** Padded cells; the first line has the names. */
  readonly lines: readonly (readonly string[])[]
  /** Columns that have no room. */
  readonly hidden: readonly string[]
}

/**
 * Lays out a table. The first column names the row, so it is cut last; wide columns are cut to a common width, and
 * columns go from the end if they would be narrower than 8. Those of `whole` are not cut: of a moment, the end tells most.
 */
function layOut(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  whole: readonly boolean[] = [],
): Table {
  const natural = columns.map((name, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[i] ?? '')), widthOf(name)),
  )
  let shown = columns.length
  while (shown > 1 && leastWidth(natural.slice(0, shown), width, whole) > width) shown--
  const widths = shareOut(natural.slice(0, shown), width, whole)
  const lines = [columns, ...rows].map((row) =>
    widths.map((room, i) => {
      const text = cut(row[i] ?? '', room)
      return i === shown - 1 ? text : text + ' '.repeat(room - widthOf(text) + GAP)
    }),
  )
  return { lines, hidden: columns.slice(shown) }
}

const gaps = ({ length }: readonly number[]): number => (length - 1) * GAP

/** The width of the first column, which names the row. */
const firstOf = ([first = 0]: readonly number[], width: number): number =>
  Math.min(first, Math.max(LEAST, Math.floor(width / 2), Math.min(LONGEST_ID, width - LEAST - GAP)))

function leastWidth(natural: readonly number[], width: number, whole: readonly boolean[]): number {
  const others = natural
    .slice(1)
    .reduce((sum, each, i) => sum + (whole[i + 1] ? each : Math.min(each, LEAST)), 0)
  return firstOf(natural, width) + others + gaps(natural)
}

/** Gives each column its natural width, or the largest width at which all fit. */
function shareOut(natural: readonly number[], width: number, whole: readonly boolean[]): number[] {
  const room = width - gaps(natural)
  if (natural.reduce((sum, each) => sum + each, 0) <= room) return [...natural]
  const [, ...others] = natural
  const first = others.length === 0 ? Math.min(natural[0] ?? 0, Math.max(1, room)) : firstOf(natural, width)
  let left = room - first
  const given = new Map<number, number>()
  const rank = ({ each, i }: { each: number; i: number }) => (whole[i + 1] ? 0 : each)
  const byWidth = others.map((each, i) => ({ each, i })).sort((one, other) => rank(one) - rank(other))
  for (const [n, { each, i }] of byWidth.entries()) {
    const most = whole[i + 1] ? each : Math.max(1, Math.floor(left / (byWidth.length - n)))
    const share = Math.min(each, most)
    given.set(i, share)
    left -= share
  }
  return [first, ...others.map((_, i) => given.get(i) ?? LEAST)]
}

/** Cuts a text to a width, with "…" at the end. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const char of text) {
    used += widthOfChar(char)
    if (used > width - 1) break
    kept += char
  }
  return `${kept}…`
}
