import { invalid } from '../../foundation/errors.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { File } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, findFile, requirePath } from './find.ts'
import { policyOf } from './policy.ts'
import { putFile } from './put.ts'

/** What the copy has of its own; the rest is that of the source. Null metadata and null type stay. */
export type CopyChanges = { contentType: string | null; metadata: unknown }

/**
 * Gives a file the content of another one of the base, without moving its bytes.
 * @throws FORBIDDEN without `read` on the source or `write` on the target; NOT_FOUND; VALIDATION_ERROR; CONFLICT
 */
export async function copyFile(
  scope: WriteScope,
  source: FileAddress,
  target: FileAddress,
  changes: CopyChanges,
  expected: { source: FileExpectation; target: FileExpectation },
): Promise<File> {
  await policyOf(scope, 'read', source)
  const { storage } = await policyOf(scope, 'write', target)
  const from = await findFile(scope, { ...source, path: requirePath(source.path, '/source_path') })
  checkFile(expected.source, from, from.path)
  requireFit(from.size, storage.max_bytes)
  // The caller may read the content, so the write may refer to it.
  const sha256 = from.content_sha256
  const within: WriteScope = { ...scope, received: new Map([[sha256, { sha256, size: from.size }]]) }
  return putFile(
    within,
    target,
    {
      content: { sha256 },
      contentType: changes.contentType ?? from.content_type,
      metadata: changes.metadata ?? from.metadata,
      label: null,
    },
    expected.target,
  )
}

/**
 * Refuses a stored content that is too large for a file type.
 * @throws VALIDATION_ERROR
 */
export function requireFit(size: number, maxBytes: number): void {
  if (size <= maxBytes) return
  throw invalid({
    path: '',
    code: 'too_large',
    message: `A file of this type can have at most ${maxBytes} bytes. Send a smaller content, or raise max_bytes of the file type.`,
    expected: maxBytes,
    received: size,
  })
}
