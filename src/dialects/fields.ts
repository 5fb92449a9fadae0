import { COLUMNS } from '../contract/record-columns.ts'
import { isClose } from '../contract/suggest.ts'
import { LIMITS } from '../foundation/limits.ts'
import { Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'

const isColumn = (name: string): boolean => (COLUMNS as readonly string[]).includes(name)
/** Fields of the record representation that filters do not support. */
const UNREADABLE = ['record_type', 'base_id', 'cancelled_at', 'deleted_at']

// Path segments after `data`: .name, [0], [] or ["any key"].
const SEGMENT = /\.[^.[\]"]+|\[\d{1,9}\]|\[\]|\["(?:[^"\\]|\\.)*"\]/gsy
const PLAIN_KEY = /^[\p{L}\p{N}\p{M}_$-]+$/u

/**
 * Resolves a written name to a field.
 * @throws Unclear
 */
export function fieldOf(name: string, columns: readonly string[] = COLUMNS): string {
  if (name.length > LIMITS.fieldChars || !name.isWellFormed() || name.includes('\0')) throw new Unclear()
  if (columns.includes(name) || isDataPath(name)) return name
  if (UNREADABLE.includes(name)) throw new Unclear()
  return columnOf(name, columns) ?? dataPath(/^data[.[]/i.test(name) ? name.slice('data'.length) : `.${name}`)
}

/** Whether the name is an exact column or data path. */
export const isField = (name: string): boolean => isColumn(name) || isDataPath(name)

/** Columns of type text: `external_id=eq.42` compares with the text "42". */
export const holdsText = (name: string): boolean =>
  isColumn(columnOf(name, COLUMNS) ?? name) && name !== 'version'

/** Matches a column by case-insensitive name or one edit, excluding plurals. */
function columnOf(name: string, columns: readonly string[]): string | undefined {
  if (['_id', 'ID', 'Id'].includes(name) && columns.includes('id')) return 'id'
  const flat = name.replace(/[_\s-]/g, '').toLowerCase()
  return columns.find(
    (column) =>
      (column.includes('_') && column.replaceAll('_', '') === flat) ||
      (column.length > 5 && name !== `${column}s` && isClose(name, column)),
  )
}

function isDataPath(name: string): boolean {
  if (!/^data(?:[.[]|$)/.test(name) || name.length > LIMITS.fieldChars) return false
  const segments = segmentsOf(name.slice('data'.length))
  return segments !== undefined && segments.length <= LIMITS.fieldSegments
}

function segmentsOf(path: string): string[] | undefined {
  const segments = path.match(SEGMENT) ?? []
  if (segments.join('') !== path) return undefined
  return segments.every((each) => !each.startsWith('["') || jsonIn(each.slice(1, -1)) !== undefined)
    ? segments
    : undefined
}

/**
 * Normalizes the path below data and quotes special keys.
 * @throws Unclear
 */
function dataPath(path: string): string {
  const segments = segmentsOf(path) ?? path.split('.').slice(1).map(quoted)
  const field = `data${segments.map((each) => (each.startsWith('.') ? quoted(each.slice(1)) : each)).join('')}`
  if (!isDataPath(field) || segments.length === 0) throw new Unclear()
  return field
}

function quoted(key: string): string {
  if (key === '' || key === '__proto__') throw new Unclear()
  if (PLAIN_KEY.test(key)) return `.${key}`
  return `[${JSON.stringify(key)}]`
}
