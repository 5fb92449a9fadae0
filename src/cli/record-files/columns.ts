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
const isOwn = (name: string): name is Own => OWN.some((each) => each === name)

/** A cell: text as it is, anything else as JSON; empty for what is missing. */
export const cellOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/**
 * The record of a row. An empty cell is a property that is left out. A column that is named as a field of every record,
 * with the prefix `data.`, is the property of that name.
 * @throws SyntaxError for a cell that is not of the type of its property
 */
export function recordOf(columns: readonly string[], cells: readonly string[], shape: Shape): FileRecord {
  if (cells.length > columns.length)
    throw new SyntaxError(`The row has ${cells.length} cells, the first row ${columns.length}.`)
  const record: FileRecord = { data: {} }
  for (const [at, column] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (cell === '') continue
    const name = column.replace(/^data\./, '')
    if (isOwn(column)) record[column] = cell
    else record.data[name] = readCell(cell, name, shape)
  }
  return record
}

function readCell(cell: string, name: string, shape: Shape): unknown {
  const property = shape.object.properties.get(name)
  const kind = property && onlyKind(property)
  if (property === undefined || kind === 'string') return cell
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
