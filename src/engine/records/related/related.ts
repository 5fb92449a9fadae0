/** Graph traversal: records that are linked to a record, over any number of steps. */
import { unknownName } from '../../../contract/suggest.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { findType } from '../../core/load-type.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { authorize, policyOn, rightsOf, visibleType } from '../../core/row-policy/apply.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { bindFilter, bindSort } from '../../data/filter/check-fields.ts'
import { type RecordItem, type RecordRow, toRecord, toView } from '../../data/ledger/record.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { lagging, shaped } from '../../storage/database/client.ts'
import { readQuestion } from '../query/compile-query.ts'
import { type Projection, parseFields, project } from '../query/projection.ts'
import { type Relationship, toRelationship, toRelationshipView } from '../relationships/index.ts'
import { absentRecord } from '../relationships/missing-ends.ts'
import { type Titled, titleIn } from '../titles.ts'
import { requireRelationshipTypes } from './check-types.ts'
import { adviseDirection } from './direction-advice.ts'
import { linkOf } from './expand-statement.ts'
import { ANY_TYPE, withLinkedEnds } from './linked-conditions.ts'
import { policySqlOf, visibleOfAll } from './policy-sql.ts'
import { type Direction, type WalkQuery, walkStatement } from './traversal-sql.ts'

/** Arguments of a graph traversal. `filter` and `sort` are JSON as sent. */
export type RelatedArgs = Omit<PageArgs, 'cursor'> & {
  /** Follow only links of this type. */
  relType?: string | null | undefined
  /** Default: `outgoing`. */
  direction?: Direction | null | undefined
  /** Maximum distance in links, 1 to 5; default 1. */
  depth?: number | null | undefined
  /** Return only records of this type. */
  relatedType?: string | null | undefined
  filter?: unknown
  sort?: unknown
  fields?: readonly string[] | null | undefined
}

/** A reached record, the last link to it, and the ids of all links from the start. */
export type Related = { relationship: Relationship; record: RecordItem; depth: number; path: string[] }
export type RelatedPage = Omit<Page<Related>, 'data'> & {
  data(): Titled<Related>[]
  /** The results in the format of REST and MCP, with the records projected to the requested fields. */
  rows(withTitles: boolean): Promise<object[]>
  /** Why the page is empty, if the relationship types show it. */
  hint: string | null
}

type Found = RecordRow & { record_type: string; depth: number; path: string[]; score?: number }
type Row = Found & { n: number | null; starts: boolean; too_large: boolean; total: number | null }

/**
 * Graph traversal: the records reachable from one record by links, each once by a shortest path, nearest
 * first by default.
 * @throws FORBIDDEN outside the grants; NOT_FOUND without base, type or record; VALIDATION_ERROR with the
 * argument at fault, and for a traversal that is too large
 */
export async function relatedRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
  args: RelatedArgs,
): Promise<RelatedPage> {
  const { relType = null, direction, relatedType = null, fields } = args
  authorize(scope, 'read', baseId, recordType)
  if (relatedType !== null) authorize(scope, 'read', baseId, relatedType)
  const page = readPage(args)
  const depth = readDepth(args.depth ?? 1)
  const { filter: asked, sort } = readQuestion(args)
  const isSorted = (args.sort ?? null) !== null || sort.some(({ field }) => field.kind === 'score')
  const projection = fields ? parseFields(fields, '/fields') : null
  await requireType(scope, baseId, recordType)
  if (relType !== null) await requireRelationshipTypes(scope, baseId, [relType], '/rel_type', recordType)
  const type =
    relatedType === null
      ? { ...ANY_TYPE, visible: visibleOfAll(scope) }
      : await requireRelatedType(scope, baseId, relatedType)
  const filter = await withLinkedEnds(scope, baseId, relatedType, asked)
  const statement = walkStatement({
    ...page,
    ...{ baseId, recordType, id, relType, relatedType, depth, type },
    direction: direction ?? 'outgoing',
    readable: namedTypes(rightsOf(scope), 'read', baseId),
    policySql: await policySqlOf(scope, baseId),
    filter: filter && bindFilter(filter, type),
    sort: isSorted ? bindSort(sort, type) : null,
  })
  const { rows, isCut } = await readPageRows<Row>(scope, lagging(shaped(statement.text)), statement.values)
  const [first] = rows
  if (!first?.starts) throw await absentRecord(scope, baseId, recordType, id)
  if (first.too_large) throw tooLarge()
  const found = toPage(
    rows.filter(({ n }) => n !== null),
    page,
    first.total,
    isCut,
  )
  const titleOf = async (row: Found) =>
    titleIn(row.data, (await findType(scope, baseId, row.record_type))?.title)
  const isEmpty = found.data.length === 0 && page.offset === 0
  const walked = { relType, direction: direction ?? 'outgoing' }
  return {
    ...found,
    hint: isEmpty ? await adviseDirection(scope, baseId, recordType, walked) : null,
    data: () => found.data.map((row) => ({ ...asItem(row), title: () => titleOf(row) })),
    rows: (withTitles) =>
      Promise.all(
        found.data.map(async (row) => ({
          ...asRow(row, projection),
          ...(withTitles && { title: await titleOf(row) }),
        })),
      ),
  }
}

function readDepth(depth: number): number {
  if (Number.isInteger(depth) && depth >= 1 && depth <= LIMITS.relatedDepth) return depth
  throw invalid({
    path: '/depth',
    code: 'out_of_range',
    message: `depth must be a whole number from 1 to ${LIMITS.relatedDepth}.`,
    received: depth,
  })
}

/**
 * Checks the type filter. An absent type is an invalid argument, not NOT_FOUND.
 * @throws VALIDATION_ERROR
 */
async function requireRelatedType(scope: Scope, baseId: string, id: string): Promise<WalkQuery['type']> {
  const type = await findType(scope, baseId, id)
  if (type) return visibleType(policyOn(scope, baseId, id), type)
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
