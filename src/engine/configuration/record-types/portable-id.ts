import { createHash } from 'node:crypto'

/** Leaves room for an operation as the prefix: all clients accept tool names of 64 characters. */
const MAX_CHARS = 54
/** Suffixes of the generic tools, such as `update_record`. */
const RESERVED = new Set([
  'base',
  'bases',
  'batch',
  'record',
  'records',
  'record_type',
  'related',
  'type',
  'types',
])

/**
 * Derives a portable id of letters, digits, "_" and "-". A hash suffix resolves collisions and reserved
 * words, and shortens long ids.
 */
export function choosePortableId(id: string, isTaken: (portableId: string) => boolean): string {
  const plain = id.replace(/[^A-Za-z0-9_-]/g, '_')
  if (plain.length <= MAX_CHARS && !RESERVED.has(plain) && !isTaken(plain)) return plain
  const hash = createHash('sha256').update(id).digest('hex')
  for (let chars = 6; chars <= 40; chars += 2) {
    const hashed = `${plain.slice(0, MAX_CHARS - chars - 1)}_${hash.slice(0, chars)}`
    if (!isTaken(hashed)) return hashed
  }
  throw new Error(`No portable id is free for ${id}`)
}
