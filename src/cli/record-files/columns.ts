/** Records as rows of a CSV file: a column for each property. */
import { propertyOf, readCell, readText } from '../../schema-shape/csv.ts'
import type { Shape } from '../../schema-shape/shape.ts'

export type FileRecord = {
  id?: string
  external_id?: string
  external_source?: string
  data: Record<string, unknown>
}

/** Columns beside those of the data. */
export const OWN = ['id', 'external_id', 'external_source'] as const
type Own = (typeof OWN)[number]
const isOwn = (name: string): name is Own => OWN.some((each) => each === name)

/**
 * The columns of a first row.
 * @throws SyntaxError if two are of the same property
 */
export function columnsOf(cells: readonly string[]): string[] {
  const columns = cells.map((cell) => cell.trim())
  const meant = columns.map((column) => (isOwn(column) ? column : `data.${propertyOf(column)}`))
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
    if (isOwn(column)) own[column] = readText(cell, false) ?? cell
    else data.push([name, readCell(cell, name, shape)])
  }
  return { ...own, data: Object.fromEntries(data) }
}
