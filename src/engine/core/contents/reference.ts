/** Keeps contents that rows refer to. Small ones are rows of the database themselves. */
import { busy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { StoredBlob } from '../../storage/blobs/blob-store.ts'
import { statement } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'

/** Key of the lock of a content. A sweep removes a content under it, and only if nothing refers to it. */
const lockKey = (sha256: string) => `hashtextextended('content:' || ${sha256}, 0)`
const LOCK_SHARED = statement(
  'lock_content_shared',
  `SELECT pg_advisory_xact_lock_shared(${lockKey('$1')})::text`,
)
/** Locks a content against writes that refer to it. */
export const LOCK_CONTENT = statement('lock_content', `SELECT pg_advisory_xact_lock(${lockKey('$1')})::text`)

/** The CTE `stored`, which keeps the contents `sent` and stores them as rows, if `source` has a row. */
export const storedContents = (sent: string, source: string): string => `held AS MATERIALIZED (
       SELECT pg_advisory_xact_lock_shared(${lockKey('sha256')})
       FROM (SELECT DISTINCT sha256 FROM ${sent} WHERE EXISTS (SELECT FROM ${source}) ORDER BY sha256) AS each),
     stored AS (
       INSERT INTO plinth.content (sha256, bytes)
       SELECT DISTINCT ON (sha256 COLLATE "C") sha256, bytes FROM ${sent} WHERE (SELECT count(*) FROM held) > 0
       ORDER BY sha256 COLLATE "C"
       ON CONFLICT DO NOTHING RETURNING 1)`
/** Stores small contents `$1` with their bytes `$2`, or renews those that are there, so that a sweep does not take them for old. */
export const STORE_SMALL = statement(
  'store_contents',
  `INSERT INTO plinth.content AS c (sha256, bytes) SELECT * FROM unnest($1::text[], $2::bytea[])
   ON CONFLICT (sha256) DO UPDATE SET stored_at = now()`,
)
const STORE = statement(
  'store_content',
  `WITH ${storedContents('(VALUES ($1, $2::bytea)) AS sent (sha256, bytes)', '(VALUES (1)) AS one')} SELECT count(*) FROM stored`,
)
const HAS = statement('has_content', 'SELECT true AS found FROM plinth.content WHERE sha256 = $1')

/** Whether a content of this size is stored as a row, unless an earlier version has stored it. */
export const isRow = ({ size }: { size: number }): boolean => size <= LIMITS.rowContentBytes

/**
 * Keeps a content until the transaction ends, which writes a row that refers to it. Stores a small one that the request
 * has received.
 * @throws RATE_LIMITED if it was just swept
 */
export async function referenceContent({ db, blobs }: Scope, content: StoredBlob): Promise<void> {
  const { sha256, bytes } = content
  if (bytes && isRow(content)) {
    await db.query(STORE, [sha256, bytes])
    return
  }
  await db.query(LOCK_SHARED, [sha256])
  if (isRow(content) && (await db.query(HAS, [sha256])).length > 0) return
  if (await blobs.has(sha256)) return
  throw removedMeanwhile()
}

export const removedMeanwhile = () =>
  busy('The content was removed before anything referred to it.', 'Send it again.')
