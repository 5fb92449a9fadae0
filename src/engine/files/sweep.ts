/** Removes contents that nothing refers to, files whose time in the trash is over, and forgotten uploads. */
import { LIMITS } from '../../foundation/limits.ts'
import { LOCK_CONTENT } from '../core/contents/reference.ts'
import { NO_IMPORT } from '../log/watermark.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import { inBatches } from '../storage/database/batched-statements.ts'
import { type Db, type Statement, statement } from '../storage/database/client.ts'

const BATCH = 500
const ROWS = 5000

const PURGE_TRASH = statement(
  'purge_file_trash',
  `WITH gone AS (
     -- By place: as keys the plan would read all files.
     DELETE FROM plinth.file WHERE ctid = ANY (ARRAY(
       SELECT f.ctid FROM plinth.base b JOIN plinth.file f ON f.base_id = b.id
       WHERE f.deleted_at < now() - make_interval(days => (b.settings ->> 'trash_days')::int)
         -- By the shortest time of any base first, for the index of deleted files.
         AND f.deleted_at < (SELECT now() - make_interval(days => min((settings ->> 'trash_days')::int)) FROM plinth.base)
       LIMIT ${BATCH} FOR UPDATE OF f))
     RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)
const DROP_UPLOADS = statement(
  'drop_old_uploads',
  `DELETE FROM plinth.file_upload WHERE created_at < now() - interval '${LIMITS.uploadDays} days'`,
)
/** Whether nothing refers to the content `sha256` of the relation `c`. */
const IS_UNREFERENCED = `NOT EXISTS (SELECT FROM plinth.file_version v WHERE v.content_sha256 = c.sha256 COLLATE "C")
     AND NOT EXISTS (SELECT FROM plinth.file_upload_part p WHERE p.content_sha256 = c.sha256 COLLATE "C")
     AND NOT EXISTS (SELECT FROM plinth.attachment a WHERE a.sha256 = c.sha256 COLLATE "C")`
const UNREFERENCED = statement(
  'unreferenced_contents',
  `SELECT c.sha256 FROM unnest($1::text[]) AS c (sha256) WHERE ${IS_UNREFERENCED}`,
)
// An earlier version has stored small contents too: one that is a row by now is not needed twice.
const UNUSED_BLOBS = statement(
  'unused_blobs',
  `SELECT sha256 FROM plinth.content WHERE sha256 = ANY ($1::text[])
   UNION SELECT c.sha256 FROM unnest($1::text[]) AS c (sha256) WHERE ${IS_UNREFERENCED}`,
)
const NEXT_ROWS = statement(
  'next_contents',
  `SELECT sha256 FROM plinth.content WHERE sha256 > $1 ORDER BY sha256 LIMIT ${ROWS}`,
)
const DELETE_ROW = statement(
  'delete_content',
  'DELETE FROM plinth.content WHERE sha256 = $1 AND stored_at < to_timestamp($2::float8 / 1000)',
)

/**
 * Job: purges the trash of files and uploads that were not completed, then removes contents that nothing refers to
 * and that are older than `unreferencedMs`. A newer one may belong to an upload in progress.
 * @throws when the job is stopped
 */
export async function sweepContents(
  db: Db,
  blobs: BlobStore,
  signal: AbortSignal,
  unreferencedMs: number,
): Promise<void> {
  await inBatches(db, { statement: PURGE_TRASH, batch: BATCH }, signal)
  await db.query(DROP_UPLOADS, [])
  const before = Date.now() - unreferencedMs
  await sweepRows(db, before, signal)
  await sweepBlobs(db, blobs, before, signal)
}

async function sweepRows(db: Db, before: number, signal: AbortSignal): Promise<void> {
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const rows = await db.query<{ sha256: string }>(NEXT_ROWS, [after])
    const names = rows.map(({ sha256 }) => sha256)
    await removeEach(db, UNREFERENCED, names, (tx, sha256) => tx.query(DELETE_ROW, [sha256, before]))
    const last = names.at(-1)
    if (last === undefined || names.length < ROWS) return
    after = last
  }
}

async function sweepBlobs(db: Db, blobs: BlobStore, before: number, signal: AbortSignal): Promise<void> {
  const remove = (_: Db, sha256: string) => blobs.remove(sha256)
  let batch: string[] = []
  for await (const { sha256, modifiedAt } of blobs.list()) {
    signal.throwIfAborted()
    if (modifiedAt.getTime() < before) batch.push(sha256)
    if (batch.length < BATCH) continue
    await removeEach(db, UNUSED_BLOBS, batch, remove)
    batch = []
  }
  await removeEach(db, UNUSED_BLOBS, batch, remove)
}

/**
 * Removes contents that a request has stored for itself, unless something refers to them.
 */
export const removeUnused = (db: Db, blobs: BlobStore, contents: readonly string[]): Promise<void> =>
  removeEach(db, UNUSED_BLOBS, contents, (_, sha256) => blobs.remove(sha256))

/**
 * Removes those of the contents that are `unused`, each under its lock, in which it is looked at again. None while a base is
 * imported, which refers to more contents than it can lock.
 */
async function removeEach(
  db: Db,
  unused: Statement,
  contents: readonly string[],
  remove: (tx: Db, sha256: string) => Promise<unknown>,
): Promise<void> {
  if (contents.length === 0) return
  for (const { sha256 } of await db.query<{ sha256: string }>(unused, [contents]))
    await db.statements(async (tx) => {
      const [alone] = await tx.query<{ is_free: boolean }>(NO_IMPORT, [])
      if (!alone?.is_free) return
      await tx.query(LOCK_CONTENT, [sha256])
      const [still] = await tx.query<{ sha256: string }>(unused, [[sha256]])
      if (still) await remove(tx, sha256)
    })
}
