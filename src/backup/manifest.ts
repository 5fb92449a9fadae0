/** What a backup says of itself. It is written last: a backup without it is not complete. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { Missing, type Place } from './place.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Segment = z.string().regex(/^[0-9A-F]{24}$/)
const LsnText = z.string().regex(/^[0-9A-F]+\/[0-9A-F]+$/)

const Manifest = z.object({
  format: z.literal(1),
  id: z.string(),
  plinth: z.string(),
  postgres: z.string(),
  platform: z.string(),
  /** The unbroken run of WAL that it belongs to. */
  line: z.string().regex(/^[0-9a-f]{16}$/),
  started_at: z.iso.datetime(),
  /** The first moment that it can be restored to. */
  finished_at: z.iso.datetime(),
  start_lsn: LsnText,
  stop_lsn: LsnText,
  start_segment: Segment,
  stop_segment: Segment,
  segment_bytes: z.int(),
  backup_label: z.string(),
  /** Bytes of the data, and of what is stored of it. */
  bytes: z.int(),
  stored_bytes: z.int(),
  directories: z.array(z.string()),
  /** The files, with the digests of their stored form (zstd). */
  files: z.array(z.object({ path: z.string(), size: z.int(), stored: z.int(), sha256: Sha256 })),
  /** How many contents the store had; `contents.zst` has their digests. */
  contents: z.int(),
  keys: z.boolean(),
})
export type Manifest = z.output<typeof Manifest>

/** Ids are moments: `2026-11-28T01-30-05Z`. */
const ID = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/

export const newId = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
const startOf = (id: string): Date =>
  new Date(id.replace(/T(\d\d)-(\d\d)-(\d\d)Z$/, (_, h, m, s) => `T${h}:${m}:${s}Z`))

export const writeManifest = (place: Place, manifest: Manifest): Promise<unknown> =>
  place.write(`${manifest.id}/manifest.json`, Readable.from([`${JSON.stringify(manifest, null, 1)}\n`]))

/** A manifest that says nothing to this version. */
class Unreadable extends Error {}

/** @throws an Error that says what is wrong with it */
export async function readManifest(place: Place, id: string): Promise<Manifest> {
  if (!ID.test(id)) throw new Error(`"${id}" is no id of a backup. "plinth backup list" shows them.`)
  const name = `${id}/manifest.json`
  const found = await place.read(name).then(text, (error: unknown) => {
    if (!(error instanceof Missing)) throw error
    throw new Missing(`${id} has no manifest, so it is not complete. "plinth backup list" shows which are.`)
  })
  const read = Manifest.safeParse(parsed(found))
  if (read.success && read.data.id === id) return read.data
  throw new Unreadable(`${name} is of another version of Plinth, or damaged.`)
}

function parsed(found: string): unknown {
  try {
    return JSON.parse(found)
  } catch {
    return undefined
  }
}

/** `unreadable`: those whose manifest is of another version, or damaged. */
type Found = {
  complete: Manifest[]
  incomplete: { id: string; startedAt: Date }[]
  unreadable: string[]
}

/** The ids of backups at a place, complete or not, oldest first. */
export const backupIds = async (place: Place): Promise<string[]> =>
  (await place.folders()).filter((name) => ID.test(name)).sort()

/**
 * The backups at a place, oldest first.
 * @throws if the place does not answer: a backup that was not read may be complete
 */
export async function findBackups(place: Place): Promise<Found> {
  const found: Found = { complete: [], incomplete: [], unreadable: [] }
  for (const id of await backupIds(place))
    await readManifest(place, id).then(
      (manifest) => found.complete.push(manifest),
      (error: unknown) => {
        if (error instanceof Missing) found.incomplete.push({ id, startedAt: startOf(id) })
        else if (error instanceof Unreadable) found.unreadable.push(id)
        else throw error
      },
    )
  return found
}
