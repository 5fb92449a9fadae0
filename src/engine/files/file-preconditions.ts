import { oneFault } from '../../foundation/errors.ts'
import { checkVersion, type Expectation } from '../core/write/preconditions.ts'
import type { FileRow } from './file.ts'

/** Preconditions of a write to a file: those of every write, and on the digest of its content. */
export type FileExpectation = Expectation & {
  /** Accepted digests (`If-Match: "<sha256>"`). An empty text never matches. */
  readonly contents: readonly string[] | null
}

/**
 * Checks the preconditions.
 * @throws NOT_FOUND, or CONFLICT
 */
export function checkFile(expected: FileExpectation, current: FileRow | undefined, path: string): void {
  const exists = expected.exists || expected.contents !== null
  checkVersion({ ...expected, exists }, current?.version, `file "${path}"`)
  if (!current || !expected.contents || expected.contents.includes(current.content_sha256)) return
  const message = `The content of "${path}" is now ${current.content_sha256}. Read it again, apply your change, and send that digest.`
  throw oneFault('CONFLICT', message, {
    path: '/expected_hash',
    code: 'content_mismatch',
    expected: current.content_sha256,
    received: expected.contents.join(', ').slice(0, 200),
  })
}
