/** Graph traversal as one recursive statement. */

import { LIMITS } from '../../../foundation/limits.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import type { BoundFilter, BoundSort } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { compileFor } from '../query/compile-query.ts'
import { orderBy } from '../query/order.ts'
import { type SortTerm, UNSORTED } from '../query/sort.ts'
import { RELATIONSHIP_COLUMNS } from '../relationships/index.ts'
import { LINK_PREFIX, prefixed, recordColumns } from './expand-statement.ts'
import { type PolicySql, withinPolicy } from './policy-sql.ts'

export const DIRECTIONS = ['outgoing', 'incoming', 'both'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** Start and limits of a traversal, and the filter of its results. */
export type WalkQuery = {
  baseId: string
  recordType: string
  id: string
  relType: string | null
  direction: Direction
  depth: number
  /** Record types that the traversal may pass through; null for all. */
  readable: readonly string[] | null
  /** Row and field policy; null for none. */
  policySql: PolicySql | null
  /** Return only this type; null for any. */
  relatedType: string | null
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  /** Null for nearest first, then newest first. */
  sort: BoundSort<SortTerm> | null
  limit: number
  offset: number
  includeTotal: boolean
}

/**
 * Statement of a breadth-first search that visits each record once. Returns at least one row, with the
 * existence of the start, `too_large` and `total`. Each recursion step processes one whole level: the row
 * numbers of its records with their predecessors, and the visited set. UNNEST of a level makes the planner
 * look links up by index, because it has no statistics for it. Visited records join the GROUP BY with
 * predecessor 0, which separates them from new ones without a join.
 */
export function walkStatement(query: WalkQuery): BoundStatement {
  const parameters = new Parameters()
  const base = parameters.add(query.baseId)
  const policySql = query.policySql?.(parameters) ?? null
  const shown = visibleOf(query, policySql?.data ?? 'r.data', parameters)
  const text = `WITH RECURSIVE
    walk (depth, rows, parents, seen, met) AS (
      SELECT 0, ARRAY[r.row_no], ARRAY[0::bigint], ARRAY[r.row_no], 0::bigint FROM plinth.record r
      WHERE r.base_id = ${base} AND r.record_type = ${parameters.add(query.recordType)} AND r.id = ${parameters.add(query.id)}${policySql ? ` AND ${policySql.within}` : ''}
      UNION ALL
      SELECT w.depth + 1, n.rows, n.parents, w.seen || n.rows, w.met + n.met
      FROM walk w, LATERAL (
        SELECT array_agg(m.row) FILTER (WHERE m.parent > 0) AS rows,
          array_agg(m.parent) FILTER (WHERE m.parent > 0) AS parents, sum(m.n)::bigint AS met
        FROM (SELECT x.row, min(x.parent) AS parent, sum(x.n) AS n FROM (
            (SELECT l.row, f.row AS parent, 1 AS n FROM unnest(w.rows) AS f (row), LATERAL (${linksOf(query, policySql?.within ?? null, parameters)}) l
             LIMIT ${LIMITS.walkedLinks + 1})
            UNION ALL SELECT s.row, 0, 0 FROM unnest(w.seen) AS s (row)) x
          GROUP BY x.row) m) n
      WHERE n.rows IS NOT NULL AND w.depth < ${parameters.add(query.depth)}::int AND ${goesOn(query, parameters)}),
    found AS (
      SELECT u.row, u.parent, w.depth FROM walk w, unnest(w.rows, w.parents) AS u (row, parent) WHERE w.depth > 0),
    page AS (${shown.page}),
    way (leaf, row, parent, depth) AS (
      SELECT row, row, parent, depth FROM page
      UNION ALL
      SELECT y.leaf, f.row, f.parent, f.depth FROM way y JOIN found f ON f.row = y.parent),
    paths AS (
      SELECT w.leaf, array_agg(l.id ORDER BY w.depth) AS path
      FROM way w, LATERAL (${linkBetween(query, parameters, base)}) l GROUP BY w.leaf)
  SELECT s.*, p.*, h.path, ${prefixed(RELATIONSHIP_COLUMNS, 'l', LINK_PREFIX)}
  FROM (SELECT EXISTS (SELECT FROM walk) AS starts, ${shown.total} AS total,
      (SELECT bool_or(met > ${LIMITS.walkedLinks} OR cardinality(seen) > ${LIMITS.walkedRecords + 1}) FROM walk) AS too_large) s
    LEFT JOIN (page p JOIN paths h ON h.leaf = p.row
      JOIN LATERAL (SELECT * FROM plinth.relationship l
        WHERE l.base_id = ${base} AND l.id = h.path[cardinality(h.path)] LIMIT 1) l ON true) ON true
  ORDER BY p.n`
  return parameters.bind(text)
}

/**
 * Row numbers at the other ends of the links of level `f`. OFFSET 0 forces one look-up per record in any
 * plan.
 */
function linksOf(
  { direction, relType, readable }: WalkQuery,
  within: string | null,
  parameters: Parameters,
): string {
  const ofType = relType === null ? '' : ` AND rel_type = ${parameters.add(relType)}`
  const types = readable && parameters.add(readable)
  const toward = (near: string, far: string) =>
    `(SELECT ${far}_row AS row FROM plinth.relationship WHERE ${near}_row = f.row${ofType}${types ? ` AND ${far}_record_type = ANY (${types}::text[])` : ''}${withinPolicy(`${far}_row`, within)} OFFSET 0)`
  return directed(direction, toward('source', 'target'), toward('target', 'source'))
}

const directed = (direction: Direction, outgoing: string, incoming: string): string =>
  direction === 'both' ? `${outgoing} UNION ALL ${incoming}` : direction === 'outgoing' ? outgoing : incoming

/**
 * A link between a record's predecessor and record `w`; of several, the one with the lowest id. Always names
 * the types, so that the index look-up uses all columns. With the first column alone it would read all links
 * of a hub.
 */
function linkBetween({ direction, relType }: WalkQuery, parameters: Parameters, base: string): string {
  const ofType =
    relType === null
      ? `rel_type = ANY (ARRAY(SELECT t.id FROM plinth.relationship_type t WHERE t.base_id = ${base}))`
      : `rel_type = ${parameters.add(relType)}`
  const between = (near: string, far: string) =>
    `SELECT id FROM plinth.relationship WHERE ${near}_row = w.parent AND ${ofType} AND ${far}_row = w.row`
  return `SELECT id FROM (${directed(direction, between('source', 'target'), between('target', 'source'))}) b ORDER BY id LIMIT 1`
}

/**
 * Recursion condition: stops a traversal that is too large, or, in traversal order, once the page is full.
 */
function goesOn(query: WalkQuery, parameters: Parameters): string {
  const { walkedLinks, walkedRecords } = LIMITS
  const inBounds = `w.met <= ${walkedLinks} AND cardinality(w.seen) <= ${walkedRecords + 1}`
  const showsAll = query.filter === null && query.relatedType === null
  if (!showsAll || query.sort !== null || query.includeTotal) return inBounds
  return `${inBounds} AND cardinality(w.seen) <= ${parameters.add(query.offset + query.limit + 1)}::bigint`
}

/** SQL for the records of the page plus one, numbered by `n`, and for the total on request. */
function visibleOf(query: WalkQuery, data: string, parameters: Parameters): { page: string; total: string } {
  const { relatedType, filter, sort, limit, offset } = query
  const how = compileFor({ baseId: query.baseId, type: query.type, sort: sort ?? UNSORTED }, parameters)
  const conditions = [
    ...(relatedType === null ? [] : [`r.record_type = ${parameters.add(relatedType)}`]),
    ...(filter ? [compileFilter(filter, how.operands)] : []),
  ]
  const record = 'LATERAL (SELECT * FROM plinth.record r WHERE r.row_no = v.row LIMIT 1) r'
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const scored = how.score()
  const columns = [
    'v.row, v.parent, v.depth, r.record_type',
    recordColumns(data),
    ...(scored === null ? [] : [`${scored} AS score`]),
  ]
  // Sort before reading the records, so that only those of the page are read.
  const from = sort ? 'found' : '(SELECT * FROM found ORDER BY depth, row DESC)'
  const order = sort ? `${orderBy(how.terms())}, v.row` : 'v.depth, v.row DESC'
  const counted = where ? `found v, ${record} ${where}` : 'found'
  return {
    page: `SELECT row_number() OVER ()::int AS n, p.* FROM (
      SELECT ${columns.join(', ')} FROM ${from} v, ${record} ${where}
      ORDER BY ${order} LIMIT ${limit + 1} OFFSET ${parameters.add(offset)}::bigint) p`,
    total: query.includeTotal ? `(SELECT count(*)::int FROM ${counted})` : 'NULL::int',
  }
}
