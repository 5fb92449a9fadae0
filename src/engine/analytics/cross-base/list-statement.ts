import { bindFilter, bindSort } from '../../data/filter/check-fields.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import { recordOperands } from '../../data/filter/record-operands.ts'
import { searchIn, sumOfScores } from '../../data/filter/search-condition.ts'
import type { Filter } from '../../data/filter/syntax-tree.ts'
import { RECORD_COLUMNS } from '../../data/ledger/record.ts'
import { type OrderTerm, orderBy, orderTerms, tieDescending } from '../../records/query/order.ts'
import type { SortTerm } from '../../records/query/sort.ts'
import { bindWithin, mergeAlike, type SharedType, type SharedTypes } from './types.ts'

/** The bases, filter, sort and page of a list across bases. */
export type CrossQuery = {
  recordType: string
  types: SharedTypes
  filter: Filter | null
  sort: readonly SortTerm[]
  limit: number
  offset: number
}

/** Builds the statement of one page over all bases plus one record. */
export function crossListStatement(query: CrossQuery): BoundStatement {
  const parameters = new Parameters()
  const branches = query.types.map((type) => branch(query, type, parameters))
  const terms = branches[0]?.terms ?? []
  const order = terms.map(
    ({ type, descending }, n) =>
      `r.s${n}${type === 'text' ? ' COLLATE "C"' : ''} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
  )
  const ties = ['r.base_id', 'r.id'].map((column) => `${column} ${tieDescending(terms) ? 'DESC' : 'ASC'}`)
  const offset = query.offset > 0 ? ` OFFSET ${parameters.add(query.offset)}::bigint` : ''
  const text = `SELECT * FROM (${branches.map((each) => each.text).join(' UNION ALL ')}) r
    ORDER BY ${[...order, ...ties].join(', ')} LIMIT ${query.limit + 1}${offset}`
  return bindWithin(parameters, text)
}

/** The types, with equivalent ones merged. */
export const mergeForList = (query: CrossQuery): SharedTypes =>
  mergeAlike(query.types, (type, parameters) => branch(query, type, parameters).text)

/** The first records of one base, up to the end of the page; an index may serve them. */
function branch(
  query: CrossQuery,
  type: SharedType,
  parameters: Parameters,
): { text: string; terms: readonly OrderTerm[] } {
  const bases = parameters.add(type.bases)
  const { where, score } = conditions(query, type, parameters)
  const terms = orderTerms(bindSort(query.sort, type), type, score, parameters)
  const columns = [
    'r.base_id',
    ...RECORD_COLUMNS.split(', ').map((name) => `r.${name}`),
    ...terms.map(({ sql }, n) => `${sql} AS s${n}`),
    `${score ?? 'NULL::float8'} AS score`,
  ]
  const text = `SELECT f.* FROM unnest(${bases}::text[]) AS b(id) CROSS JOIN LATERAL (
      SELECT ${columns.join(', ')} FROM plinth.record r WHERE r.base_id = b.id AND ${where}
      ORDER BY ${orderBy(terms)} LIMIT ${query.limit + 1 + query.offset}) f`
  return { text, terms }
}

/** Builds the statement that counts all matches. */
export function crossCountStatement(query: CrossQuery): BoundStatement {
  const parameters = new Parameters()
  const counts = query.types.map((type) => {
    const bases = parameters.add(type.bases)
    const { where } = conditions(query, type, parameters)
    return `SELECT count(*) AS n FROM plinth.record r WHERE r.base_id = ANY (${bases}::text[]) AND ${where}`
  })
  return bindWithin(parameters, `SELECT sum(n)::float8 AS total FROM (${counts.join(' UNION ALL ')}) c`)
}

/** WHERE of a type without the base. A declared index belongs to one base, so none is used. */
export function conditions(
  { recordType, filter }: Pick<CrossQuery, 'recordType' | 'filter'>,
  type: SharedType,
  parameters: Parameters,
): { where: string; score: string | null } {
  const ofType = `r.record_type = ${parameters.add(recordType)}`
  if (filter === null) return { where: ofType, score: null }
  const scores: string[] = []
  const search = searchIn('', type, parameters, (score) => void scores.push(score))
  const matches = compileFilter(bindFilter(filter, type), recordOperands(type, parameters, search))
  return { where: `${ofType} AND ${matches}`, score: sumOfScores(scores) }
}
