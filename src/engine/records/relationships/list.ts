import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { cursorsOf, openCursor } from '../../core/cursor.ts'
import { requireBase } from '../../core/existing-base.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import { read, readPageRows, type Scope } from '../../core/scope.ts'
import { bindFilter, bindSort } from '../../data/filter/check-fields.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import {
  RELATIONSHIP_COLUMNS,
  type Relationship,
  type RelationshipRow,
  relationshipNotFound,
  toRelationship,
} from '../../data/ledger/relationship.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { lagging, shaped, statement } from '../../storage/database/client.ts'
import { readSort } from '../query/sort.ts'
import { isLinkWithin } from './ends.ts'
import {
  countStatement,
  fixedText,
  LINK_FIELDS,
  type LinkQuery,
  listStatement,
  parseLinkField,
} from './list-statement.ts'

const GET_LINK = statement(
  'get_relationship',
  `SELECT ${RELATIONSHIP_COLUMNS} FROM plinth.relationship WHERE base_id = $1 AND id = $2`,
)

/**
 * Reads a link.
 * @throws FORBIDDEN without a grant on the base; NOT_FOUND when the base or the link is absent, or an end is
 * outside the grants
 */
export async function getRelationship(scope: Scope, baseId: string, id: string): Promise<Relationship> {
  return toRelationship(await requireLinkRow(scope, baseId, id))
}

/**
 * Reads the row of a link that the token may see.
 * @throws as getRelationship
 */
export async function requireLinkRow(scope: Scope, baseId: string, id: string): Promise<RelationshipRow> {
  requireBaseAccess(rightsOf(scope), baseId)
  const [row] = await scope.db.query<RelationshipRow>(GET_LINK, [baseId, id])
  if (row && (await isLinkWithin(scope, baseId, row))) return row
  await requireBase(scope, baseId)
  throw relationshipNotFound(id)
}

/** Arguments of a list of links. `filter` and `sort` are JSON as sent. */
type RelationshipListArgs = PageArgs & { filter?: unknown; sort?: unknown }

const NEWEST = '-created_at'

/**
 * Lists a page of the matching links whose ends the token may both read, newest first by default.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN without a grant on the base; NOT_FOUND
 * without base
 */
export async function listRelationships(
  scope: Scope,
  baseId: string,
  args: RelationshipListArgs,
): Promise<Page<Relationship>> {
  requireBaseAccess(scope.access, baseId)
  const page = readPage(args)
  const filter = args.filter == null ? null : parseFilter(args.filter, '/filter', LINK_FIELDS)
  const sort = readSort(args.sort ?? NEWEST, '/sort', parseLinkField)
  const terms = sort.map(({ name, descending }) => [name, descending])
  const boundTo = ['relationships', baseId, args.filter ?? null, terms, scope.access.grants]
  const position = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  const relType = fixedText(filter, 'rel_type')
  const type = relType === null ? null : (await readableRelationshipTypes(scope, baseId)).get(relType)
  // The schema of the data is known only if all links have one type.
  const fields = { jsonSchema: type?.dataSchema ?? {}, timezone: 'UTC' }
  const query: LinkQuery = {
    ...page,
    baseId,
    readable: scope.access.types('read', baseId),
    type: fields,
    filter: filter && bindFilter(filter, fields),
    sort: bindSort(sort, fields),
    position,
  }
  const statement = listStatement(query)
  const { rows, isCut } = await readPageRows<Row>(scope, lagging(shaped(statement.text)), statement.values)
  if (rows.length === 0) await requireBase(scope, baseId)
  const total = page.includeTotal ? await count(scope, query) : null
  const found = toPage(rows, page, total, isCut)
  const positionOf = (row: Row) => ({ id: row.id, values: sort.map((_, n) => row[`s${n}`] ?? null) })
  return {
    ...found,
    data: found.data.map(toRelationship),
    ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf),
  }
}

type Row = RelationshipRow & { [key: `s${number}`]: string | number | null }

async function count(scope: Scope, query: LinkQuery): Promise<number> {
  const { text, values } = countStatement(query)
  const [row] = await read<{ total: number }>(scope, lagging(shaped(text)), values)
  return row?.total ?? 0
}
