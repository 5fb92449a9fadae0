/** Query planner: the statement of one page of records (keyset pagination). */

import type { Position } from '../../core/cursor.ts'
import { visibleDataSql } from '../../core/row-policy/project-data.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import { countFound } from '../../data/filter/search-condition.ts'
import type { BoundFilter, BoundSort } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { RECORD_COLUMNS } from '../../data/ledger/record.ts'
import { fewEntries } from '../../storage/database/few-records.ts'
import type { AccessPath } from './access-path.ts'
import { type Compiled, compileFor } from './compile-query.ts'
import { entriesAfter, entryConditions, entryKey, entryOrder, entryRuns } from './index-scan.ts'
import { after, orderBy } from './order.ts'
import type { Moment } from './point-in-time.ts'
import { recordsAsOf } from './point-in-time-statements.ts'
import {
  chooseWay,
  type OrderedQuery,
  RECORD_OF_ENTRY,
  RECORD_OF_FEW,
  RECORD_OF_PAGE,
  recordSource,
  scope,
  type Way,
} from './record-source.ts'
import type { SortTerm } from './sort.ts'

/** The records, sort and page of a list. */
export type ListQuery = {
  baseId: string
  recordType: string
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  sort: BoundSort<SortTerm>
  /** Infinity for all of them. */
  limit: number
  offset: number
  position: Position | null
  /** Whether the record content is selected. */
  withData: boolean
  includeTotal: boolean
  /** The row numbers of the only records that can match, if they are known and few. */
  candidates?: readonly string[] | null
  /** Point in time to read; null for the present. Indexes cover the present only. */
  moment: Moment | null
}
const COLUMNS = RECORD_COLUMNS.split(', ')

/**
 * Builds the statement of one page plus one record, to detect a next page. Each row also has the sort values
 * as `s0`, `s1`, …, and the `total` if requested.
 */
export function listStatement(query: ListQuery, how: Compiled): BoundStatement {
  const { parameters } = how
  const way = chooseWay(query)
  const text =
    way.path && way.path.order !== null
      ? throughEntries(query, how, way.path)
      : throughRecords(query, how, way)
  return parameters.bind(text)
}

/** Builds the statement that counts all matches, for an empty page. */
export function countStatement(query: ListQuery): BoundStatement {
  const parameters = new Parameters()
  return parameters.bind(countOf(query, parameters))
}

function countOf(query: ListQuery, parameters: Parameters): string {
  const way = chooseWay(query)
  const { path, text, candidates } = way
  const finds = path !== null && path.fixed.length + path.range.length > 0
  const { baseId } = query
  // Without a residual filter, the entries alone give the count.
  if (finds && path.residual === null)
    return `SELECT count(*)::float8 AS total FROM plinth.record_index i WHERE ${entryConditions(path, baseId, parameters)}`
  if (text && text.residual === null && 'field' in text.index)
    return countFound(text.search, { index: text.index, baseId }, parameters)
  const how = compileFor(query, parameters)
  return `SELECT count(*)::float8 AS total FROM ${found(query, how, finds || text || candidates ? way : NO_WAY)}`
}

const NO_WAY: Way = { path: null, text: null, candidates: null }

export const all = (conditions: readonly (string | null)[]): string =>
  conditions.filter(Boolean).join(' AND ')

/** FROM and WHERE of the matching records `r`, at present or at a point in time. */
function found(query: ListQuery, how: Compiled, way: Way, beyond: () => string | null = () => null): string {
  const { baseId, recordType, moment } = query
  const { parameters, operands } = how
  if (moment) {
    const bound = { base: parameters.add(baseId), recordType: parameters.add(recordType) }
    const at = { moment: parameters.add(moment.text), zone: parameters.add(moment.zone) }
    const filter = query.filter && compileFilter(query.filter, operands)
    return `${recordsAsOf({ ...bound, ...at })} r WHERE ${all(['true', filter, beyond()])}`
  }
  const { from, where, filter } = recordSource(query, way, how)
  return `${from} WHERE ${all([where, filter && compileFilter(filter, operands), beyond()])}`
}

function columns(
  query: ListQuery,
  { parameters, terms, score }: Compiled,
  keyed: (term: number) => string | null = () => null,
): string {
  const data = query.withData ? visibleDataSql(query.type.visible, parameters) : 'NULL::jsonb'
  const own = COLUMNS.map((name) => (name === 'data' ? `${data} AS data` : `r.${name}`))
  const keys = terms().flatMap(({ sql, column }, i) =>
    column === null ? [`${keyed(i) ?? sql} AS s${i}`] : [],
  )
  const scored = score()
  const total = query.includeTotal ? [`(${countOf(query, parameters)}) AS total`] : []
  return [...own, ...keys, ...(scored === null ? [] : [`${scored} AS score`]), ...total].join(', ')
}

