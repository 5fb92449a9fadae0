import { requireType } from '../configuration/record-types/index.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { requireBase } from '../core/existing-base.ts'
import { findType } from '../core/load-type.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import { read, readPageRows, type Scope } from '../core/scope.ts'
import { type RecordItem, type RecordRow, toRecord, written } from '../data/ledger/record.ts'
import { type AuthorRow, authorIn, type Change } from '../log/entry.ts'
import { titleIn } from '../records/titles.ts'
import { namedTypes, requireBaseAccess, requirePermission } from '../storage/access/access.ts'
import { statement, timed } from '../storage/database/client.ts'

/** A deleted record that can be restored, in its last state. */
export type TrashedRecord = {
  record: RecordItem
  deletedAt: string
  deletedBy: Change['actor']
  /** The record cannot be restored after this time. */
  expiresAt: string
  /** Of the record in its last state. */
  title(): Promise<string | null>
}
export type TrashArgs = PageArgs & { recordType?: string | null | undefined }

type Row = RecordRow &
  AuthorRow & {
    seq: string
    record_type: string
    deleted_at: Date | string
    expires_at: Date | string
  }

const TRASH_TIME = `make_interval(days => ((SELECT settings ->> 'trash_days' FROM plinth.base WHERE id = $1))::int)`

/**
 * Deletions `c` in the trash of base `$1`, of the types `$2` or all: within retention, the last entry of
 * their record, and of an existing type. Uses subqueries, because with joins the planner might scan the whole
 * log.
 */
const IN_TRASH = `FROM plinth.change c
   WHERE c.kind = 'record' AND c.operation = 'delete' AND c.data IS NOT NULL AND c.base_id = $1 AND c.at > now() - ${TRASH_TIME}
     AND ($2::text[] IS NULL OR c.record_type = ANY ($2::text[]))
     AND (SELECT n.version FROM plinth.change n
          WHERE n.kind = 'record' AND n.base_id = $1 AND n.record_type = c.record_type AND n.id = c.id
          ORDER BY n.version DESC LIMIT 1) = c.version
     AND (SELECT true FROM plinth.record_type t WHERE t.base_id = $1 AND t.id = c.record_type)`

const LIST_TRASH = timed(
  statement(
    'list_trash',
    `SELECT c.seq::text, c.record_type, c.id, c.external_source, c.external_id, c.data, c.version - 1 AS version,
       c.cancelled_at, true AS valid, coalesce(c.created_at, c.at) AS created_at, coalesce((
         SELECT p.at FROM plinth.change p
         WHERE p.kind = 'record' AND p.base_id = $1 AND p.record_type = c.record_type AND p.id = c.id
           AND p.version = c.version - 1), c.at) AS updated_at,
       c.at AS deleted_at, c.at + ${TRASH_TIME} AS expires_at, c.token_id, c.actor_name, c.via, c.actor_kind
     ${IN_TRASH} AND ($3::timestamptz IS NULL OR (c.at, c.seq) < ($3, $4::bigint))
     ORDER BY c.at DESC, c.seq DESC LIMIT $5 OFFSET $6`,
  ),
)
const COUNT_TRASH = statement('count_trash', `SELECT count(*)::int AS total ${IN_TRASH}`)

/**
 * Lists the deleted records that can be restored, of the types that the token may read, most recently deleted
 * first.
 * @throws FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function listTrash(scope: Scope, baseId: string, args: TrashArgs): Promise<Page<TrashedRecord>> {
  const { recordType = null } = args
  if (recordType === null) requireBaseAccess(scope.access, baseId)
  else requirePermission(scope.access, 'read', baseId, recordType)
  const page = readPage(args)
  if (recordType === null) await requireBase(scope, baseId)
  else await requireType(scope, baseId, recordType)
  const types = recordType === null ? namedTypes(scope.access, 'read', baseId) : [recordType]
  const boundTo = ['trash', baseId, recordType, scope.access.grants]
  const start = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  const position = start ? [start.values[0], start.id] : [null, null]
  const asked = [baseId, types, ...position, page.limit + 1, page.offset]
  const { rows, isCut } = await readPageRows<Row>(scope, LIST_TRASH, asked)
  const [counted] = page.includeTotal
    ? await read<{ total: number }>(scope, COUNT_TRASH, [baseId, types])
    : []
  const found = toPage(rows, page, counted?.total ?? null, isCut)
  const positionOf = (row: Row) => ({ id: row.seq, values: [written(row.deleted_at)] })
  return {
    ...found,
    data: found.data.map((row) => toTrashed(scope, baseId, row)),
    ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf),
  }
}

const toTrashed = (scope: Scope, baseId: string, row: Row): TrashedRecord => ({
  record: toRecord(row.record_type, row),
  deletedAt: written(row.deleted_at),
  deletedBy: authorIn(row),
  expiresAt: written(row.expires_at),
  title: async () => titleIn(row.data, (await findType(scope, baseId, row.record_type))?.title),
})
