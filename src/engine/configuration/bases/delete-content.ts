import { announce } from '../../core/cache-notices.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import { summarizeBases } from '../../core/write/summarize-bases.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dropEntries, dropIndexes } from '../../data/indexes/index.ts'
import type { Base as PlainRow } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { DeleteOptions } from '../lifecycle/kind.ts'
import { withdrawBase } from '../tokens/index.ts'
import { closeSecretsTo } from '../vault-secrets/index.ts'
import { type BaseRow, LOCK_BASE_ID } from './table.ts'

const CONTENT = statement(
  'content_of_base',
  `SELECT file_index_id::text AS files_index,
     EXISTS (SELECT FROM plinth.record WHERE base_id = $1) AS has_records,
     EXISTS (SELECT FROM plinth.file WHERE base_id = $1 AND deleted_at IS NULL) AS has_files
   FROM plinth.base WHERE id = $1`,
)
type Content = { files_index: string; has_records: boolean; has_files: boolean }
// Links go first, because their foreign keys reference records.
const CLEAR_LINKS = statement('clear_base_links', 'DELETE FROM plinth.relationship WHERE base_id = $1')
const LOCK_ROW = statement(
  'lock_base_to_delete',
  'SELECT 1 AS one FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)

/** Deletes the records that a base and its previews hold. A base with records or files requires its id in `confirm`. */
export async function deleteContentOf(
  scope: WriteScope,
  current: BaseRow,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db: tx } = scope
  const { id } = current
  const previews = await lockPreviews(tx, id)
  await summarizeBases(scope, [current, ...previews])
  checkPlan()
  for (const member of [...previews, current]) {
    const [content] = await tx.query<Content>(CONTENT, [member.id])
    if (!scope.planning && confirm !== id && content && (content.has_records || content.has_files))
      throw confirmFirst(id, `Base "${id}" holds ${content.has_records ? 'records' : 'files'}`, 'the base')
    await dropIndexes(tx, member.id, null)
    if (content) await dropEntries(tx, member.id, content.files_index)
    await tx.query(CLEAR_LINKS, [member.id])
    await withdrawBase(scope, member.id)
    await closeSecretsTo(scope, member.id)
  }
  for (const preview of previews) {
    await announce(tx, `base:${preview.id}`)
    scope.onCommit(() => scope.caches.forget(`base:${preview.id}`))
  }
}

/**
 * Locks the previews of a base whose id is locked, and returns them. Their ids: against concurrent deletions.
 * The row of the base before theirs: that is the order of promotions.
 */
async function lockPreviews(tx: Db, id: string): Promise<PlainRow[]> {
  const find = () => tx.orm.base.findMany({ where: { productionBase: id }, orderBy: { id: 'asc' } })
  for (const preview of await find()) await tx.query(LOCK_BASE_ID, [preview.id])
  await tx.query(LOCK_ROW, [id])
  return find()
}
