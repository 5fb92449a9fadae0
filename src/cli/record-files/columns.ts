/** Records as rows of a CSV file: a column for each property. */
import { onlyKind, type Shape } from '../../schema-shape/shape.ts'

export type FileRecord = {
  id?: string
  external_id?: string
  external_source?: string
  data: Record<string, unknown>
}

/** Columns beside those of the data. */
export const OWN = ['id', 'external_id', 'external_source'] as const
type Own = (typeof OWN)[number]
const PREFIX = 'data.'
const isOwn = (name: string): name is Own => OWN.some((each) => each === name)

/** The cell of a property: empty for what is missing, text as it is, anything else as JSON; text too, if it would be read as something else. */
export function cellOf(value: unknown, name: string, shape: Shape): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  return value !== '' && readCell(value, name, shape) === value ? value : JSON.stringify(value)
}

/** The column of a property: its name, with `data.` before it where that would be another column. */
export const columnOf = (property: string): string =>
  isOwn(property) || property.startsWith(PREFIX) ? `${PREFIX}${property}` : property
const propertyOf = (column: string): string =>
  column.startsWith(PREFIX) ? column.slice(PREFIX.length) : column

/**
 * The columns of a first row.
 * @throws SyntaxError if two are of the same property
 */
export function columnsOf(cells: readonly string[]): string[] {
  const columns = cells.map((cell) => cell.trim())
  const meant = columns.map((column) => (isOwn(column) ? column : PREFIX + propertyOf(column)))
  const again = meant.findIndex((each, at) => columns[at] !== '' && meant.indexOf(each) !== at)
  if (again >= 0) throw new SyntaxError(`The column "${columns[again]}" is there twice.`)
  return columns
}

/**
 * The record of a row. An empty cell is a property that is left out. A column that is named as a field of every record,
 * with the prefix `data.`, is the property of that name.
 * @throws SyntaxError for a cell that is not of the type of its property
 */
export function recordOf(columns: readonly string[], cells: readonly string[], shape: Shape): FileRecord {
  if (cells.length > columns.length)
    throw new SyntaxError(`The row has ${cells.length} cells, the first row ${columns.length}.`)
  const own: Partial<Record<Own, string>> = {}
  const data: [string, unknown][] = []
  for (const [at, column] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (cell === '') continue
    if (column === '') throw new SyntaxError(`The first row has no name for the column ${at + 1}.`)
    const name = propertyOf(column)
    if (isOwn(column)) own[column] = cell
    else data.push([name, readCell(cell, name, shape)])
  }
  return { ...own, data: Object.fromEntries(data) }
}

function readCell(cell: string, name: string, shape: Shape): unknown {
  const property = shape.object.properties.get(name)
  const kind = property && onlyKind(property)
  if (property === undefined) return cell
  if (kind === 'string') return readText(cell, property.kinds.has('null'))
  try {
    const value: unknown = JSON.parse(cell)
    // A property of several kinds, one of them text, takes "007" as text.
    if (kind !== undefined || typeof value !== 'number' || String(value) === cell) return value
  } catch {
    if (kind !== undefined)
      throw new SyntaxError(`"${cell.slice(0, 40)}" in the column "${name}" is not a ${kind}.`)
  }
  return cell
}

/** Text is as it is. Null, and text that would be taken for null or for a missing cell, are JSON. */
function readText(cell: string, isNullable: boolean): string | null {
  if (isNullable && cell === 'null') return null
  const text = textOfJson(cell)
  const isMeant = text === '' || (text !== undefined && readText(text, isNullable) !== text)
  return isMeant ? text : cell
}

/** The text of a JSON string. */
function textOfJson(cell: string): string | undefined {
  if (!/^".*"$/s.test(cell)) return undefined
  try {
    return JSON.parse(cell) as string
  } catch {
    return undefined
  }
}
