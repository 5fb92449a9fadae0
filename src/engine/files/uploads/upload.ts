/** A file that arrives in parts: its row, and its parts. */
import { oneFault } from '../../../foundation/errors.ts'
import { read, type Scope } from '../../core/scope.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { policyOf, requirePath } from '../index.ts'

/** An upload, as a request addresses it. */
export type UploadAddress = { baseId: string; fileType: string; path: string; id: string }
export type Upload = {
  readonly id: string
  readonly fileType: string
  readonly path: string
  readonly createdAt: string
}
export type UploadPart = {
  readonly number: number
  readonly contentSha256: string
  readonly size: number
  readonly createdAt: string
}

export type UploadRow = {
  id: string
  file_type: string
  path: string
  content_type: string
  metadata: Readonly<Record<string, unknown>>
  created_at: Date
}
export type PartRow = { number: number; content_sha256: string; size: number; created_at: Date }

export const UPLOAD_COLUMNS = 'id, file_type, path, content_type, metadata, created_at'
export const PART_COLUMNS = 'number, content_sha256, size::float8 AS size, created_at'

export const toUpload = (row: UploadRow): Upload => ({
  id: row.id,
  fileType: row.file_type,
  path: row.path,
  createdAt: row.created_at.toISOString(),
})

export const toPart = (row: PartRow): UploadPart => ({
  number: row.number,
  contentSha256: row.content_sha256,
  size: row.size,
  createdAt: row.created_at.toISOString(),
})

const FIND = statement(
  'find_upload',
  `SELECT ${UPLOAD_COLUMNS} FROM plinth.file_upload WHERE base_id = $1 AND id = $2 AND file_type = $3 AND path = $4`,
)
// Waits for a completion or an end, and holds them off.
const LOCK_SHARED = statement('lock_upload_shared', `${FIND.text} FOR KEY SHARE`)
const LOCK = statement('lock_upload', `${FIND.text} FOR UPDATE`)

/**
 * The upload, for a caller that may write its file.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function findUpload(scope: Scope, address: UploadAddress): Promise<UploadRow> {
  await policyOf(scope, 'write', address)
  const [row] = await read<UploadRow>(scope, FIND, keyOf(address))
  if (!row) throw uploadNotFound(address.id)
  return row
}

/**
 * The upload, held until the transaction ends: `shared` by writers of parts, or alone.
 * @throws NOT_FOUND
 */
export async function lockUpload(
  tx: Db,
  address: UploadAddress,
  how: 'shared' | 'alone',
): Promise<UploadRow> {
  const [row] = await tx.query<UploadRow>(how === 'shared' ? LOCK_SHARED : LOCK, keyOf(address))
  if (!row) throw uploadNotFound(address.id)
  return row
}

const keyOf = ({ baseId, id, fileType, path }: UploadAddress) => [baseId, id, fileType, requirePath(path)]

const uploadNotFound = (id: string) =>
  oneFault('NOT_FOUND', `There is no upload "${id.slice(0, 64)}" of this file.`, {
    path: '/id',
    code: 'upload_not_found',
    message: 'It was completed or aborted, or it never was. Start another one.',
  })
