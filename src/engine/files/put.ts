/** Creates a file or gives it another content. */

import { FileProperties } from '../../contract/file-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { busy } from '../../foundation/errors.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { referenceContent } from '../core/contents/reference.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { StoredBlob } from '../storage/blobs/blob-store.ts'
import { type Db, statement, timed } from '../storage/database/client.ts'
import { type Content, type ContentInput, contentOf } from './content.ts'
import { FILE_COLUMNS, type File, type FileRow, hasProperties, logFile, toFile } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, keyOf, lockFile, requirePath } from './find.ts'
import { checkProperties, type FilePolicy, immutable, lockType, policyOf } from './policy.ts'
import { putByFastPath } from './put-fast-path.ts'
import { enterText, searchedText } from './text-index.ts'
import { addVersion, relabelVersion } from './versions.ts'

/** Versions of a path go on after a deletion, so that a version number is never used twice. */
const INSERT = timed(
  statement(
    'insert_file',
    `INSERT INTO plinth.file (base_id, file_type, path, id, version, content_sha256, size, content_type, metadata, label)
     SELECT $1, $2, $3, $9, 1 + coalesce((
       SELECT max(version) FROM plinth.file WHERE base_id = $1 AND file_type = $2 AND path = $3 AND deleted_at IS NOT NULL), 0),
       $4, $5::bigint, $6, $7::json, $8
     ON CONFLICT (base_id, file_type, path) WHERE deleted_at IS NULL DO NOTHING
     RETURNING ${FILE_COLUMNS}`,
  ),
)
const UPDATE = timed(
  statement(
    'update_file',
    `UPDATE plinth.file SET version = $3, content_sha256 = $4, size = $5::bigint, content_type = $6, metadata = $7::json,
       label = $8, updated_at = now()
     WHERE base_id = $1 AND id = $2 RETURNING ${FILE_COLUMNS}`,
  ),
)

export type FileInput = {
  content: ContentInput
  contentType: string
  metadata: unknown
  label: string | null
}
/**
 * Creates the file, or replaces its content and properties. Another content is a new version.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR; CONFLICT
 */
export async function putFile(
  scope: WriteScope,
  { path: text, ...place }: FileAddress,
  input: FileInput,
  expected: FileExpectation,
): Promise<File> {
  const policy = await policyOf(scope, 'write', place)
  const address = { ...place, path: requirePath(text) }
  const properties = check(
    FileProperties,
    { content_type: input.contentType, metadata: input.metadata, label: input.label },
    inBody(),
  )
  const stored = await contentOf(scope, policy, input.content)
  const content: Content = {
    ...stored,
    text: await indexedTextOf(scope, stored, properties.content_type),
    contentType: properties.content_type,
    metadata: properties.metadata,
    label: properties.label,
  }
  checkProperties(scope, policy, content)
  const written = await putByFastPath(scope, address, policy, content, expected)
  if (written) return written
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockType(within, address)
    await referenceContent(within, content)
    const current = await lockFile(tx, address)
    if (current) return overwrite(within, address, policy, current, content, expected)
    checkFile(expected, undefined, address.path)
    const created = await insert(tx, address, content)
    if (created) {
      await addVersion(within, address.baseId, created, policy.storage.keep_versions)
      await enterText(tx, address.baseId, created, content.text)
      await logFile(within, address.baseId, created, 'create')
      return { ...toFile(created), operation: 'created' as const }
    }
    // Another request has created it meanwhile.
    const rival = await lockFile(tx, address)
    if (!rival) throw busy('The file was created and deleted at the same time.', 'Send the request again.')
    return overwrite(within, address, policy, rival, content, expected)
  })
}

/** The text of a stored content that the text index gets. */
export const indexedTextOf = (
  scope: WriteScope,
  { sha256, size, bytes }: StoredBlob,
  contentType: string,
): Promise<string> => searchedText(scope, { contentSha256: sha256, size, bytes, contentType })

async function insert(tx: Db, address: FileAddress, content: Content): Promise<FileRow | undefined> {
  const values = [
    ...keyOf(address),
    content.sha256,
    content.size,
    content.contentType,
    JSON.stringify(content.metadata),
    content.label,
    uuidv7(),
  ]
  return (await tx.query<FileRow>(INSERT, values))[0]
}

/** Replaces content and properties of a locked file. @throws CONFLICT */
export async function overwrite(
  scope: WriteScope,
  { baseId, path }: FileAddress,
  { storage }: FilePolicy,
  current: FileRow,
  content: Content,
  expected: FileExpectation,
): Promise<File> {
  checkFile(expected, current, path)
  const isSameContent = current.content_sha256 === content.sha256
  if (isSameContent && hasProperties(current, content)) return { ...toFile(current), operation: 'unchanged' }
  if (storage.immutable) throw immutable(path, 'overwritten')
  const version = isSameContent ? current.version : current.version + 1
  const updated = await updateFile(scope.db, baseId, current.id, { ...content, version })
  if (isSameContent) await relabelVersion(scope.db, baseId, updated)
  else await addVersion(scope, baseId, updated, storage.keep_versions)
  if (!isSameContent || current.content_type !== content.contentType)
    await enterText(scope.db, baseId, updated, content.text)
  await logFile(scope, baseId, updated, 'update')
  return { ...toFile(updated), operation: 'updated' }
}

/** Stores the content and the properties of a locked file. */
export async function updateFile(
  tx: Db,
  baseId: string,
  id: string,
  next: Omit<Content, 'text'> & { version: number },
): Promise<FileRow> {
  const [row] = await tx.query<FileRow>(UPDATE, [
    baseId,
    id,
    next.version,
    next.sha256,
    next.size,
    next.contentType,
    JSON.stringify(next.metadata),
    next.label,
  ])
  if (!row) throw new Error('A locked file is gone')
  return row
}
