import { restOf } from '../../data/filter/check-fields.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import { type IndexedText, recordsFound, textIndexOf } from '../../data/filter/search-condition.ts'
import type { BoundFilter, BoundSort, Condition } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { FEW_RECORDS, RECORD_OF_FEW_ENTRIES } from '../../storage/database/few-records.ts'
import { type AccessPath, chooseAccessPath, conjunctsOf } from './access-path.ts'
import type { Compiled } from './compile-query.ts'
import { entryConditions } from './index-scan.ts'
import type { SortTerm } from './sort.ts'

/** The records of a query and their order. */
export type OrderedQuery = {
  baseId: string
  recordType: string
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  sort: BoundSort<SortTerm>
  /** The row numbers of the only records that can match, if they are known and few. */
  candidates?: readonly string[] | null
}

/** The chosen access path: the candidates, or at most one declared index. */
export type Way = { path: AccessPath | null; text: TextPath | null; candidates: readonly string[] | null }
/** A text index finds the records of one search; the residual filter is tested on each. */
type TextPath = { search: Condition; index: IndexedText; residual: BoundFilter | null }

const ALL: Way = { path: null, text: null, candidates: null }

/** Chooses the candidates, an index path, a text index or none. Without one, records are read in key order. */
export function chooseWay({
  type,
  filter,
  sort,
  candidates,
}: Pick<OrderedQuery, 'type' | 'filter' | 'sort' | 'candidates'>): Way {
  if (candidates) return { ...ALL, candidates }
  const path = chooseAccessPath(type.indexes, filter, sort)
  if (path && path.fixed.length + path.range.length > 0) return { ...ALL, path }
  // A path that only provides order would scan all records for the few that a search matches.
  const text = chooseTextPath(type, filter)
  return text ? { ...ALL, text } : { ...ALL, path }
}

function chooseTextPath(type: OrderedQuery['type'], filter: BoundFilter | null): TextPath | null {
  const conjuncts = filter ? conjunctsOf(filter) : []
  for (const each of conjuncts) {
    if (each.kind !== 'condition' || each.op !== 'search') continue
    const index = textIndexOf(each, type)
    if (index) return { search: each, index, residual: restOf(conjuncts.filter((other) => other !== each)) }
  }
  return null
}

/** FROM and WHERE of the records `r` of an access path, and the filter still to apply. */
export type RecordSource = { from: string; where: string; filter: BoundFilter | null }

/**
 * Builds the row source of a query with a fixed join order. The driving side is a subquery with an
 * optimization fence, and every other table is a LATERAL look-up by a unique key. The join order thus does
 * not depend on row estimates, which are wrong for a new type until ANALYZE runs.
 */
export function recordSource(
  query: OrderedQuery,
  { path, text, candidates }: Way,
  { parameters, addScore }: Pick<Compiled, 'parameters' | 'addScore'>,
): RecordSource {
  const { baseId, filter } = query
  const scoped = scope(query, parameters)
  if (path) {
    const where = `${entryConditions(path, baseId, parameters)} AND ${scoped}`
    return { from: `plinth.record_index i, ${RECORD_OF_ENTRY}`, where, filter: path.residual }
  }
  if (candidates) {
    const rows = `unnest(${parameters.add(candidates)}::bigint[]) i (row_no)`
    return { from: `${rows}, ${RECORD_OF_ENTRY}`, where: scoped, filter }
  }
  if (!text) return { from: 'plinth.record r', where: scoped, filter }
  const found = recordsFound(text.search, { index: text.index, baseId, scoped }, parameters, addScore)
  return { from: `${found} r`, where: 'true', filter: text.residual }
}

/**
 * Looks up the record of the entry `i` by its row number only: with more conditions, the planner may choose a
 * multi-column index.
 */
export const RECORD_OF_ENTRY = one('plinth.record r WHERE r.row_no = i.row_no')
/** That of the entries of a page. */
export const RECORD_OF_PAGE = one(`${FEW_RECORDS} r WHERE r.row_no = i.row_no`)
export const RECORD_OF_FEW = one(RECORD_OF_FEW_ENTRIES)

function one(record: string): string {
  return `LATERAL (SELECT * FROM ${record} LIMIT 1) r`
}

/** Restricts rows to one base and record type. */
export const scope = (
  { baseId, recordType }: Pick<OrderedQuery, 'baseId' | 'recordType'>,
  parameters: Parameters,
): string => `r.base_id = ${parameters.add(baseId)} AND r.record_type = ${parameters.add(recordType)}`
