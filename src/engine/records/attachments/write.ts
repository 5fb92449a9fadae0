import {
  mediaTypeOf,
  readBase64,
  readContentType,
  readFilename,
  UNKNOWN_CONTENT,
} from '../../../contract/attachment-rules.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { appendChange } from '../../core/append-change.ts'
import { receiveBytes, receivedContent } from '../../core/contents/receive.ts'
import { referenceContent } from '../../core/contents/reference.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { StoredBlob } from '../../storage/blobs/blob-store.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import {
  ATTACHMENT_COLUMNS,
  type Attachment,
  type AttachmentRow,
  attachmentNotFound,
  type LinkedAttachment,
  OF_RECORD,
  type RecordKey,
  recordIsAbsent,
  requireReach,
  requireRecord,
  stateOf,
  toAttachment,
} from './attachment.ts'
import { makeLink } from './signed-links.ts'

/** A new attachment. At most one of the contents is given; none asks for a link to upload it. */
export type NewAttachment = {
  filename: string
  contentType?: string | null | undefined
  /** As text. */
  content?: string | null | undefined
  contentBase64?: string | null | undefined
  /** The digest of a content that this request has stored. */
  contentSha256?: string | null | undefined
}

// Writers of the attachments of one record take turns, and it cannot be deleted meanwhile.
const LOCK_RECORD = statement(
  'lock_attached_record',
  `SELECT r.created_at AS "createdAt", (SELECT count(*) FROM plinth.attachment a
     WHERE a.base_id = $1 AND a.record_type = $2 AND a.record_id = $3 AND a.record_created_at = r.created_at)::int AS count
   FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 FOR NO KEY UPDATE`,
)
const TAKE_NAME = statement(
  'take_attachment_name',
  `DELETE FROM plinth.attachment a WHERE a.base_id = $1 AND a.record_type = $2 AND a.record_id = $3
     AND a.record_created_at = $4 AND a.filename = $5 AND a.status = $6 RETURNING ${ATTACHMENT_COLUMNS}`,
)
const INSERT = statement(
  'insert_attachment',
  `INSERT INTO plinth.attachment AS a (base_id, record_type, record_id, record_created_at, filename, status, id, content_type,
     size, sha256, token_id, actor_name)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING ${ATTACHMENT_COLUMNS}`,
)
const FIND = statement(
  'find_attachment_of_record',
  `SELECT ${ATTACHMENT_COLUMNS} FROM ${OF_RECORD} WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND a.id = $4`,
)
const COMPLETE = statement(
  'complete_attachment',
  `UPDATE plinth.attachment a SET status = 'ready', size = $3, sha256 = $4, content_type = $5
   WHERE a.base_id = $1 AND a.id = $2 RETURNING ${ATTACHMENT_COLUMNS}`,
)
const DELETE = statement(
  'delete_attachment',
  `DELETE FROM plinth.attachment a WHERE a.base_id = $1 AND a.id = $2 RETURNING ${ATTACHMENT_COLUMNS}`,
)

/**
 * Attaches a content to a record, in the place of one of the same name; or prepares its upload.
 * @throws VALIDATION_ERROR; FORBIDDEN without `write`; NOT_FOUND without base, type or record; CONFLICT for
 *   too many
 */
export async function createAttachment(
  scope: WriteScope,
  key: RecordKey,
  input: NewAttachment,
): Promise<LinkedAttachment> {
  await requireReach(scope, 'write', key)
  const filename = readFilename(input.filename)
  const contentType = readContentType(input.contentType ?? UNKNOWN_CONTENT)
  const read = readContent(scope, input)
  await requireRecord(scope, key)
  const content = await read()
  const status = content ? 'ready' : 'pending'
  const attachment = await scope.db.statements(async (db) => {
    const within = { ...scope, db }
    const { createdAt, count } = await lockRecord(within, key)
    if (content) await referenceContent(within, content)
    const place = [...key, createdAt, filename, status]
    const replaced = await takeName(within, key, place)
    if (count - replaced >= LIMITS.attachmentsOfRecord) throw tooMany()
    const author = [scope.actor.tokenId, scope.actor.name]
    const values = [
      ...place,
      uuidv7(),
      contentType,
      content?.size ?? null,
      content?.sha256 ?? null,
      ...author,
    ]
    const made = await only(db, INSERT, values)
    if (content) await log(within, key, 'create', made)
    return made
  })
  if (content) return attachment
  const { url, expiresAt } = makeLink(scope, 'upload', { key, attachmentId: attachment.id })
  return { ...attachment, uploadUrl: url, expiresAt }
}

/**
 * Gives a pending attachment its content, in the name of the token that prepared it. The same content again changes
 * nothing.
 * @throws NOT_FOUND; CONFLICT if it has another content; VALIDATION_ERROR for another content type
 */
