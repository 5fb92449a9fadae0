import type { Position } from '../cursor.ts'
import type { BoundFilter, BoundSort } from '../filter/bind.ts'
import { compileFilter } from '../filter/compile.ts'
import type { FieldContext } from '../filter/operand.ts'
import { type BoundStatement, Parameters } from '../filter/parameters.ts'
import type { Moment } from '../history/moment.ts'
import { recordsAsOf } from '../history/past-statements.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { shownData } from '../lens/columns.ts'
import { type AccessPath, chooseAccessPath } from './access-path.ts'
import { type Compiled, compileFor } from './compile-for.ts'
import { entriesAfter, entryConditions, entryKey, entryOrder, entryRuns } from './index-scan.ts'
import { after, orderBy } from './order.ts'
import { RECORD_COLUMNS } from './record.ts'
import type { SortTerm } from './sort.ts'

/** Which records, in which order, and which of them. */
export type ListQuery = {
  baseId: string
  recordType: string
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  sort: BoundSort<SortTerm>
  limit: number
  offset: number
  position: Position | null
  /** Is the content of the records asked for at all? */
  withData: boolean
  includeTotal: boolean
  /** The moment whose records are asked for, without indexes then, which know the present only; null for the present. */
  moment: Moment | null
}
const COLUMNS = RECORD_COLUMNS.split(', ')

/**
 * The statement of a page and one record beyond it. Beside each record stand what each sort term is for it, as `s0`, `s1`,
 * …, and the `total`, if it is wanted.
 */
export function listStatement(query: ListQuery, how: Compiled): BoundStatement {
  const { parameters } = how
  const path = chooseAccessPath(query.type.indexes, query.filter, query.sort)
  const text =
    path && path.order !== null
      ? throughEntries(query, how, path, scope(query, parameters))
      : throughRecords(query, how, path)
  return parameters.bind(text)
}

/** The statement that counts all that match, for a page that is empty. */
export function countStatement(query: ListQuery): BoundStatement {
  const parameters = new Parameters()
  return parameters.bind(countOf(query, parameters))
}

function countOf(query: ListQuery, parameters: Parameters): string {
  const { target } = compileFor(query, parameters)
  const path = chooseAccessPath(query.type.indexes, query.filter, query.sort)
  const finds = path !== null && path.fixed.length + path.range.length > 0
  const filter = finds ? path.residual : query.filter
  const entries = finds ? entryConditions(path, query.baseId, parameters) : null
  const residual = filter && compileFilter(filter, target)
  if (!entries) return `SELECT count(*)::float8 AS total FROM ${records(query, parameters, [residual])}`
  const from = filter ? joined(scope(query, parameters)) : 'plinth.record_index i'
  return `SELECT count(*)::float8 AS total FROM ${from} WHERE ${all([entries, residual])}`
}

export const all = (conditions: readonly (string | null)[]): string =>
  conditions.filter(Boolean).join(' AND ')

/** The records of one type, and no other tenant's. */
export const scope = (
  { baseId, recordType }: Pick<ListQuery, 'baseId' | 'recordType'>,
  parameters: Parameters,
): string => `r.base_id = ${parameters.add(baseId)} AND r.record_type = ${parameters.add(recordType)}`

/** FROM and WHERE of the records `r` of the type that fulfil the conditions: as they are, or as they were. */
function records(query: ListQuery, parameters: Parameters, conditions: readonly (string | null)[]): string {
  const { baseId, recordType, moment } = query
  if (!moment) return `plinth.record r WHERE ${all([scope(query, parameters), ...conditions])}`
  const bound = { base: parameters.add(baseId), recordType: parameters.add(recordType) }
  const at = { moment: parameters.add(moment.text), zone: parameters.add(moment.zone) }
  return `${recordsAsOf({ ...bound, ...at })} r WHERE ${all(['true', ...conditions])}`
}

/** Each entry's record by its number. Lateral, so that no plan reads the table of all tenants instead. */
const recordOf = (scoped: string): string =>
  `LATERAL (SELECT * FROM plinth.record r WHERE r.row_no = i.row_no AND ${scoped} LIMIT 1) r`
/** Entries, each with its record. */
export const joined = (scoped: string): string => `plinth.record_index i, ${recordOf(scoped)}`

function columns(
  query: ListQuery,
  { parameters, terms, score }: Compiled,
  keyed: (term: number) => string | null = () => null,
): string {
  const data = query.withData ? shownData(query.type.shown, parameters) : 'NULL::jsonb'
  const own = COLUMNS.map((name) => (name === 'data' ? `${data} AS data` : `r.${name}`))
  const keys = terms().flatMap(({ sql, column }, i) =>
    column === null ? [`${keyed(i) ?? sql} AS s${i}`] : [],
  )
  const scored = score()
  const total = query.includeTotal ? [`(${countOf(query, parameters)}) AS total`] : []
  return [...own, ...keys, ...(scored === null ? [] : [`${scored} AS score`]), ...total].join(', ')
}

/** Sorts what matches; the entries, if there is a path, only find it. */
function throughRecords(query: ListQuery, how: Compiled, path: AccessPath | null): string {
  const { parameters, target } = how
  const filter = path ? path.residual : query.filter
  const conditions = [filter && compileFilter(filter, target)]
  const terms = how.terms()
  if (query.position) conditions.push(after(terms, query.position, parameters))
  const from = path
    ? `${joined(scope(query, parameters))} WHERE ${all([entryConditions(path, query.baseId, parameters), ...conditions])}`
    : records(query, parameters, conditions)
  return `SELECT ${columns(query, how)} FROM ${from} ORDER BY ${orderBy(terms)} ${window(query, parameters)}`
}

/** Walks the entries in their order, and reads only the records of the page. */
function throughEntries(query: ListQuery, how: Compiled, path: AccessPath, scoped: string): string {
  const { parameters, target } = how
  const found = entryConditions(path, query.baseId, parameters)
  const residual = path.residual && compileFilter(path.residual, target)
  const from = residual ? joined(scoped) : 'plinth.record_index i'
  const order = entryOrder(path)
  const runs = entryRuns(path)
  const pieces = runs.flatMap((run, n) => {
    const beyond = query.position && entriesAfter(path, n, query.sort, query.position, parameters)
    if (query.position && beyond === null) return []
    const conditions = all([found, run, beyond, residual])
    return `SELECT ${n} AS run, i.id, i.row_no, i.k1, i.k2, i.k3, i.created_at FROM ${from} WHERE ${conditions} ORDER BY ${order}`
  })
  const page = window(query, parameters)
  const [only] = pieces
  const first = query.limit + 1 + query.offset
  const entries =
    pieces.length === 1
      ? `${only} ${page}`
      : `SELECT * FROM (${pieces.map((piece) => `(${piece} LIMIT ${first})`).join(' UNION ALL ')}) i ORDER BY i.run, ${order} ${page}`
  const keyed = (n: number) => entryKey(path, query.sort[n])
  return `SELECT ${columns(query, how, keyed)} FROM (${entries}) i, ${recordOf(scoped)} ORDER BY ${pieces.length === 1 ? '' : 'i.run, '}${order}`
}

/** The page and one record more. The limit stands in the text, for a plan that is made once to know it. */
const window = ({ limit, offset }: ListQuery, parameters: Parameters): string =>
  `LIMIT ${limit + 1}${offset > 0 ? ` OFFSET ${parameters.add(offset)}::bigint` : ''}`
