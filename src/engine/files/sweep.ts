/** Removes contents that nothing refers to, files whose time in the trash is over, and forgotten uploads. */
import { LIMITS } from '../../foundation/limits.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import { LOCK_CONTENT } from '../core/received-content.ts'
import { type Db, statement } from '../database/client.ts'
import { inBatches } from '../database/in-batches.ts'

const BATCH = 500

const PURGE_TRASH = statement(
  'purge_file_trash',
  `WITH gone AS (
     DELETE FROM plinth.file WHERE (base_id, id) IN (
       SELECT f.base_id, f.id FROM plinth.file f JOIN plinth.base b ON b.id = f.base_id
       WHERE f.deleted_at < now() - make_interval(days => (b.settings ->> 'trash_days')::int) LIMIT ${BATCH})
     RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)
const DROP_UPLOADS = statement(
  'drop_old_uploads',
  `DELETE FROM plinth.file_upload WHERE created_at < now() - interval '${LIMITS.uploadDays} days'`,
)
const UNREFERENCED = statement(
  'unreferenced_contents',
  `SELECT c.sha256 FROM unnest($1::text[]) AS c (sha256)
   WHERE NOT EXISTS (SELECT FROM plinth.file_version v WHERE v.content_sha256 = c.sha256 COLLATE "C")
     AND NOT EXISTS (SELECT FROM plinth.file_upload_part p WHERE p.content_sha256 = c.sha256 COLLATE "C")
     AND NOT EXISTS (SELECT FROM plinth.attachment a WHERE a.sha256 = c.sha256 COLLATE "C")`,
)

/**
 * Job: purges the trash of files and uploads that were not completed, then removes contents that nothing refers to
 * and that are older than `LIMITS.unreferencedMs`. A newer one may belong to an upload in progress.
 * @throws when the job is stopped
 */
export async function sweepContents(db: Db, blobs: BlobStore, signal: AbortSignal): Promise<void> {
  await inBatches(db, { statement: PURGE_TRASH, batch: BATCH }, signal)
  await db.query(DROP_UPLOADS, [])
  const before = Date.now() - LIMITS.unreferencedMs
  let batch: string[] = []
  for await (const { sha256, modifiedAt } of blobs.list()) {
    signal.throwIfAborted()
    if (modifiedAt.getTime() < before) batch.push(sha256)
    if (batch.length < BATCH) continue
    await removeUnreferenced(db, blobs, batch)
    batch = []
  }
  await removeUnreferenced(db, blobs, batch)
}

async function removeUnreferenced(db: Db, blobs: BlobStore, contents: readonly string[]): Promise<void> {
  if (contents.length === 0) return
  for (const { sha256 } of await db.query<{ sha256: string }>(UNREFERENCED, [contents]))
    await db.statements(async (tx) => {
      await tx.query(LOCK_CONTENT, [sha256])
      const [still] = await tx.query<{ sha256: string }>(UNREFERENCED, [[sha256]])
      if (still) await blobs.remove(sha256)
    })
}
