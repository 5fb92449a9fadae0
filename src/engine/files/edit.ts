/** Edits the text of a file. The edited text is a new version. */
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { keepContent } from '../core/contents/keep.ts'
import { receiveBytes } from '../core/contents/receive.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { StoredBlob } from '../storage/blobs/blob-store.ts'
import { editText, type TextEdits } from './edit-text.ts'
import type { File, FileRow } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, fileNotFound, findFile, lockFile } from './find.ts'
import { checkProperties, type FilePolicy } from './policy.ts'
import { indexedTextOf, overwrite } from './put.ts'
import { beginningOf } from './text.ts'

/** Properties that the new version gets; absent ones stay, but for the label, which is of one version. */
export type EditedProperties = {
  metadata?: Readonly<Record<string, unknown>> | undefined
  contentType?: string | undefined
  label?: string | null | undefined
}

const ATTEMPTS = 3

/**
 * Edits the current text of a file, which the expectation may name. Without one, the edits are made again if another
 * writer was faster.
 * @throws NOT_FOUND; VALIDATION_ERROR for a content that is no text or too large; CONFLICT
 */
export async function editFile(
  scope: WriteScope,
  address: FileAddress,
  policy: FilePolicy,
  edits: TextEdits,
  properties: EditedProperties,
  expected: FileExpectation,
): Promise<File> {
  const isBound = expected.versions !== null || expected.contents !== null
  for (let attempt = 1; ; attempt++) {
    const before = await findFile(scope, address)
    checkFile(expected, before, address.path)
    const content = await editedContent(scope, policy, before, edits)
    const text = await indexedTextOf(scope, content, properties.contentType ?? before.content_type)
    const isLast = isBound || attempt === ATTEMPTS
    const edited = await write(scope, address, policy, before, { ...content, text }, properties, isLast)
    if (edited) return edited
  }
}

/** Writes the edited content; undefined if the file has another one than was edited. The last attempt throws then. */
async function write(
  scope: WriteScope,
  address: FileAddress,
  policy: FilePolicy,
  before: FileRow,
  content: StoredBlob & { text: string },
  { metadata, contentType, label = null }: EditedProperties,
  isLast: boolean,
): Promise<File | undefined> {
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await keepContent(within, content)
    const current = await lockFile(tx, address)
    if (!current) throw fileNotFound(address.path)
    const edited = { ...NO_EXPECTATION, contents: [before.content_sha256] }
    if (!isLast && current.content_sha256 !== before.content_sha256) return undefined
    const isSame = content.sha256 === current.content_sha256
    const next = {
      ...content,
      contentType: contentType ?? current.content_type,
      metadata: metadata ?? current.metadata,
      label: isSame ? (label ?? current.label) : label,
    }
    checkProperties(scope, policy, next)
    return overwrite(within, address, policy, current, next, edited)
  })
}

async function editedContent(
  scope: WriteScope,
  { storage }: FilePolicy,
  file: FileRow,
  edits: TextEdits,
): Promise<StoredBlob> {
  const stored = { contentSha256: file.content_sha256, size: file.size }
  const read = await beginningOf(scope, stored, LIMITS.inlineContentBytes)
  if (read === null)
    throw invalid({
      path: '/path',
      code: 'not_text',
      message: `The content of "${file.path}" is not UTF-8 text. Send the whole content instead.`,
    })
  if (!read.isWhole)
    throw invalid({
      path: '/path',
      code: 'too_large',
      message: `Texts of at most ${LIMITS.inlineContentBytes} bytes can be edited. Send the whole content with a PUT over REST.`,
      expected: LIMITS.inlineContentBytes,
      received: file.size,
    })
  const text = await editText(read.text, edits, `version ${file.version} of "${file.path}"`)
  return receiveBytes(scope, Buffer.from(text), storage.max_bytes)
}
