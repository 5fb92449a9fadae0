/** Checks at the start that the store of contents is that of the database: both have one id. */
import { type InfoLog, wordsOf } from '../../../foundation/log.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { serverSecret } from '../sealed-token.ts'

/** What refers to contents, newest first where an index gives that. */
export const STORED = `
  SELECT v.content_sha256 AS sha256 FROM plinth.file_version v WHERE v.content_sha256 IS NOT NULL
  UNION ALL SELECT p.content_sha256 FROM plinth.file_upload_part p
  UNION ALL SELECT a.sha256 FROM plinth.attachment a WHERE a.sha256 IS NOT NULL`
/** A small content is a row of the database, unless an earlier version has stored it. */
export const OUTSIDE = `NOT EXISTS (SELECT FROM plinth.content c WHERE c.sha256 = s.sha256 COLLATE "C")`
const ANY_STORED = statement(
  'any_stored_content',
  `SELECT s.sha256 FROM (${STORED}) s WHERE ${OUTSIDE} LIMIT 1`,
)
const COUNT_STORED = statement(
  'count_stored_contents',
  `SELECT count(DISTINCT s.sha256)::int AS count FROM (${STORED}) s WHERE ${OUTSIDE}`,
)

type Found = 'same' | 'unmarked' | 'foreign'

/**
 * Marks a store that has no id yet with that of the database, if it has the contents that the database refers to.
 * @param adopt marks it in any case
 * @throws an Error that ends the start, if the store is another one
 */
export async function requireOwnStore(
  db: Db,
  blobs: BlobStore,
  { adopt, log }: { adopt: boolean; log: InfoLog },
): Promise<void> {
  const id = (await serverSecret(db, 'store')).toString('hex')
  const marked = await blobs.id().catch((err: unknown) => {
    log.warn({ cause: wordsOf(err) }, 'the store of contents could not be asked whose it is')
    return id
  })
  const found: Found = marked === id ? 'same' : marked === undefined ? 'unmarked' : 'foreign'
  if (found === 'same') return
  if (!adopt && !(await isFit(db, blobs, found))) throw await notThisStore(db)
  await blobs.setId(id)
  if (adopt) log.info({}, 'the store of contents now belongs to this database')
}

/** A store of another database may be taken if it is empty, since sweeps remove what a database does not refer to. */
async function isFit(db: Db, blobs: BlobStore, found: Exclude<Found, 'same'>): Promise<boolean> {
  const [stored] = await db.query<{ sha256: string }>(ANY_STORED, [])
  if (found === 'unmarked') return stored === undefined || blobs.has(stored.sha256)
  return stored === undefined && (await blobs.list()[Symbol.asyncIterator]().next()).done === true
}

async function notThisStore(db: Db): Promise<Error> {
  const [row] = await db.query<{ count: number }>(COUNT_STORED, [])
  const count = row?.count ?? 0
  const contents = count === 1 ? '1 content is' : `${count.toLocaleString('en')} contents are`
  const what = count === 0 ? 'it has contents of another one' : `${contents} elsewhere`
  return new Error(
    `PLINTH_BLOB_URL: this is not the store of this database, ${what}. Name the store that belongs to DATABASE_URL, put blobs/ of the data directory back, or start once with --adopt-store to use this one all the same.`,
  )
}
