import { invalid } from '../../errors.ts'
import { nearest } from '../../nearest.ts'
import { COLUMNS, type Column } from '../filter/field.ts'

export type SortTerm = { column: Column; descending: boolean }

const DEFAULT: readonly SortTerm[] = [{ column: 'created_at', descending: true }]

/** Reads `[{ field, direction }]` or the shorthand `-created_at,id`. @throws VALIDATION_ERROR */
export function parseSort(raw: unknown, at: string): readonly SortTerm[] {
  if (raw === undefined || raw === null) return DEFAULT
  if (typeof raw === 'string')
    return raw.split(',').map((term) => {
      const descending = term.startsWith('-')
      return { column: readColumn(descending ? term.slice(1) : term, at), descending }
    })
  if (!Array.isArray(raw) || raw.length === 0)
    throw invalid({
      path: at,
      code: 'type',
      message: 'sort is a list of {"field","direction"}, or a string like "-created_at,id".',
    })
  return raw.map((term, index) => readTerm(term, `${at}/${index}`))
}

function readTerm(term: unknown, at: string): SortTerm {
  if (typeof term !== 'object' || term === null)
    throw invalid({ path: at, code: 'type', message: 'A sort term is {"field","direction"}.' })
  const unknown = Object.keys(term).find((key) => key !== 'field' && key !== 'direction')
  if (unknown)
    throw invalid({
      path: `${at}/${unknown}`,
      code: 'unknown_key',
      message: `A sort term has no "${unknown}".`,
      allowed: ['field', 'direction'],
    })
  const { field, direction = 'asc' } = term as { field?: unknown; direction?: unknown }
  if (direction !== 'asc' && direction !== 'desc')
    throw invalid({
      path: `${at}/direction`,
      code: 'enum',
      message: 'direction is "asc" or "desc".',
      allowed: ['asc', 'desc'],
    })
  return { column: readColumn(field, `${at}/field`), descending: direction === 'desc' }
}

function readColumn(name: unknown, at: string): Column {
  if (COLUMNS.includes(name as Column)) return name as Column
  const text = typeof name === 'string' ? name.slice(0, 64) : ''
  const hint = nearest(text, COLUMNS)
  throw invalid({
    path: at,
    code: 'unknown_field',
    message: `"${text}" is not a field to sort by.`,
    allowed: COLUMNS,
    ...(hint && { hint }),
  })
}

/** Null comes last both ways; `id` breaks ties in the direction of the last term. */
export function compileSort(terms: readonly SortTerm[]): string {
  const last = terms.at(-1)?.descending ? 'DESC' : 'ASC'
  const columns = terms.map(({ column, descending }) => {
    const nullable = column === 'external_id' || column === 'external_source'
    return `${expression(column)} ${descending ? 'DESC' : 'ASC'}${nullable ? ' NULLS LAST' : ''}`
  })
  return [...columns, `id ${last}`].join(', ')
}

/** `active` comes before `cancelled`, as their names do. */
const expression = (column: Column): string => (column === 'status' ? '(cancelled_at IS NOT NULL)' : column)
