import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

/** Random bytes of many ids: to ask for those of one costs more than all else of it. */
const bytes = new Uint8Array(16 * 256)
let used = bytes.length
/** When the last id was made, and its place among those of that moment: each is after the one before. */
let msecs = 0
let seq = 0

/** A new id for what the server names: UUIDv7, ordered by time. Source: RFC 9562. */
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
/** A random place with at least as many after it as before. */
const firstOf = (random: Uint8Array): number => new DataView(random.buffer).getUint32(6) & 0x7fff_ffff
