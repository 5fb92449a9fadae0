import type { Position } from '../cursor.ts'
import { compileFilter } from '../filter/compile.ts'
import type { FieldContext } from '../filter/operand.ts'
import type { BoundStatement, Parameters } from '../filter/parameters.ts'
import type { Filter } from '../filter/parse.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { type AccessPath, chooseAccessPath } from './access-path.ts'
import type { Compiled } from './compile-for.ts'
import { entriesAfter, entryConditions, entryKey, entryOrder, entryRuns } from './index-scan.ts'
import { after, type OrderTerm, orderBy } from './order.ts'
import { RECORD_COLUMNS } from './record.ts'
import type { SortTerm } from './sort.ts'

/** Which records, in which order, and which of them. */
export type ListQuery = {
  baseId: string
  recordType: string
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: Filter | null
  sort: readonly SortTerm[]
  limit: number
  offset: number
  position: Position | null
  /** Is the content of the records asked for at all? */
  withData: boolean
}
const COLUMNS = RECORD_COLUMNS.split(', ')

/** The statement of a page, one record beyond it, and what each sort term is for each record as `s0`, `s1`, …. */
export function listStatement(query: ListQuery, how: Compiled): BoundStatement {
  const { parameters } = how
  const path = chooseAccessPath(query.type.indexes, query.filter, query.sort)
  const scoped = scope(query, parameters)
  const text =
    path && path.order !== null
      ? throughEntries(query, how, path, scoped)
      : throughRecords(query, how, path, scoped)
  return parameters.bind(text)
}

/** The statement that counts all that match. */
export function countStatement(query: ListQuery, how: Compiled): BoundStatement {
  const { parameters, target } = how
  const path = chooseAccessPath(query.type.indexes, query.filter, query.sort)
  const finds = path !== null && path.fixed.length + path.range.length > 0
  const filter = finds ? path.residual : query.filter
  const entries = finds ? entryConditions(path, query.baseId, parameters) : null
  const scoped = scope(query, parameters)
  const from = !entries ? 'plinth.record r' : filter ? joined(scoped) : 'plinth.record_index i'
  const conditions = [entries ?? scoped, filter && compileFilter(filter, target)]
  return parameters.bind(`SELECT count(*)::float8 AS total FROM ${from} WHERE ${all(conditions)}`)
}

const all = (conditions: readonly (string | null)[]): string => conditions.filter(Boolean).join(' AND ')

const scope = ({ baseId, recordType }: ListQuery, parameters: Parameters): string =>
  `r.base_id = ${parameters.add(baseId)} AND r.record_type = ${parameters.add(recordType)}`

/** Each entry's record by its key. Lateral, so that no plan reads the table of all tenants instead. */
const recordOf = (scoped: string): string =>
  `LATERAL (SELECT * FROM plinth.record r WHERE ${scoped} AND r.id = i.id LIMIT 1) r`
const joined = (scoped: string): string => `plinth.record_index i, ${recordOf(scoped)}`

function columns(
  { withData }: ListQuery,
  terms: readonly OrderTerm[],
  score: string | null,
  keyed: (term: number) => string | null = () => null,
): string {
  const own = COLUMNS.map((name) => (name === 'data' && !withData ? 'NULL::jsonb AS data' : `r.${name}`))
  const keys = terms.flatMap(({ sql, column }, i) => (column === null ? [`${keyed(i) ?? sql} AS s${i}`] : []))
  return [...own, ...keys, ...(score === null ? [] : [`${score} AS score`])].join(', ')
}

/** Sorts what matches; the entries, if there is a path, only find it. */
function throughRecords(query: ListQuery, how: Compiled, path: AccessPath | null, scoped: string): string {
  const { parameters, target } = how
  const filter = path ? path.residual : query.filter
  const entries = path && entryConditions(path, query.baseId, parameters)
  const conditions = [entries ?? scoped, filter && compileFilter(filter, target)]
  const terms = how.terms()
  if (query.position) conditions.push(after(terms, query.position, parameters))
  return `SELECT ${columns(query, terms, how.score())} FROM ${path ? joined(scoped) : 'plinth.record r'}
    WHERE ${all(conditions)} ORDER BY ${orderBy(terms)} ${window(query, parameters)}`
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
    return `SELECT ${n} AS run, i.id, i.k1, i.k2, i.k3, i.created_at FROM ${from} WHERE ${conditions} ORDER BY ${order}`
  })
  const page = window(query, parameters)
  const [only] = pieces
  const first = query.limit + 1 + query.offset
  const entries =
    pieces.length === 1
      ? `${only} ${page}`
      : `SELECT * FROM (${pieces.map((piece) => `(${piece} LIMIT ${first})`).join(' UNION ALL ')}) i ORDER BY i.run, ${order} ${page}`
  const terms = how.terms()
  const keyed = (n: number) => entryKey(path, query.sort[n])
  return `SELECT ${columns(query, terms, how.score(), keyed)} FROM (${entries}) i, ${recordOf(scoped)} ORDER BY ${pieces.length === 1 ? '' : 'i.run, '}${order}`
}

/** The page and one record more. The limit stands in the text, for a plan that is made once to know it. */
const window = ({ limit, offset }: ListQuery, parameters: Parameters): string =>
  `LIMIT ${limit + 1}${offset > 0 ? ` OFFSET ${parameters.add(offset)}::bigint` : ''}`
