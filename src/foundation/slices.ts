/** Bytes in small slices, with turns for others between them: for a parser that takes long for few bytes. */
import { Readable } from 'node:stream'
import { nextTurn, turnIsOver } from './event-loop-turns.ts'
import { LIMITS } from './limits.ts'

export const inSlices = (source: Iterable<Buffer> | AsyncIterable<Buffer>): Readable =>
  Readable.from(slicesOf(source), { objectMode: false })

async function* slicesOf(source: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += LIMITS.formSliceBytes) {
      yield chunk.subarray(at, at + LIMITS.formSliceBytes)
      if (turnIsOver()) await nextTurn()
    }
}
