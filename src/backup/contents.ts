/** Contents of files that are not rows of the database: copied after it, each once, for all backups. */
import { createInterface } from 'node:readline'
import { OUTSIDE, STORED } from '../engine/core/contents/own-store.ts'
import { type BlobStore, putAndClose } from '../engine/storage/blobs/blob-store.ts'
import { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type Log, wordsOf } from '../foundation/log.ts'
import type { Query } from './connection.ts'
import { openPacked } from './packed.ts'
import { each, type Place } from './place.ts'

/** Copies what the place does not have, several at a time. Returns the digests of all, in order. */
export async function copyContents(
  from: BlobStore,
  place: Place,
  log: Log,
  signal?: AbortSignal,
): Promise<string[]> {
  const to = await place.contents()
  const names: string[] = []
  async function* lacking(): AsyncGenerator<string, void, undefined> {
    const there = to.list()[Symbol.asyncIterator]()
    let known = await there.next()
    for await (const { sha256 } of from.list()) {
      signal?.throwIfAborted()
      while (!known.done && known.value.sha256 < sha256) known = await there.next()
      names.push(sha256)
      if (known.done || known.value.sha256 !== sha256) yield sha256
    }
  }
  await each(place, lacking(), async (sha256) => void (await copyContent(from, to, sha256, log)))
  return names
}

/**
 * Copies a content unless it is there. False, with a line in the log, if it cannot be read.
 * @throws if it cannot be stored
 */
export async function copyContent(
  from: BlobStore,
  to: BlobStore,
  sha256: string,
  log: Log,
): Promise<boolean> {
  if (await to.has(sha256)) return true
  const lost = (err: unknown): false => {
    log.warn({ sha256, cause: wordsOf(err) }, 'a content is missing or damaged, and was not copied')
    return false
  }
  const source = await from.open(sha256).catch(lost)
  if (!source) return false
  try {
    await putAndClose(to, source, { maxBytes: Number.POSITIVE_INFINITY, sha256 })
    return true
  } catch (err) {
    // The source broke off, or has another digest than its name.
    if (err instanceof DomainError && err.code === 'VALIDATION_ERROR') return lost(err)
    throw err
  }
}

/** The digests that a backup names, in order. */
export async function* namedContents(place: Place, id: string): AsyncGenerator<string, void, undefined> {
  yield* createInterface({ input: await openPacked(place, `${id}/contents.zst`) })
}

const NEEDED = `SELECT DISTINCT s.sha256 COLLATE "C" AS sha256 FROM (${STORED}) s
  WHERE s.sha256 COLLATE "C" > $1 AND ${OUTSIDE} ORDER BY 1 LIMIT $2`

/** The digests that a database needs in its store, in order. */
export async function* neededContents(query: Query): AsyncGenerator<string, void, undefined> {
  for (let after = ''; ; ) {
    const rows = await query<{ sha256: string }>(NEEDED, [after, LIMITS.backupContentsPage])
    for (const { sha256 } of rows) yield sha256
    if (rows.length < LIMITS.backupContentsPage) return
    after = rows.at(-1)?.sha256 ?? ''
  }
}
