import { buffer } from 'node:stream/consumers'
import { LIMITS } from '../../../foundation/limits.ts'
import { notAnExport } from './tar.ts'

const LINE_BREAK = 0x0a

/**
 * The lines of a member, without their breaks, as they arrive.
 * @throws VALIDATION_ERROR for a line that is too long, or the last one if it is cut
 */
export async function* linesOf(name: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    let from = 0
    for (let to = chunk.indexOf(LINE_BREAK); to >= 0; to = chunk.indexOf(LINE_BREAK, from)) {
      const part = chunk.subarray(from, to)
      yield open.length > 0 ? Buffer.concat([...open, part]) : part
      open = []
      size = 0
      from = to + 1
    }
    if (from === chunk.length) continue
    open.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > LIMITS.importLineBytes)
      throw notAnExport(`/${name}`, 'too_large', 'A line of the file is too long.')
  }
  if (open.length > 0) throw notAnExport(`/${name}`, 'cut', 'The last line of the member is cut.')
}

/** All bytes of a short member. @throws VALIDATION_ERROR */
export async function wholeOf(name: string, size: number, bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  if (size > LIMITS.configBytes) throw notAnExport(`/${name}`, 'too_large', 'The member is too large.')
  return buffer(bytes)
}

/** Some lines as one list in JSON, so that a statement takes them. */
export async function* batchesOf(
  lines: AsyncIterable<Buffer>,
): AsyncGenerator<{ lines: Buffer[]; text: string }> {
  let batch: Buffer[] = []
  let size = 0
  const taken = () => ({ lines: batch, text: `[${batch.map((line) => line.toString('utf8')).join(',')}]` })
  for await (const line of lines) {
    if (
      batch.length > 0 &&
      (size + line.length > LIMITS.statementChars || batch.length === LIMITS.importedLines)
    ) {
      yield taken()
      batch = []
      size = 0
    }
    batch.push(line)
    size += line.length
  }
  if (batch.length > 0) yield taken()
}
