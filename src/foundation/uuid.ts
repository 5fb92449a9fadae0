import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

/** Buffer of random bytes for many ids: one call per id would dominate the cost. */
const bytes = new Uint8Array(16 * 256)
let used = bytes.length
/** Timestamp and sequence of the last id, so that ids are monotonic within a millisecond. */
let msecs = 0
let seq = 0

/** Generates a UUIDv7, ordered by time. Source: RFC 9562. */
export function uuidv7(): string {
  if (used === bytes.length) {
    randomFillSync(bytes)
    used = 0
  }
  const random = bytes.slice(used, used + 16)
  used += random.length
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    seq = firstOf(random)
  } else if (++seq > MOST) {
    msecs++
    seq = firstOf(random)
  }
  return v7({ random, msecs, seq })
}

const MOST = 0xffff_ffff
/** Random start of the sequence in the lower half of its range. */
const firstOf = (random: Uint8Array): number => new DataView(random.buffer).getUint32(6) & 0x7fff_ffff
