import { readPage } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'
import { fileTypesAt, readPrefix } from '../index.ts'
import {
  findUpload,
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

// The order of S3: by key, then by age, which the ids have. Sorts at most `LIMITS.uploadsOfBase` rows.
const LIST = statement(
  'list_uploads',
  `SELECT ${UPLOAD_COLUMNS} FROM plinth.file_upload
   WHERE base_id = $1 AND file_type = ANY ($6::text[]) AND starts_with(file_type || '/' || path, $2) AND (file_type || '/' || path, id) > ($3::text, $4::text)
   ORDER BY file_type || '/' || path, id LIMIT $5`,
)
const LIST_PARTS = statement(
  'list_upload_parts',
  `SELECT ${PART_COLUMNS} FROM plinth.file_upload_part WHERE base_id = $1 AND upload_id = $2 AND number > $3 ORDER BY number LIMIT $4`,
)

/** Where a list of uploads goes on: after a key, and after an upload of it. */
export type UploadPosition = { key: string; id: string }

/**
 * Lists the uploads in progress that the caller may write, by the keys `<file_type>/<path>` of their files.
 * @throws FORBIDDEN if it may write none; NOT_FOUND without base; VALIDATION_ERROR
 */
export async function listUploads(
  scope: Scope,
  baseId: string,
  prefix: string,
  after: UploadPosition,
  most: number,
): Promise<{ data: Upload[]; more: boolean }> {
  const { limit } = readPage({ limit: most })
  const writable = await fileTypesAt(scope, 'write', baseId, '')
  const rows = await read<UploadRow>(scope, LIST, [
    baseId,
    readPrefix(prefix),
    readPrefix(after.key, '/after'),
    after.id,
    limit + 1,
    writable,
  ])
  return { data: rows.slice(0, limit).map(toUpload), more: rows.length > limit }
}

/**
 * Lists the parts of an upload that have arrived.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function listUploadParts(
  scope: Scope,
  address: UploadAddress,
  after: number,
  most: number,
): Promise<{ data: UploadPart[]; more: boolean }> {
  const { limit } = readPage({ limit: most })
  await findUpload(scope, address)
  const rows = await read<PartRow>(scope, LIST_PARTS, [address.baseId, address.id, after, limit + 1])
  return { data: rows.slice(0, limit).map(toPart), more: rows.length > limit }
}
