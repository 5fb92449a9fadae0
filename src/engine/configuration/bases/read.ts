import type { ChangeSetStatus, ListedCopy, ListedState } from '../../../contract/change-set-shapes.ts'
import { anyPreviewOf } from '../../../contract/ids.ts'
import { invalid } from '../../../foundation/errors.ts'
import { readNewest } from '../../core/created-at-page.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import type { Prisma } from '../../prisma/client.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { viewOf } from '../lifecycle/fields.ts'
import { get } from '../lifecycle/read.ts'
import { BASE, type Base } from './base.ts'
import { toRow } from './table.ts'

/** Lists the bases that the token has any grant on, newest first. */
export const listBases = (scope: Scope, args: PageArgs): Promise<Page<Base>> =>
  listWhere(scope, 'bases', args, visibleBases(scope))

// A deleted relationship has no home. `types` are those of the ends of one.
const CHANGE_SETS_OF = statement(
  'change_sets_of_record',
  `SELECT d.branch AS id, '{}'::text[] AS types FROM plinth.base b
   JOIN plinth.draft_record d ON d.branch = b.id AND d.record_type = $2 AND d.id = $3
   WHERE b.production_base = $1 AND plinth_draft.differs(d)
   UNION
   SELECT d.branch, ARRAY[d.source_record_type, d.target_record_type] FROM plinth.base b
   JOIN plinth.record r ON r.base_id = b.production_base AND r.record_type = $2 AND r.id = $3
   JOIN plinth.draft_relationship d ON d.home = b.id AND (d.source_row = r.row_no OR d.target_row = r.row_no)
   WHERE b.production_base = $1 AND plinth_draft.differs(d)
   UNION
   SELECT d.branch, ARRAY[d.source_record_type, d.target_record_type] FROM plinth.record r
   JOIN plinth.draft_relationship d ON d.gone AND (d.source_row = r.row_no OR d.target_row = r.row_no)
   JOIN plinth.base b ON b.id = d.branch AND b.production_base = r.base_id
   WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND plinth_draft.differs(d)`,
)

/** The change-sets that change a record or a relationship of it, where the token may read it and the ends. */
async function changeSetsOf(scope: Scope, baseId: string, type: string, id: string): Promise<string[]> {
  const { access, db } = scope
  requirePermission(access, 'read', baseId, type)
  const found = await db.query<{ id: string; types: string[] }>(CHANGE_SETS_OF, [baseId, type, id])
  const seen = found.filter((each) =>
    [type, ...each.types].every((of) => [baseId, each.id].every((base) => access.allows('read', base, of))),
  )
  return seen.map((each) => each.id)
}

/** Which previews to list. A state and a token are those of change-sets. */
type Only = {
  state?: ListedState | null | undefined
  status?: ChangeSetStatus | null | undefined
  copy?: ListedCopy | null | undefined
  createdBy?: string | null | undefined
  recordType?: string | null | undefined
  recordId?: string | null | undefined
}

/**
 * Lists the previews of a base that the token has any grant on, newest first.
 * @throws FORBIDDEN without a grant on the base or its previews; NOT_FOUND; VALIDATION_ERROR for a half of a record's name
 */
export async function listPreviews(
  scope: Scope,
  baseId: string,
  { state, status, copy, createdBy, recordType: type, recordId: id, ...args }: PageArgs & Only,
): Promise<Page<Base>> {
  // A grant on the environment "preview" covers all previews of the base, and not the base.
  if (!scope.access.sees(anyPreviewOf(baseId))) requireBaseAccess(scope.access, baseId)
  if ((type == null) !== (id == null)) {
    const [given, missing] = type == null ? ['record_id', 'record_type'] : ['record_type', 'record_id']
    throw invalid({
      path: `/${missing}`,
      code: 'required',
      message: `${given} needs ${missing}: together they name a record. Send both, or neither.`,
    })
  }
  const hasRecord = type != null && id != null
  const where: Prisma.BaseWhereInput = {
    productionBase: baseId,
    AND: [
      visibleBases(scope),
      copy ? { changeSet: copy === 'config' ? { is: null } : { isNot: null } } : {},
      state ? { changeSet: { closedAt: state === 'open' ? null : { not: null } } } : {},
      status ? { changeSet: { status } } : {},
      createdBy ? { changeSet: { tokenId: createdBy } } : {},
      hasRecord ? { id: { in: await changeSetsOf(scope, baseId, type, id) } } : {},
    ],
  }
  const list = `previews of ${baseId} ${JSON.stringify({ state, status, copy, createdBy, type, id })}`
  const page = await listWhere(scope, list, args, where)
  if (page.data.length === 0) await requireBase(scope, baseId)
  return page
}

async function listWhere(
  scope: Scope,
  list: string,
  args: PageArgs,
  where: Prisma.BaseWhereInput,
): Promise<Page<Base>> {
  const page = readNewest(scope, list, args)
  const [rows, total] = await page.find(scope.db.orm.base, where)
  return page.of(
    rows.map((row) => viewOf(BASE, toRow(row)) as Base),
    total,
  )
}

/** The predicate `knows` of access.ts as a query condition. */
function visibleBases(scope: Scope): Prisma.BaseWhereInput {
  // Prisma treats an empty OR inconsistently, so match nothing explicitly.
  if (scope.access.grants.length === 0) return { id: { in: [] } }
  const each = scope.access.grants.map((grant): Prisma.BaseWhereInput => {
    const named = typeof grant.base === 'string' ? [grant.base] : [...grant.base]
    return {
      ...(!named.includes('*') && { OR: [{ id: { in: named } }, { productionBase: { in: named } }] }),
      ...(grant.environment !== '*' && { environment: grant.environment }),
    }
  })
  // In Prisma, an empty condition inside OR is false, not true.
  return each.some((condition) => Object.keys(condition).length === 0) ? {} : { OR: each }
}

/**
 * Reads a base. An endpoint grant shows it as any other grant does, without its content.
 * @throws FORBIDDEN without a grant on it; NOT_FOUND
 */
export const getBase = (scope: Scope, id: string): Promise<Base> =>
  get({ kind: BASE, scope, baseId: id, id }) as Promise<Base>

const COUNT_RECORDS = statement(
  'count_records',
  `SELECT count(*)::float8 AS records FROM plinth.record
   WHERE base_id = $1 AND ($2::text[] IS NULL OR record_type = ANY ($2))`,
)

/** Counts the content of a base that the token may read: `record_types` and `records`. */
export async function countBase(scope: Scope, id: string) {
  const types = scope.access.types('read', id)
  const only = types === '*' ? null : [...types]
  const [recordTypes, [counted]] = await Promise.all([
    scope.db.orm.recordType.count({ where: { baseId: id, ...(only && { id: { in: only } }) } }),
    scope.db.query<{ records: number }>(COUNT_RECORDS, [id, only]),
  ])
  return { record_types: recordTypes, records: counted?.records ?? 0 }
}
