import { setImmediate } from 'node:timers/promises'
import { type Db, statement } from '../db.ts'
import { BOUNDS } from './bounds.ts'
import type { TypeKey } from './walk.ts'

/** The data of some records as text: up to the one that spends what is left of the bytes, and none that is huge. */
const READ = statement(
  'profile_read',
  `SELECT text FROM (
     SELECT text, sum(octet_length(text)) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - octet_length(text) AS before
     FROM (
       SELECT id, data::text AS text FROM plinth.record
       WHERE base_id = $1 AND record_type = $2 AND id = ANY ($3::text[]) OFFSET 0) r
     WHERE octet_length(text) <= $5) r
   WHERE before < $4`,
)

/** Records read at once: few, for each may be large. */
const AT_ONCE = 50

/** Bytes of text after which other work of the process has its turn. */
const TURN = 256 * 1024

/**
 * What the records hold, one by one, for about `ms` and `BOUNDS.bytes` of text. Each part that is read is spread over all
 * the ids, so that wherever it ends the sample is even.
 */
export async function* readSample(
  db: Db,
  type: TypeKey,
  ids: readonly string[],
  ms: number,
): AsyncGenerator<unknown> {
  const end = performance.now() + ms
  const parts = Math.ceil(ids.length / AT_ONCE)
  let read = 0
  let turn = TURN
  for (let part = 0; part < parts && read < BOUNDS.bytes; part++) {
    if (read >= BOUNDS.readAlways && performance.now() >= end) return
    const some = ids.filter((_, i) => i % parts === part)
    const left = BOUNDS.bytes - read
    const rows = await db.query<{ text: string }>(READ, [...type, some, left, BOUNDS.recordBytes])
    for (const { text } of rows) {
      read += Buffer.byteLength(text)
      yield JSON.parse(text) as unknown
      if (read < turn) continue
      turn = read + TURN
      await setImmediate()
    }
  }
}
