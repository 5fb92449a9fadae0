import type { ValueType } from '../../../contract/operators.ts'
import type { Position } from '../../core/cursor.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { dataOperand, type FieldContext, type Operand } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import type { Fields } from '../../data/filter/parse.ts'
import { operandsOver } from '../../data/filter/record-operands.ts'
import { searchOver } from '../../data/filter/search-condition.ts'
import { keyOf } from '../../data/filter/sort-key.ts'
import type { BoundFilter, BoundSort, Condition, Filter } from '../../data/filter/syntax-tree.ts'
import { RELATIONSHIP_COLUMNS } from '../../data/ledger/relationship.ts'
import { type Field, readField } from '../../schema/compiled-types/field-path.ts'
import { after, type OrderTerm, orderBy } from '../query/order.ts'
import type { SortTerm } from '../query/sort.ts'

/** The fields of a link besides its data, by their names in filters and sorts, with their types. */
const COLUMN_TYPES = {
  id: 'string',
  rel_type: 'string',
  source_record_type: 'string',
  source_id: 'string',
  target_record_type: 'string',
  target_id: 'string',
  external_id: 'string',
  external_source: 'string',
  version: 'number',
  created_at: 'instant',
  updated_at: 'instant',
} as const satisfies Record<string, ValueType>

type LinkColumn = keyof typeof COLUMN_TYPES
const COLUMNS = Object.keys(COLUMN_TYPES) as LinkColumn[]

/**
 * Parses a field such as `rel_type` or `data.since`.
 * @throws VALIDATION_ERROR at `at`
 */
export const parseLinkField = (name: unknown, at: string): Field<LinkColumn> => readField(name, at, COLUMNS)

export const LINK_FIELDS: Fields<LinkColumn> = { read: parseLinkField, types: COLUMN_TYPES }

/** SQL operand for a column of `plinth.relationship AS r`. */
function linkOperand(column: LinkColumn): Exclude<Operand, { kind: 'json' }> {
  const sql = `r.${column}`
  const type = COLUMN_TYPES[column]
  if (type === 'instant') return { kind: 'instant', sql, zone: 'UTC' }
  return { kind: type === 'number' ? 'number' : 'text', sql }
}

/** Parameters of a list of links. */
export type LinkQuery = {
  baseId: string
  /** Record types whose links are visible. */
  readable: '*' | ReadonlySet<string>
  /** Schema for the data of the links. */
  type: FieldContext
  filter: BoundFilter<LinkColumn> | null
  sort: BoundSort<SortTerm<Field<LinkColumn>>>
  limit: number
  offset: number
  position: Position | null
}

/** Statement for a page plus one link. The values of the sort terms are returned as `s0`, `s1`, …. */
export function listStatement(query: LinkQuery): BoundStatement {
  const parameters = new Parameters()
  const terms = termsOf(query, parameters)
  const conditions = conditionsOf(query, parameters)
  if (query.position) conditions.push(after(terms, query.position, parameters))
  const own = RELATIONSHIP_COLUMNS.split(', ').map((column) => `r.${column}`)
  const keys = terms.map(({ sql }, n) => `${sql} AS s${n}`)
  const offset = query.offset > 0 ? ` OFFSET ${parameters.add(query.offset)}::bigint` : ''
  return parameters.bind(
    `SELECT ${[...own, ...keys].join(', ')} FROM ${linksOf(query, parameters)} r WHERE ${conditions.join(' AND ')}
     ORDER BY ${orderBy(terms)} LIMIT ${query.limit + 1}${offset}`,
  )
}

/** Statement that counts all matches. */
export function countStatement(query: LinkQuery): BoundStatement {
  const parameters = new Parameters()
  const conditions = conditionsOf(query, parameters)
  return parameters.bind(
    `SELECT count(*)::float8 AS total FROM ${linksOf(query, parameters)} r WHERE ${conditions.join(' AND ')}`,
  )
}

function conditionsOf({ baseId, readable, type, filter }: LinkQuery, parameters: Parameters): string[] {
  const base = parameters.add(baseId)
  const conditions = [`r.base_id = ${base}`]
  if (readable !== '*') {
    const types = parameters.add([...readable])
    conditions.push(
      `r.source_record_type = ANY (${types}::text[])`,
      `r.target_record_type = ANY (${types}::text[])`,
    )
  }
  if (!filter) return conditions
  const search = searchOver<LinkColumn>(baseId, { ...type, indexes: [] }, parameters, () => {}, linkOperand)
  return [...conditions, compileFilter(filter, operandsOver(type, parameters, search, linkOperand))]
}

/** Top-level conjuncts of a filter. */
const conjunctsOf = (filter: Filter<LinkColumn>): readonly Filter<LinkColumn>[] =>
  filter.kind === 'and' ? filter.of.flatMap(conjunctsOf) : [filter]

/** The value that the filter requires of a column by `eq`; null if there is none. */
export function fixedText(filter: Filter<LinkColumn> | null, column: LinkColumn): string | null {
  const found = (filter ? conjunctsOf(filter) : []).find(
    (each): each is Condition<LinkColumn> =>
      each.kind === 'condition' &&
      each.op === 'eq' &&
      each.field.kind === 'column' &&
      each.field.column === column &&
      typeof each.value === 'string' &&
      each.value.isWellFormed(),
  )
  return found ? (found.value as string) : null
}

/**
 * Source of the links. If the filter names the id of an end, looks its records up by row number first. The
 * subquery (OFFSET 0) keeps the planner from choosing another index first.
 */
function linksOf({ baseId, filter }: LinkQuery, parameters: Parameters): string {
  const ends = (['source', 'target'] as const).flatMap((side) => {
    const id = fixedText(filter, `${side}_id`)
    return id === null ? [] : [{ side, numbers: numbersOf(side, id) }]
  })
  if (ends.length === 0) return 'plinth.relationship'
  const sides = ends.map(({ side, numbers }) => `unnest(ARRAY(${numbers})) AS ${side}s (number)`)
  const found = ends.map(({ side }) => `${side}_row = ${side}s.number`)
  return `(SELECT l.* FROM ${sides.join(', ')}, LATERAL (
    SELECT * FROM plinth.relationship WHERE ${found.join(' AND ')} OFFSET 0) l)`

  function numbersOf(side: 'source' | 'target', id: string): string {
    const base = parameters.add(baseId)
    const type = fixedText(filter, `${side}_record_type`)
    const types =
      type === null
        ? `ANY (ARRAY(SELECT t.id FROM plinth.record_type t WHERE t.base_id = ${base}))`
        : parameters.add(type)
    return `SELECT e.row_no FROM plinth.record e
      WHERE e.base_id = ${base} AND e.record_type = ${types} AND e.id = ${parameters.add(id)}`
  }
}

function termsOf({ sort, type }: LinkQuery, parameters: Parameters): OrderTerm[] {
  return sort.map(({ field, descending, at }) => {
    if (field.kind === 'data') {
      const operand = dataOperand(field, type, parameters, at, 'sort by')
      return { sql: keyOf(operand, parameters), column: null, type: 'text', nullable: true, descending }
    }
    const { column } = field
    const { sql, kind } = linkOperand(column)
    const as = kind === 'instant' ? 'timestamptz' : kind === 'number' ? 'int' : 'text'
    const nullable = column === 'external_id' || column === 'external_source'
    return { sql, column: null, type: as, nullable, descending }
  })
}
