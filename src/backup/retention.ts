/** Removes backups whose time is over, with the WAL and the contents that only they need. */
import type { BlobStore } from '../engine/storage/blobs/blob-store.ts'
import { LIMITS } from '../foundation/limits.ts'
import type { Log } from '../foundation/log.ts'
import { DAY_MS } from '../foundation/units.ts'
import { namedContents } from './contents.ts'
import { findBackups, type Manifest } from './manifest.ts'
import type { Place } from './place.ts'

/** Each moment of the last `days` can still be restored: so the newest backup before them stays. */
export async function retain(
  place: Place,
  { blobs, days }: { blobs: BlobStore; days: number },
  log: Log,
): Promise<void> {
  const { complete, incomplete, unreadable } = await findBackups(place)
  // What they need is not known.
  if (unreadable.length > 0)
    return log.warn(
      { backups: unreadable },
      'backups of another version, or damaged: none is removed while they are there',
    )
  const before = Date.now() - days * DAY_MS
  const first = Math.max(
    0,
    complete.findLastIndex(({ finished_at }) => Date.parse(finished_at) <= before),
  )
  const kept = complete.slice(first)
  await removeContents(place, blobs, complete, kept)
  for (const { id } of complete.slice(0, first)) await place.remove(`${id}/`)
  for (const { id, startedAt } of incomplete)
    if (startedAt.getTime() < Date.now() - LIMITS.backupLeftoverMs) await place.remove(`${id}/`)
  await removeWal(place, kept)
}

async function removeWal(place: Place, kept: readonly Manifest[]): Promise<void> {
  for await (const { name, modifiedAt } of place.list('wal/')) {
    const [, line, file = ''] = name.split('/')
    const ofLine = kept.filter((each) => each.line === line)
    // A line without a backup is one whose first backup is not complete, or was never made.
    const isOld =
      ofLine.length === 0
        ? modifiedAt.getTime() < Date.now() - LIMITS.backupLeftoverMs
        : /^[0-9A-F]{24}/.test(file) && ofLine.every(({ start_segment }) => file < start_segment)
    if (isOld) await place.remove(name)
  }
}

/** A content goes when neither the store nor a backup names it: those that end now still count, as a content may have gone since. */
async function removeContents(
  place: Place,
  blobs: BlobStore,
  complete: readonly Manifest[],
  kept: readonly Manifest[],
): Promise<void> {
  const oldest = kept[0]
  if (!oldest) return
  const contents = await place.contents()
  const needed = new Set<string>()
  for await (const { sha256 } of blobs.list()) needed.add(sha256)
  for (const { id } of complete) for await (const sha256 of namedContents(place, id)) needed.add(sha256)
  for await (const { sha256, modifiedAt } of contents.list())
    if (!needed.has(sha256) && modifiedAt.getTime() < Date.parse(oldest.started_at))
      await contents.remove(sha256)
}
