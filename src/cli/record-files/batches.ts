/** Batches of the records of a file, from where an interrupted import ended. */

import { createHash } from 'node:crypto'
import { LIMITS } from '../../foundation/limits.ts'
import { misused } from '../command/failure.ts'
import type { LineRecord } from './read-records.ts'

/** Where an import is: its last line, and the digest of the records up to there. */
export type Place = { line: number; digest: string }

/** Batches of the records after those that are written. */
export async function* batchesOf(
  records: AsyncIterable<LineRecord>,
  { line: done, digest: known }: Place,
): AsyncGenerator<{ batch: LineRecord[]; digest: string }> {
  const hash = createHash('sha256')
  const digest = () => hash.copy().digest('hex')
  let batch: LineRecord[] = []
  let chars = 0
  let isChecked = done === 0
  for await (const each of records) {
    isChecked ||= each.line > done && isSame(digest(), known, done)
    const text = JSON.stringify(each.record)
    hash.update(text)
    if (each.line <= done) continue
    chars += text.length
    batch.push(each)
    if (batch.length < LIMITS.importedAtOnce && chars < LIMITS.importedChars) continue
    yield { batch, digest: digest() }
    batch = []
    chars = 0
  }
  if (!isChecked) isSame(digest(), known, done)
  if (batch.length > 0) yield { batch, digest: digest() }
}

/** @throws Failure if the lines that are written have changed since */
function isSame(digest: string, known: string, line: number): true {
  if (digest === known) return true
  throw misused(
    `What comes up to line or item ${line} is written, and is not the same any more. Restore it, and correct only what comes after.`,
  )
}
