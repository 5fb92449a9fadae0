import { unknownName } from '../../contract/suggest.ts'
import { type DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { namedTypes } from '../access/access.ts'
import { demandType } from '../configuration/record-types/index.ts'
import { findType } from '../core/load-type.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import { readPageRows, type Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { bindFilter, bindSort } from '../filter/bind.ts'
import { readQuestion } from '../query/parse-query.ts'
import { type Projection, parseFields, project } from '../query/projection.ts'
import { type RecordItem, type RecordRow, recordNotFound, toRecord, toView } from '../record-store/record.ts'
import { type Relationship, toRelationship, toRelationshipView } from '../relationships/index.ts'
import { demandWithin, lensOn, rightsOf, typeThrough } from '../row-policy/apply.ts'
import { demandRelationshipTypes } from './check-types.ts'
import { linkOf } from './columns.ts'
import { reachOf, shownOfAll } from './policy-sql.ts'
import { type Direction, type WalkQuery, walkStatement } from './traversal-sql.ts'

/** What is asked of a walk. `filter` and `sort` are JSON as the caller wrote it. */
export type RelatedArgs = Omit<PageArgs, 'cursor'> & {
  /** Follow links of this type only. */
  relType?: string | null | undefined
  /** `outgoing` when left out. */
  direction?: Direction | null | undefined
  /** How many links away, 1 to 5; 1 when left out. */
  depth?: number | null | undefined
  /** Show records of this type only. */
  relatedType?: string | null | undefined
  filter?: unknown
  sort?: unknown
  fields?: readonly string[] | null | undefined
}

/** A record that was reached, the link that led to it, and the ids of all links from the start. */
export type Related = { relationship: Relationship; record: RecordItem; depth: number; path: string[] }
export type RelatedPage = Omit<Page<Related>, 'data'> & {
  data(): Related[]
  /** The same as REST and MCP show it, the records narrowed to the fields that were asked for. */
  rows(): object[]
}

type Found = RecordRow & { record_type: string; depth: number; path: string[]; score?: number }
type Row = Found & { n: number | null; starts: boolean; too_large: boolean; total: number | null }

/** Any record: what its type knows of times is not known here. */
const ANY_TYPE: WalkQuery['type'] = { jsonSchema: {}, timezone: 'UTC', indexes: [] }

/**
 * The records that links lead to from one record, each once by a shortest way, the nearest first unless sorted.
 * @throws FORBIDDEN outside the grants; NOT_FOUND without base, type or record; VALIDATION_ERROR with the argument at
 *   fault, and for a walk that meets too much
 */
export async function relatedRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
  args: RelatedArgs,
): Promise<RelatedPage> {
  const { relType = null, direction, relatedType = null, fields } = args
  demandWithin(scope, 'read', baseId, recordType)
  if (relatedType !== null) demandWithin(scope, 'read', baseId, relatedType)
  const page = readPage(args)
  const depth = readDepth(args.depth ?? 1)
  const { filter, sort } = readQuestion(args)
  const isSorted = (args.sort ?? null) !== null || sort.some(({ field }) => field.kind === 'score')
  const projection = fields ? parseFields(fields, '/fields') : null
  await demandType(scope, baseId, recordType)
  if (relType !== null) await demandRelationshipTypes(scope, baseId, [relType], '/rel_type')
  const type =
    relatedType === null
      ? { ...ANY_TYPE, shown: shownOfAll(scope) }
      : await demandRelatedType(scope, baseId, relatedType)
  const statement = walkStatement({
    ...page,
    ...{ baseId, recordType, id, relType, relatedType, depth, type },
    direction: direction ?? 'outgoing',
    readable: namedTypes(rightsOf(scope), 'read', baseId),
    reach: await reachOf(scope, baseId),
    filter: filter && bindFilter(filter, type),
    sort: isSorted ? bindSort(sort, type) : null,
  })
  const { rows, isCut } = await readPageRows<Row>(scope, shaped(statement.text), statement.values)
  const [first] = rows
  if (!first?.starts) throw recordNotFound(recordType, id)
  if (first.too_large) throw tooLarge()
  const found = toPage(
    rows.filter(({ n }) => n !== null),
    page,
    first.total,
    isCut,
  )
  return {
    ...found,
    data: () => found.data.map(asItem),
    rows: () => found.data.map((row) => asRow(row, projection)),
  }
}

function readDepth(depth: number): number {
  if (Number.isInteger(depth) && depth >= 1 && depth <= LIMITS.relatedDepth) return depth
  throw invalid({
    path: '/depth',
    code: 'out_of_range',
    message: `depth is a whole number from 1 to ${LIMITS.relatedDepth}.`,
    received: depth,
  })
}

/** @throws VALIDATION_ERROR: the type narrows an answer, so an absent one is a wrong argument */
async function demandRelatedType(scope: Scope, baseId: string, id: string): Promise<WalkQuery['type']> {
  const type = await findType(scope, baseId, id)
  if (type) return typeThrough(lensOn(scope, baseId, id), type)
  const readable = rightsOf(scope).types('read', baseId)
  const rows = await scope.db.orm.recordType.findMany({
    where: { baseId, ...(readable !== '*' && { id: { in: [...readable] } }) },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: 1000,
  })
  const known = rows.map((row) => row.id)
  throw invalid({
    path: '/related_type',
    code: 'unknown_record_type',
    message: `There is no record type "${id.slice(0, 64)}". Name one of those the base has, or leave it out.`,
    ...unknownName(id, known),
  })
}

const tooLarge = (): DomainError =>
  invalid({
    path: '/depth',
    code: 'too_large',
    message: `More than ${LIMITS.walkedRecords} records or ${LIMITS.walkedLinks} links are reachable from this record. Send a smaller depth, one rel_type or one direction.`,
    expected: LIMITS.walkedRecords,
  })

const asItem = (row: Found): Related => ({
  relationship: toRelationship(linkOf(row)),
  record: { ...toRecord(row.record_type, row), searchScore: row.score ?? null },
  depth: row.depth,
  path: row.path,
})

function asRow(row: Found, projection: Projection | null): object {
  const view = toView(row.record_type, row)
  return {
    relationship: toRelationshipView(linkOf(row)),
    record: projection ? project(view, projection) : view,
    depth: row.depth,
    path: row.path,
  }
}
