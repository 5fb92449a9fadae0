/** CSV as RFC 4180 has it, with cells that are read by the type of their property. */
import { isBuiltIn } from '../contract/record-columns.ts'
import { onlyKind, type Shape } from './shape.ts'

const PREFIX = 'data.'

/** The column of a property: its name, with `data.` before it where that would be another column, or a formula. */
export const columnOf = (property: string): string =>
  isBuiltIn(property) || property.startsWith(PREFIX) || property.startsWith('_') || isFormula(property)
    ? `${PREFIX}${property}`
    : property
export const propertyOf = (column: string): string =>
  column.startsWith(PREFIX) ? column.slice(PREFIX.length) : column

/** The cell of a property: empty for what is missing, text as it is, anything else as JSON; text too, if it would be read as something else. */
export function cellOf(value: unknown, name: string, shape: Shape): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain = value !== '' && !isFormula(value) && readCell(value, name, shape) === value
  return isPlain ? value : JSON.stringify(value)
}

/** The cell of a value without a schema: empty for null. */
export function plainCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  return !isFormula(value) && readText(value, false) === value ? value : JSON.stringify(value)
}

/** Whether a spreadsheet would run the text. Signed numbers are only shown. */
const isFormula = (text: string): boolean => /^[=@\t\r\n＝＠＋－]|^[+-](?![\d.]+$)/.test(text)

/** @throws SyntaxError for a cell that is not of the type of its property */
export function readCell(cell: string, name: string, shape: Shape): unknown {
  const property = shape.object.properties.get(name)
  const kind = property && onlyKind(property)
  if (property === undefined) return readText(cell, false)
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

/** Text is as it is. Null, and text that would be taken for null, for a missing cell or for a formula, are JSON. */
export function readText(cell: string, isNullable: boolean): string | null {
  if (isNullable && cell === 'null') return null
  const text = textOfJson(cell)
  const isMeant =
    text === '' || (text !== undefined && (isFormula(text) || readText(text, isNullable) !== text))
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

/** A row as text. */
export const csvLine = (fields: readonly string[]): string =>
  `${fields.map((field) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')}\r\n`
