/** The schema of the columns of a CSV file, by all of their cells. */
import { propertyOf, readCell, readText } from '../../schema-shape/csv.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import { readCsv } from './csv.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/
/** Digits that a number keeps; more are an id. */
const MOST_DIGITS = 15

/**
 * A column has the kind that all of its cells have, else it is text.
 * @throws SyntaxError that names the line
 */
export async function schemaOfColumns(
  parts: AsyncIterable<string>,
  delimiter: string | undefined,
): Promise<object> {
  let columns: string[] | undefined
  const kinds = new Map<string, string>()
  for await (const { fields } of readCsv(parts, delimiter)) {
    if (columns === undefined) columns = columnsOf(fields)
    else
      for (const [at, column] of columns.entries()) {
        const cell = fields[at] ?? ''
        const known = kinds.get(column)
        if (cell === '' || known === 'string') continue
        const kind = kindOf(cell)
        kinds.set(column, known === undefined || known === kind ? kind : 'string')
      }
  }
  const properties = [...kinds]
    .filter(([column]) => column !== '' && !OWN.some((own) => own === column))
    .map(([column, type]) => [propertyOf(column), { type }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

function kindOf(cell: string): string {
  if (cell === 'true' || cell === 'false') return 'boolean'
  if (NUMBER.test(cell)) return cell.replace(/\D/g, '').length <= MOST_DIGITS ? 'number' : 'string'
  if (!/^(\[.*\]|\{.*\})$/s.test(cell)) return 'string'
  try {
    return Array.isArray(JSON.parse(cell)) ? 'array' : 'object'
  } catch {
    return 'string'
  }
}

type Schema = { enum?: unknown; required?: unknown; properties?: Record<string, Schema>; items?: Schema }

/** An inferred schema without what says more than these records do: that no other values come, and none is missing. */
export function loosened({ enum: _, required: __, properties, items, ...schema }: Schema): Schema {
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, loosened(property)]),
      ),
    }),
    ...(items && { items: loosened(items) }),
  }
}

// Records as rows of a CSV file: a column for each property.

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
