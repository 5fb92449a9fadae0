/** Brings back a file from the trash, or a content that it had. */
import { type DomainError, oneFault } from '../../foundation/errors.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { statement, timed } from '../storage/database/client.ts'
import { FILE_COLUMNS, type File, type FileRow, logFile, toFile } from './file.ts'
import type { FileExpectation } from './file-preconditions.ts'
import { type FileAddress, fileNotFound, keyOf, lockFile, pathTaken } from './find.ts'
import { patchFile } from './patch.ts'
import { lockType, policyOf } from './policy.ts'
import { putFile } from './put.ts'
import { enterAgain } from './text-index.ts'

const RESTORE = timed(
  statement(
    'restore_file',
    `UPDATE plinth.file SET deleted_at = NULL, updated_at = now()
     WHERE base_id = $1 AND id = (
       SELECT id FROM plinth.file WHERE base_id = $1 AND file_type = $2 AND path = $3 AND version = $4 AND deleted_at IS NOT NULL
       ORDER BY deleted_at DESC LIMIT 1)
     RETURNING ${FILE_COLUMNS}`,
  ),
)
const KEPT = statement(
  'kept_content',
  `SELECT size::float8 AS size FROM plinth.file_version WHERE base_id = $1 AND file_id = $2 AND content_sha256 = $3 LIMIT 1`,
)

/**
 * Restores a deleted file with its versions.
 * @throws FORBIDDEN; NOT_FOUND when it was purged; CONFLICT when its path is taken
 */
export async function restoreFile(scope: WriteScope, address: FileAddress, version: number): Promise<File> {
  await policyOf(scope, 'write', address)
  return scope.db.statements(async (tx) => {
    await lockType({ ...scope, db: tx }, address)
    if (await lockFile(tx, address)) throw pathTaken(address.path)
    const [row] = await tx.query<FileRow>(RESTORE, [...keyOf(address), version])
    if (!row) throw purged(address.path)
    await enterAgain({ ...scope, db: tx }, address.baseId, row)
    await logFile({ ...scope, db: tx }, address.baseId, row, 'restore')
    return toFile(row)
  })
}

type Former = { contentSha256: string; contentType: string; metadata: object; label: string | null }
const ANY: FileExpectation = { ...NO_EXPECTATION, contents: null }

/**
 * Gives a file a content and properties that it had.
 * @throws FORBIDDEN; NOT_FOUND when the content is not kept
 */
export async function restoreContent(scope: WriteScope, address: FileAddress, former: Former): Promise<File> {
  await policyOf(scope, 'write', address)
  return scope.db.statements(async (tx) => {
    const current = await lockFile(tx, address)
    if (!current) throw fileNotFound(address.path)
    const { contentSha256: sha256, contentType, metadata, label } = former
    const [kept] = await tx.query<{ size: number }>(KEPT, [address.baseId, current.id, sha256])
    if (!kept) throw purged(address.path)
    // The file has the content, so the write may refer to it.
    const within: WriteScope = {
      ...scope,
      db: tx,
      received: new Map([[sha256, { sha256, size: kept.size }]]),
    }
    return putFile(within, address, { content: { sha256 }, contentType, metadata, label }, ANY)
  })
}

/**
 * Moves a file back to its former path. A move has an entry for each path: whichever is reverted first moves the
 * file, and nothing is left to do for the other.
 * @throws as patchFile
 */
export async function moveBack(scope: WriteScope, address: FileAddress, movedTo: string): Promise<void> {
  await policyOf(scope, 'write', address)
  const moved = { ...address, path: movedTo }
  await scope.db.statements(async (tx) => {
    const isBack = !(await lockFile(tx, moved)) && (await lockFile(tx, address)) !== undefined
    if (!isBack) await patchFile({ ...scope, db: tx }, moved, { path: address.path }, ANY)
  })
}

const purged = (path: string): DomainError =>
  oneFault('NOT_FOUND', `The former content of "${path}" is no longer kept.`, {
    path: '/seq',
    code: 'history_purged',
    message: 'Upload the file again.',
  })
