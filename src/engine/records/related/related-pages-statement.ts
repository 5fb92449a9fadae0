import type { Position } from '../../core/cursor.ts'
import { visibleDataSql } from '../../core/row-policy/project-data.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import { type BoundStatement, Parameters } from '../../data/filter/parameters.ts'
import type { BoundFilter, BoundSort } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { compileFor } from '../query/compile-query.ts'
import { after, orderBy } from '../query/order.ts'
import { type SortTerm, UNSORTED } from '../query/sort.ts'
import { RELATIONSHIP_COLUMNS } from '../relationships/index.ts'
import { LINK_PREFIX, prefixed, recordColumns } from './expand-statement.ts'
import { type PolicySql, withinPolicy } from './policy-sql.ts'

/** A list to read for each of many records, with its filter and sort bound to the type at the far end. */
export type PageAsk = {
  relType: string
  incoming: boolean
  parents: readonly { recordType: string; id: string }[]
  farType: string | null
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  /** Null for the order of creation. */
  sort: BoundSort<SortTerm> | null
  /** The row number of the last item, then its values of the sort terms. */
  position: Position | null
  first: number
  includeTotal: boolean
  withData: boolean
}

type Within = {
  /** Record types at the far ends; null for all. */
  readable: readonly string[] | null
  policySql: PolicySql | null
}

const LINK_COLUMNS = prefixed(RELATIONSHIP_COLUMNS, 'l', LINK_PREFIX)
/** The columns of a page between `n` and `total`, in a row that has a total alone: at, far, type, keys, record, link. */
const NO_ITEM = Array(4 + recordColumns().split(', ').length + LINK_COLUMNS.split(', ').length)
  .fill('NULL')
  .join(', ')

/**
 * One statement for all lists: for each a branch that numbers its parents by `n` and reads a page of each, and
 * a branch of totals. Lateral joins force index look-ups in any plan: a parent by its id, its links by
 * (row, type), a record by its row number. Each page has one item more than it shows, to detect a next one.
 */
export function relatedPagesStatement(
  baseId: string,
  asks: readonly PageAsk[],
  { readable, policySql }: Within,
): BoundStatement {
  const parameters = new Parameters()
  const base = parameters.add(baseId)
  const types = readable && parameters.add(readable)
  const policy = policySql?.(parameters) ?? null
  const pages: string[] = []
  const totals: string[] = []
  for (const [i, ask] of asks.entries()) {
    const { recordTypes, ids } = parentsOf(ask)
    const from = `unnest(${parameters.add(recordTypes)}::text[], ${parameters.add(ids)}::text[]) WITH ORDINALITY AS k (record_type, id, n),
      LATERAL (SELECT row_no FROM plinth.record
        WHERE base_id = ${base} AND record_type = k.record_type COLLATE "C" AND id = k.id COLLATE "C" LIMIT 1) o`
    const [near, far] = ask.incoming ? ['target', 'source'] : ['source', 'target']
    const ofType = ask.farType === null ? '' : ` AND ${far}_record_type = ${parameters.add(ask.farType)}`
    const granted = types ? ` AND ${far}_record_type = ANY (${types}::text[])` : ''
    const within = ask.farType === null ? withinPolicy(`${far}_row`, policy?.within ?? null) : ''
    const links = `SELECT ${RELATIONSHIP_COLUMNS}, ${far}_row AS far FROM plinth.relationship
      WHERE ${near}_row = o.row_no AND rel_type = ${parameters.add(ask.relType)}${ofType}${granted}${within}`
    const visible =
      ask.farType === null ? (policy?.data ?? 'r.data') : visibleDataSql(ask.type.visible, parameters)
    const data = ask.withData ? visible : "'{}'::jsonb"
    pages.push(`SELECT ${i}::int AS ask, k.n::int AS n, x.*, NULL::int AS total FROM ${from},
      LATERAL (${pageOf(baseId, ask, { links, data, farRow: `${far}_row` }, parameters)}) x`)
    if (ask.includeTotal)
      totals.push(`SELECT ${i}::int, k.n::int, ${NO_ITEM}, c.total FROM ${from},
      LATERAL (${totalOf(baseId, ask, links, parameters)}) c`)
  }
  return parameters.bind([...pages, ...totals].map((branch) => `(${branch})`).join(' UNION ALL '))
}

const parentsOf = ({ parents }: PageAsk) => ({
  recordTypes: parents.map(({ recordType }) => recordType),
  ids: parents.map(({ id }) => id),
})

const RECORD = `LATERAL (SELECT * FROM ${FEW_RECORDS} WHERE row_no = l.far LIMIT 1) r`

/** A page of the links `links`, numbered in its order by `at`. */
function pageOf(
  baseId: string,
  { type, filter, sort, position, first }: PageAsk,
  { links, data, farRow }: { links: string; data: string; farRow: string },
  parameters: Parameters,
): string {
  const how = compileFor({ baseId, type, sort: sort ?? UNSORTED }, parameters)
  const where = filter ? [compileFilter(filter, how.operands)] : []
  const terms = how.terms()
  const keys = `ARRAY[${terms.map(({ sql }) => `(${sql})::text`).join(', ')}]::text[] AS keys`
  const columns = `l.far, r.record_type, ${keys}, ${recordColumns(data)}, ${LINK_COLUMNS}`
  const beyond = position ? ` AND ${farRow} > ${parameters.add(position.values[0])}::bigint` : ''
  // Without a sort the index of links gives the order, so that a page reads no more links than it needs.
  const [from, order] = sort
    ? [`(${links}) l`, orderBy(terms)]
    : [`(${links}${beyond} ORDER BY far OFFSET 0) l`, 'l.far']
  if (sort && position)
    where.push(after(terms, { id: position.id, values: position.values.slice(1) }, parameters))
  return `SELECT row_number() OVER ()::int AS at, q.* FROM (
    SELECT ${columns} FROM ${from}, ${RECORD}${where.length > 0 ? ` WHERE ${where.join(' AND ')}` : ''}
    ORDER BY ${order} LIMIT ${first + 1}) q`
}

function totalOf(baseId: string, { type, filter }: PageAsk, links: string, parameters: Parameters): string {
  if (!filter) return `SELECT count(*)::int AS total FROM (${links}) l`
  const { operands } = compileFor({ baseId, type, sort: UNSORTED }, parameters)
  return `SELECT count(*)::int AS total FROM (${links}) l, ${RECORD} WHERE ${compileFilter(filter, operands)}`
}
