/** Starts and aborts uploads, and stores their parts. */
import { FileProperties } from '../../../contract/file-shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { openContent } from '../../core/contents/read.ts'
import { receiveAndClose, receivedContent } from '../../core/contents/receive.ts'
import { referenceContent } from '../../core/contents/reference.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { StoredBlob } from '../../storage/blobs/blob-store.ts'
import { statement } from '../../storage/database/client.ts'
import { checkProperties, getFile, policyOf, requirePath } from '../index.ts'
import {
  lockUpload,
  PART_COLUMNS,
  type PartRow,
  toPart,
  toUpload,
  UPLOAD_COLUMNS,
  type Upload,
  type UploadAddress,
  type UploadPart,
  type UploadRow,
} from './upload.ts'

const START = statement(
  'start_upload',
  `INSERT INTO plinth.file_upload (base_id, id, file_type, path, content_type, metadata)
   VALUES ($1, $2, $3, $4, $5, $6::json) RETURNING ${UPLOAD_COLUMNS}`,
)
const COUNT = statement(
  'count_uploads',
  'SELECT count(*)::int AS open FROM plinth.file_upload WHERE base_id = $1',
)
const PUT_PART = statement(
  'put_upload_part',
  `INSERT INTO plinth.file_upload_part AS p (base_id, upload_id, number, content_sha256, size) VALUES ($1, $2, $3, $4, $5::bigint)
   ON CONFLICT (base_id, upload_id, number) DO UPDATE SET content_sha256 = excluded.content_sha256, size = excluded.size, created_at = now()
   RETURNING ${PART_COLUMNS}`,
)
const ABORT = statement('abort_upload', 'DELETE FROM plinth.file_upload WHERE base_id = $1 AND id = $2')

/**
 * Starts the upload of a file in parts. The file shows when the upload is completed.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR; CONFLICT for too many
 */
export async function startUpload(
  scope: WriteScope,
  { baseId, fileType, path: text }: Omit<UploadAddress, 'id'>,
  input: { contentType: string; metadata: unknown },
): Promise<Upload> {
  const policy = await policyOf(scope, 'write', { baseId, fileType })
  const path = requirePath(text)
  const { content_type: contentType, metadata } = check(
    FileProperties,
    { content_type: input.contentType, metadata: input.metadata, label: null },
    inBody(),
  )
  checkProperties(scope, policy, { contentType, metadata })
  const [count] = await scope.db.query<{ open: number }>(COUNT, [baseId])
  if ((count?.open ?? 0) >= LIMITS.uploadsOfBase) throw tooMany()
  const values = [baseId, uuidv7(), fileType, path, contentType, JSON.stringify(metadata)]
  const [row] = await scope.db.query<UploadRow>(START, values)
  if (!row) throw new Error('An inserted upload is gone')
  return toUpload(row)
}

/** A part: a content that this request has stored, or a range of bytes of a file of the base. */
export type PartInput =
  | { sha256: string }
  | { fileType: string; path: string; range: { start: number; end: number } | null }

/**
 * Stores a part, in the place of one of the same number.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function putUploadPart(
  scope: WriteScope,
  address: UploadAddress,
  number: number,
  input: PartInput,
): Promise<UploadPart> {
  await policyOf(scope, 'write', address)
  if (number < 1 || number > LIMITS.uploadParts) throw badNumber(number)
  const content = await partOf(scope, address.baseId, input)
  return scope.db.statements(async (tx) => {
    await lockUpload(tx, address, 'shared')
    await referenceContent({ ...scope, db: tx }, content)
    const values = [address.baseId, address.id, number, content.sha256, content.size]
    const [row] = await tx.query<PartRow>(PUT_PART, values)
    if (!row) throw new Error('An inserted part is gone')
    return toPart(row)
  })
}

async function partOf(scope: WriteScope, baseId: string, input: PartInput): Promise<StoredBlob> {
  if ('sha256' in input) return receivedContent(scope, input.sha256, '/content_sha256')
  const { fileType, path, range } = input
  const { contentSha256: sha256, size } = await getFile(scope, { baseId, fileType, path }, null)
  const { start, end } = range ?? { start: 0, end: size - 1 }
  if (end >= size || start > end) throw badRange(size)
  if (end - start >= LIMITS.uploadPartBytes) throw tooLarge()
  if (start === 0 && end === size - 1) return { sha256, size }
  const source = await openContent(scope, { sha256, size }, { start, end })
  return receiveAndClose(scope, source, { maxBytes: LIMITS.uploadPartBytes })
}

/**
 * Ends an upload without a file. Its parts are removed later.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function abortUpload(
  scope: WriteScope,
  address: UploadAddress,
): Promise<{ id: string; deleted: boolean }> {
  await policyOf(scope, 'write', address)
  return scope.db.statements(async (tx) => {
    await lockUpload(tx, address, 'alone')
    await tx.query(ABORT, [address.baseId, address.id])
    return { id: address.id, deleted: true }
  })
}

const tooMany = () =>
  oneFault('CONFLICT', `The base has ${LIMITS.uploadsOfBase} uploads in progress.`, {
    path: '',
    code: 'too_many',
    message: 'Complete or abort some of them first.',
  })
const badNumber = (received: number) =>
  invalid({
    path: '/number',
    code: 'out_of_range',
    message: `number must be a whole number from 1 to ${LIMITS.uploadParts}.`,
    received,
  })
const badRange = (size: number) =>
  invalid({
    path: '/source_range',
    code: 'range_not_satisfiable',
    message: `The source has ${size} bytes. Send a range within them.`,
    expected: size,
  })
const tooLarge = () =>
  invalid({
    path: '',
    code: 'too_large',
    message: `A part can have at most ${LIMITS.uploadPartBytes} bytes. Send smaller parts.`,
    expected: LIMITS.uploadPartBytes,
  })