export async function completeAttachment(
  scope: WriteScope,
  key: RecordKey,
  id: string,
  { contentSha256, contentType }: { contentSha256: string; contentType: string | null | undefined },
): Promise<Attachment> {
  const [baseId] = key
  await requireReach(scope, 'write', key)
  return scope.db.statements(async (db) => {
    const { createdAt } = await lockRecord({ ...scope, db }, key)
    const [row] = await db.query<AttachmentRow>(FIND, [...key, id])
    if (!row) throw attachmentNotFound('of that link', '/id')
    if (row.sha256 === contentSha256) return toAttachment(row)
    const content = receivedContent(scope, contentSha256, '/content_sha256')
    if (row.status === 'ready') throw alreadyComplete()
    const within = { ...scope, db, actor: { tokenId: row.token_id, name: row.actor_name } }
    const type = sameType(row.content_type, contentType)
    await referenceContent(within, content)
    await takeName(within, key, [...key, createdAt, row.filename, 'ready'])
    const made = await only(db, COMPLETE, [baseId, id, content.size, content.sha256, type])
    await log(within, key, 'create', made)
    return made
  })
}

/**
 * Deletes an attachment.
 * @throws FORBIDDEN without `write`; NOT_FOUND
 */
export async function deleteAttachment(
  scope: WriteScope,
  key: RecordKey,
  id: string,
): Promise<{ id: string; deleted: boolean }> {
  const [baseId] = key
  await requireReach(scope, 'write', key)
  await scope.db.statements(async (db) => {
    const within = { ...scope, db }
    await lockRecord(within, key)
    const [row] = await db.query<AttachmentRow>(FIND, [...key, id])
    if (!row) throw attachmentNotFound(`with the id "${id.slice(0, 64)}"`, '/attachment_id')
    await db.query(DELETE, [baseId, id])
    if (row.status === 'ready') await log(within, key, 'delete', toAttachment(row))
  })
  return { id, deleted: true }
}

/** `createdAt` distinguishes a record from a deleted one that had the same id. */
type Locked = { createdAt: Date | string; count: number }

/** Locks the record. Returns when it was created, and how many attachments it has. @throws NOT_FOUND */
async function lockRecord(scope: WriteScope, key: RecordKey): Promise<Locked> {
  const [record] = await scope.db.query<Locked>(LOCK_RECORD, [...key])
  if (!record) throw await recordIsAbsent(scope, key)
  // Under the lock the record stays where it is.
  await requireReach(scope, 'write', key)
  return record
}

/** Deletes the attachment that has a filename. Returns how many there were: 0 or 1. */
async function takeName(scope: WriteScope, key: RecordKey, place: readonly unknown[]): Promise<number> {
  const rows = await scope.db.query<AttachmentRow>(TAKE_NAME, place)
  for (const row of rows) if (row.status === 'ready') await log(scope, key, 'delete', toAttachment(row))
  return rows.length
}

async function only(db: Db, ...[how, values]: Parameters<Db['query']>): Promise<Attachment> {
  const [row] = await db.query<AttachmentRow>(how, values)
  if (!row) throw new Error('The attachment was not written.')
  return toAttachment(row)
}

const log = (scope: WriteScope, key: RecordKey, operation: 'create' | 'delete', attachment: Attachment) =>
  appendChange(scope, {
    baseId: key[0],
    kind: 'attachment',
    id: attachment.id,
    operation,
    version: operation === 'create' ? 1 : 2,
    state: stateOf(key, attachment),
  })

/**
 * Checks which content is given. The result stores it, when it is to be stored.
 * @throws VALIDATION_ERROR for several, or for invalid base64
 */
function readContent(
  scope: WriteScope,
  { content, contentBase64, contentSha256 }: NewAttachment,
): () => Promise<StoredBlob | null> {
  if (typeof content === 'string' && typeof contentBase64 === 'string')
    throw invalid({
      path: '/content_base64',
      code: 'exclusive',
      message: 'Send content or content_base64, not both.',
    })
  if (typeof contentSha256 === 'string') {
    const received = receivedContent(scope, contentSha256, '/content_sha256')
    return async () => received
  }
  const bytes =
    typeof content === 'string'
      ? Buffer.from(content)
      : typeof contentBase64 === 'string'
        ? readBase64(contentBase64, '/content_base64')
        : null
  return async () => bytes && receiveBytes(scope, bytes, LIMITS.attachmentBytes)
}

/** The type of what arrived must be the announced one; it may add parameters. */
function sameType(announced: string, arrived: string | null | undefined): string {
  if (arrived == null) return announced
  const type = readContentType(arrived, 'header/Content-Type')
  if (mediaTypeOf(type) === mediaTypeOf(announced)) return type
  throw invalid({
    path: 'header/Content-Type',
    code: 'content_type_mismatch',
    message: `The upload was prepared for "${announced}". Send that type, or prepare another upload.`,
    expected: announced,
    received: type,
  })
}

const alreadyComplete = () =>
  oneFault('CONFLICT', 'The attachment already has a content.', {
    path: '/id',
    code: 'upload_complete',
    message: 'Create another attachment with POST.',
  })

const tooMany = () =>
  oneFault('CONFLICT', `A record has at most ${LIMITS.attachmentsOfRecord} attachments.`, {
    path: '',
    code: 'too_many_attachments',
    message: 'Delete some of them first.',
  })
