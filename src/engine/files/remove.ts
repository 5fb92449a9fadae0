import type { WriteScope } from '../core/write/write.ts'
import { statement } from '../storage/database/client.ts'
import { logFile } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, fileNotFound, lockFile, requirePath } from './find.ts'
import { immutable, policyOf } from './policy.ts'
import { leaveIndex } from './text-index.ts'

const TRASH = statement(
  'trash_file',
  'UPDATE plinth.file SET deleted_at = now() WHERE base_id = $1 AND id = $2',
)

/**
 * Deletes a file. It stays in the trash for `trash_days`, with its versions.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT
 */
export async function deleteFile(
  scope: WriteScope,
  { path: text, ...place }: FileAddress,
  expected: FileExpectation,
): Promise<{ id: string; deleted: boolean }> {
  const { storage } = await policyOf(scope, 'write', place)
  const address = { ...place, path: requirePath(text) }
  return scope.db.statements(async (tx) => {
    const current = await lockFile(tx, address)
    checkFile(expected, current, address.path)
    if (!current) throw fileNotFound(address.path)
    if (storage.immutable) throw immutable(address.path, 'deleted')
    await tx.query(TRASH, [address.baseId, current.id])
    await leaveIndex(tx, address.baseId, current.id)
    await logFile({ ...scope, db: tx }, address.baseId, current, 'delete')
    return { id: address.path, deleted: true }
  })
}