/** Sorts all matches; an access path, if any, only finds them. */
function throughRecords(query: ListQuery, how: Compiled, way: Way): string {
  const { parameters } = how
  const { position, limit, offset, moment } = query
  const from = found(query, how, way, () => position && after(how.terms(), position, parameters))
  const order = `ORDER BY ${orderBy(how.terms())}`
  const page = `FROM ${from} ${order} ${window(query, parameters)}`
  // A sort of records that come before the page would carry all their contents, often through a temporary file.
  const isLater = offset > 0 && Number.isFinite(limit) && !moment && !way.text && how.score() === null
  if (!isLater) return `SELECT ${columns(query, how)} ${page}`
  return `SELECT ${columns(query, how)} FROM (SELECT r.row_no ${page}) i, ${RECORD_OF_PAGE} WHERE ${scope(query, parameters)} ${order}`
}

/** Scans the entries in sort order and reads only the records of the page. */
function throughEntries(query: ListQuery, how: Compiled, path: AccessPath): string {
  const { parameters, operands } = how
  const entriesFound = entryConditions(path, query.baseId, parameters)
  const type = parameters.add(query.recordType)
  const scoped = `r.base_id = ${parameters.add(query.baseId)} AND r.record_type = ${type}`
  const residual = path.residual && `${scoped} AND ${compileFilter(path.residual, operands)}`
  const [from, record] = residual
    ? [`plinth.record_index i, ${RECORD_OF_ENTRY}`, RECORD_OF_PAGE]
    : [fewEntries(type), RECORD_OF_FEW]
  const order = entryOrder(path)
  const runs = entryRuns(path)
  const pieces = runs.flatMap((run, n) => {
    const beyond = query.position && entriesAfter(path, n, query.sort, query.position, parameters)
    if (query.position && beyond === null) return []
    const conditions = all([entriesFound, run, beyond, residual])
    return `SELECT ${n} AS run, i.id, i.row_no, i.k1, i.k2, i.k3, i.created_at FROM ${from} WHERE ${conditions} ORDER BY ${order}`
  })
  const page = window(query, parameters)
  const [only] = pieces
  const first = query.limit + 1 + query.offset
  const entries =
    pieces.length === 1
      ? `${only} ${page}`
      : `SELECT * FROM (${pieces.map((piece) => `(${piece} LIMIT ${most(first)})`).join(' UNION ALL ')}) i ORDER BY i.run, ${order} ${page}`
  const keyed = (n: number) => entryKey(path, query.sort[n])
  return `SELECT ${columns(query, how, keyed)} FROM (${entries}) i, ${record} WHERE ${scoped} ORDER BY ${pieces.length === 1 ? '' : 'i.run, '}${order}`
}

/** LIMIT and OFFSET of the page plus one record. LIMIT is a literal so that a generic plan can use it. */
const window = ({ limit, offset }: ListQuery, parameters: Parameters): string =>
  `LIMIT ${most(limit + 1)}${offset > 0 ? ` OFFSET ${parameters.add(offset)}::bigint` : ''}`

const most = (rows: number): string => (rows === Number.POSITIVE_INFINITY ? 'ALL' : String(rows))

/** The names of properties of the matching records, but for those that are known, and at most so many. */
export function namesStatement(query: ListQuery, known: readonly string[], limit: number): BoundStatement {
  const parameters = new Parameters()
  const from = found(query, compileFor(query, parameters), NO_WAY)
  const data = visibleDataSql(query.type.visible, parameters)
  const text = `SELECT DISTINCT k.name FROM (SELECT ${data} AS data FROM ${from}) d, jsonb_object_keys(d.data) k(name)
    WHERE k.name <> ALL (${parameters.add(known)}::text[]) LIMIT ${limit}`
  return parameters.bind(text)
}

/**
 * A query of the row numbers (`row_no`) of the first candidate records, in order, through the same access
 * path as a list; the consumer tests the filter on each. LIMIT is a literal so that the plan can use it.
 */
export function numbersInOrder(query: OrderedQuery, how: Compiled, most: number | null): string {
  const way = chooseWay(query)
  const limit = most === null ? '' : `LIMIT ${most}`
  if (way.path && way.path.order !== null) return ofEntries(query, how, way.path, limit)
  const { from, where, filter } = recordSource(query, way, how)
  const conditions = all([where, filter && compileFilter(filter, how.operands)])
  return `SELECT r.row_no FROM ${from} WHERE ${conditions} ORDER BY ${orderBy(how.terms())} ${limit}`
}

/** Reads the entries alone: the consumer reads each record and tests the residual filter on it. */
function ofEntries(
  { baseId }: OrderedQuery,
  { parameters }: Compiled,
  path: AccessPath,
  limit: string,
): string {
  const found = entryConditions(path, baseId, parameters)
  const order = entryOrder(path)
  const runs = entryRuns(path)
  const pieces = runs.map(
    (run, n) =>
      `SELECT ${n} AS run, i.row_no, i.id, i.k1, i.k2, i.k3, i.created_at FROM plinth.record_index i
       WHERE ${all([found, run])} ORDER BY ${order} ${limit}`,
  )
  if (pieces.length === 1) return `SELECT i.row_no FROM (${pieces[0]}) i`
  return `SELECT i.row_no FROM (${pieces.map((piece) => `(${piece})`).join(' UNION ALL ')}) i ORDER BY i.run, ${order} ${limit}`
}
