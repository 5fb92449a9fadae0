import { buffer } from 'node:stream/consumers'
import { LIMITS } from '../../../foundation/limits.ts'
import { decodeText } from '../../../foundation/text-encoding.ts'
import { openContent } from '../../core/contents/read.ts'
import { readNewest } from '../../core/created-at-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import {
  ATTACHMENT_COLUMNS,
  type Attachment,
  type AttachmentRow,
  attachmentNotFound,
  type LinkedAttachment,
  OF_RECORD,
  type RecordKey,
  requireReach,
  requireRecord,
  toAttachment,
} from './attachment.ts'
import { makeLink } from './signed-links.ts'

const THIS_RECORD = `FROM ${OF_RECORD} WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3`

const LIST = statement(
  'list_attachments',
  `SELECT ${ATTACHMENT_COLUMNS} ${THIS_RECORD}
     AND ($4::timestamptz IS NULL OR (a.created_at, a.id) < ($4, $5))
   ORDER BY a.created_at DESC, a.id DESC LIMIT $6 OFFSET $7`,
)
const COUNT = statement('count_attachments', `SELECT count(*)::float8 AS total ${THIS_RECORD}`)
// A pending attachment shows only where there is none yet.
const GET_BY_NAME = statement(
  'get_attachment',
  `SELECT ${ATTACHMENT_COLUMNS} ${THIS_RECORD} AND a.filename = $4 ORDER BY a.status DESC LIMIT 1`,
)
const GET_BY_ID = statement(
  'get_attachment_by_id',
  `SELECT ${ATTACHMENT_COLUMNS} ${THIS_RECORD} AND a.id = $4`,
)

/**
 * Lists the attachments of a record, newest first.
 * @throws FORBIDDEN without `read`; NOT_FOUND without base, type or record
 */
export async function listAttachments(
  scope: Scope,
  key: RecordKey,
  args: PageArgs,
): Promise<Page<Attachment>> {
  await requireReach(scope, 'read', key)
  const page = readNewest(scope, `attachments ${key.join('/')}`, args)
  const from = page.start ? [page.start.values[0], page.start.id] : [null, null]
  const [rows, counted] = await Promise.all([
    read<AttachmentRow>(scope, LIST, [...key, ...from, page.limit + 1, page.offset]),
    page.includeTotal ? read<{ total: number }>(scope, COUNT, [...key]) : null,
  ])
  if (rows.length === 0) await requireRecord(scope, key)
  return page.of(rows.map(toAttachment), counted ? (counted[0]?.total ?? 0) : null)
}

/**
 * Reads an attachment by its filename, with a link to its content.
 * @throws FORBIDDEN without `read`; NOT_FOUND
 */
export async function getAttachment(
  scope: Scope,
  key: RecordKey,
  filename: string,
): Promise<LinkedAttachment> {
  await requireReach(scope, 'read', key)
  const [row] = await read<AttachmentRow>(scope, GET_BY_NAME, [...key, filename.normalize('NFC')])
  if (!row) {
    await requireRecord(scope, key)
    throw attachmentNotFound(`"${filename.slice(0, 64)}"`, '/filename')
  }
  const attachment = toAttachment(row)
  if (attachment.status === 'pending') return { ...attachment, url: null, expiresAt: null }
  return { ...attachment, ...makeLink(scope, 'download', { key, attachmentId: row.id }) }
}

/** Reads an attachment by its id. @throws NOT_FOUND */
export async function getAttachmentById(scope: Scope, key: RecordKey, id: string): Promise<Attachment> {
  await requireReach(scope, 'read', key)
  const [row] = await read<AttachmentRow>(scope, GET_BY_ID, [...key, id])
  if (!row) throw attachmentNotFound('of that link', '/id')
  return toAttachment(row)
}

/** The content of an attachment, if it is a text of at most `maxBytes`; null otherwise. The caller may read the attachment. */
export async function attachedText(
  scope: Scope,
  { sha256, size }: Attachment,
  maxBytes: number,
): Promise<string | null> {
  if (sha256 === null || size === null || size > Math.min(maxBytes, LIMITS.inlineContentBytes)) return null
  const bytes = size === 0 ? Buffer.alloc(0) : await buffer(await openContent(scope, { sha256, size }))
  return decodeText(bytes)
}

/** Deletes what no upload can complete any more. */
const SWEEP_PENDING = statement(
  'sweep_pending_attachments',
  `DELETE FROM plinth.attachment WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM plinth.attachment
     WHERE status = 'pending' AND created_at < now() - interval '${LIMITS.linkMinutes * 2} minutes' LIMIT ${LIMITS.sweptAttachments}))`,
)

/**
 * Of the next attachments after `$1`, `$2`, deletes those whose record is gone and can no longer be restored. Their
 * contents are then in no use.
 */
const SWEEP_ORPHANS = statement(
  'sweep_orphaned_attachments',
  `WITH batch AS MATERIALIZED (
     SELECT * FROM plinth.attachment WHERE (base_id, id) > ($1, $2) ORDER BY base_id, id LIMIT ${LIMITS.sweptAttachments}),
   gone AS (
     DELETE FROM plinth.attachment a USING batch b
     WHERE a.base_id = b.base_id AND a.id = b.id
       AND (SELECT true FROM plinth.record r
            WHERE r.base_id = b.base_id AND r.record_type = b.record_type AND r.id = b.record_id
              AND r.created_at = b.record_created_at) IS NULL
       AND NOT EXISTS (
         SELECT FROM plinth.change c
         WHERE c.kind = 'record' AND c.base_id = b.base_id AND c.record_type = b.record_type AND c.id = b.record_id
           AND c.operation = 'delete' AND c.at > now() - make_interval(days => (
             SELECT (settings ->> 'trash_days')::int FROM plinth.base WHERE id = b.base_id))))
   SELECT base_id, id FROM batch ORDER BY base_id DESC, id DESC LIMIT 1`,
)

/** Makes the sweep. Each call deletes a bounded number and goes on where the last one ended. */
export function attachmentSweep(db: Db): () => Promise<void> {
  let after: readonly [string, string] = ['', '']
  return async () => {
    await db.query(SWEEP_PENDING, [])
    const [last] = await db.query<{ base_id: string; id: string }>(SWEEP_ORPHANS, after)
    after = last ? [last.base_id, last.id] : ['', '']
  }
}
