/** Checks that a backup is whole, and reads every byte of it. Names what is missing or damaged. */
import { createHash } from 'node:crypto'
import { DomainError } from '../foundation/errors.ts'
import { wordsOf } from '../foundation/log.ts'
import { namedContents } from './contents.ts'
import { readManifest } from './manifest.ts'
import { checkPacked } from './packed.ts'
import { each, missing, type Place } from './place.ts'
import { chainOf, storedName } from './wal.ts'

export type Verified = {
  id: string
  files: number
  segments: number
  contents: number
  /** The moments that it can be restored to. */
  from: string
  until: string | null
  faults: string[]
}

export async function verifyBackup(place: Place, id: string): Promise<Verified> {
  const manifest = await readManifest(place, id)
  const faults: string[] = []
  const note = (error: unknown) => void faults.push((error as Error).message)
  await each(place, manifest.files.values(), ({ path, sha256 }) =>
    checkPacked(place, `${id}/data/${path}.zst`, sha256).catch(note),
  )
  const chain = await chainOf(place, manifest)
  await each(place, chain.segments.values(), (segment) =>
    checkPacked(place, storedName(manifest.line, segment)).catch(note),
  )
  if (chain.missing !== undefined) note(missing(storedName(manifest.line, chain.missing)))
  const contents = await place.contents()
  await each(place, namedContents(place, id), async (sha256) => {
    const name = `contents/${sha256}`
    const hash = createHash('sha256')
    try {
      for await (const chunk of await contents.open(sha256)) hash.update(chunk as Buffer)
    } catch (error) {
      if (error instanceof DomainError) return note(missing(name))
      return note(new Error(`${name} could not be read: ${wordsOf(error)}`))
    }
    if (hash.digest('hex') !== sha256) note(new Error(`${name} is damaged.`))
  }).catch(note)
  return {
    ...{ id, files: manifest.files.length, segments: chain.segments.length, contents: manifest.contents },
    from: manifest.finished_at,
    until: chain.until?.at ?? null,
    faults: faults.sort(),
  }
}
