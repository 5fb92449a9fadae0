import type { Column } from '../../../contract/record-columns.ts'
import type { Position } from '../../core/cursor.ts'
import { columnOperand, type FieldContext, singleOperand } from '../../data/filter/operand.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import { keyOf } from '../../data/filter/sort-key.ts'
import type { BoundSort } from '../../data/filter/syntax-tree.ts'
import type { SortTerm } from './sort.ts'

/** One term of an ORDER BY over `plinth.record AS r`. */
export type OrderTerm = {
  /** The sort expression: a column, or the key of a value in `data`. */
  sql: string
  column: Column | null
  /** SQL type of the bound cursor value. */
  type: 'text' | 'int' | 'timestamptz' | 'float8'
  nullable: boolean
  descending: boolean
}

/**
 * Compiles a sort into ORDER BY terms.
 * @throws VALIDATION_ERROR for a `[]` path
 */
export function orderTerms(
  sort: BoundSort<SortTerm>,
  type: FieldContext,
  score: string | null,
  parameters: Parameters,
): OrderTerm[] {
  return sort.map(({ field, descending, at }) => {
    if (field.kind === 'score')
      return { sql: score ?? '0::float8', column: null, type: 'float8', nullable: false, descending }
    if (field.kind === 'data') {
      const operand = singleOperand(field, type, parameters, at, 'sort by')
      return { sql: keyOf(operand, parameters), column: null, type: 'text', nullable: true, descending }
    }
    const { sql, kind } = columnOperand(field.column, type)
    return {
      sql,
      column: field.column,
      type: kind === 'instant' ? 'timestamptz' : kind === 'number' ? 'int' : 'text',
      nullable: field.column === 'external_id' || field.column === 'external_source',
      descending,
    }
  })
}

/** The direction of the `id` tiebreaker: that of the last term. */
export const tieDescending = (terms: readonly { descending: boolean }[]): boolean =>
  terms.at(-1)?.descending ?? false

/** ORDER BY of a sort; missing values come last in both directions. */
export function orderBy(terms: readonly OrderTerm[]): string {
  const columns = terms.map(
    ({ sql, nullable, descending }) =>
      `${sql} ${descending ? 'DESC' : 'ASC'}${nullable ? ' NULLS LAST' : ''}`,
  )
  return [...columns, `r.id ${tieDescending(terms) ? 'DESC' : 'ASC'}`].join(', ')
}

/** Keyset condition: the records after a position, in the order of the terms. */
export function after(terms: readonly OrderTerm[], position: Position, parameters: Parameters): string {
  const descending = tieDescending(terms)
  const id = parameters.add(position.id)
  const bound = terms.map(({ type }, i) => {
    const value = position.values[i] ?? null
    return value === null ? null : `${parameters.add(value)}::${type}`
  })
  // Terms of one direction without nulls compare as a row, from which an index scan can start.
  if (terms.every((term) => !term.nullable && term.descending === descending))
    return `(${[...terms.map(({ sql }) => sql), 'r.id'].join(', ')}) ${descending ? '<' : '>'} (${[...bound, id].join(', ')})`
  const beyond = terms.map((term, i) => {
    if (bound[i] === null) return 'false'
    const past = `${term.sql} ${term.descending ? '<' : '>'} ${bound[i]}`
    return term.nullable ? `(${past} OR ${term.sql} IS NULL)` : past
  })
  const same = terms.map(({ sql }, i) => (bound[i] === null ? `${sql} IS NULL` : `${sql} = ${bound[i]}`))
  const steps = [...beyond, `r.id ${descending ? '<' : '>'} ${id}`]
  return `(${steps.map((step, i) => `(${[...same.slice(0, i), step].join(' AND ')})`).join(' OR ')})`
}
