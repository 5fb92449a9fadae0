/** Edits the text of a file. The edited text is a new version. */

import { applyPatch, parsePatch, type StructuredPatch } from 'diff'
import { invalid, oneFault } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { receiveBytes } from '../core/contents/receive.ts'
import { referenceContent } from '../core/contents/reference.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { StoredBlob } from '../storage/blobs/blob-store.ts'
import type { File, FileRow } from './file.ts'
import { checkFile, type FileExpectation } from './file-preconditions.ts'
import { type FileAddress, fileNotFound, findFile, lockFile } from './find.ts'
import { checkProperties, type FilePolicy, patchedMetadata } from './policy.ts'
import { indexedTextOf, overwrite } from './put.ts'
import { beginningOf } from './text.ts'

/** Properties that the new version gets; absent ones stay, but for the label, which is of one version. Metadata are a merge patch. */
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
    await referenceContent(within, content)
    const current = await lockFile(tx, address)
    if (!current) throw fileNotFound(address.path)
    const edited = { ...NO_EXPECTATION, contents: [before.content_sha256] }
    if (!isLast && current.content_sha256 !== before.content_sha256) return undefined
    const isSame = content.sha256 === current.content_sha256
    const next = {
      ...content,
      contentType: contentType ?? current.content_type,
      metadata: patchedMetadata(current.metadata, metadata),
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

// Edits a text: replaces parts of it, or applies a unified diff.

type Hunk = StructuredPatch['hunks'][number]

/** Replaces `find`, which must be in the text once, or everywhere with `all`. */
type TextEdit = {
  readonly find: string
  readonly replace: string
  readonly all?: boolean | null | undefined
}
/** Edits that are made one after another, or a unified diff. */
type TextEdits = { readonly edits: readonly TextEdit[] } | { readonly patch: string }

/**
 * The edited text. `which` names the text in errors, such as `version 3 of "a.txt"`.
 * @throws CONFLICT when the text does not have what an edit is to change; VALIDATION_ERROR
 */
async function editText(text: string, how: TextEdits, which: string): Promise<string> {
  if ('patch' in how) return patched(text, how.patch, which)
  let edited = text
  for (const [index, edit] of how.edits.entries()) {
    if (turnIsOver()) await nextTurn()
    edited = replaced(edited, edit, `/edits/${index}`, which)
  }
  return edited
}

function replaced(text: string, { find, replace, all }: TextEdit, path: string, which: string): string {
  const [sought, next] = withLineEndsOf(text, find, replace)
  const count = countOf(text, sought)
  if (count === 0) {
    const message = `The text to find is not in ${which}. Read the file again, and copy the text as it is.`
    throw conflict(`${path}/find`, 'text_not_found', message)
  }
  if (count > 1 && !all) {
    const message = `The text to find is ${count} times in ${which}. Send more of the text around it, or all: true.`
    throw conflict(`${path}/find`, 'text_not_unique', message)
  }
  checkSize(text.length + count * (next.length - sought.length), path)
  return text.split(sought).join(next)
}

/** Clients see and send lines that end in `\n`. In a text whose lines end in `\r\n`, those are meant. */
function withLineEndsOf(text: string, find: string, replace: string): [find: string, replace: string] {
  const isMeant =
    /[^\r]\n/.test(find) && !find.includes('\r') && text.includes('\r\n') && !text.includes(find)
  const widened = (part: string) => part.replace(/\r?\n/g, '\r\n')
  return isMeant ? [widened(find), widened(replace)] : [find, replace]
}

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

function patched(text: string, patch: string, which: string): string {
  // The library reads about a megabyte of lines in a second, in one piece.
  const lines = countOf(patch, '\n')
  const textLines = countOf(text, '\n') + 1
  if (lines > LIMITS.patchLines || lines * textLines > LIMITS.patchComparisons)
    throw invalid({
      path: '/patch',
      code: 'too_complex',
      message: 'The patch has too many lines for a text of that many lines. Send several smaller patches.',
    })
  const parsed = parse(patch)
  const result = applyPatch(text, { ...parsed, hunks: placed(parsed.hunks, textLines) })
  if (result === false) {
    const message = `The patch does not fit ${which}: its context or removed lines are not there. Read the file again, and make the patch from that text.`
    throw conflict('/patch', 'patch_mismatch', message)
  }
  checkSize(result.length, '/patch')
  return result
}

/**
 * The hunks, from where each is looked for in the text: within it, and after the hunk before. The library tries every line
 * from the one that a hunk names, and the named one also if an earlier hunk has changed it.
 */
function placed(hunks: readonly Hunk[], textLines: number): Hunk[] {
  let least = 1
  return hunks.map((hunk) => {
    const oldStart = Math.max(Math.min(hunk.oldStart, textLines), least)
    least = oldStart + hunk.oldLines
    return { ...hunk, oldStart }
  })
}

function parse(patch: string): StructuredPatch {
  const [parsed, more] = parseAll(patch)
  if (!parsed || parsed.hunks.length === 0) throw malformed('It has no hunk ("@@ -1,2 +1,2 @@").')
  if (more) throw malformed('It changes several files. Send the part of this file.')
  return parsed
}

function parseAll(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch)
  } catch (thrown) {
    throw malformed(`${thrown instanceof Error ? thrown.message.slice(0, 200) : 'It cannot be read'}.`)
  }
}

const malformed = (why: string) =>
  invalid({ path: '/patch', code: 'malformed', message: `The patch is not a unified diff. ${why}` })

/** A character has at least one byte. The exact size is checked when the text is stored. */
function checkSize(chars: number, path: string): void {
  if (chars <= LIMITS.inlineContentBytes) return
  throw invalid({
    path,
    code: 'too_large',
    message: `The edited text would have more than ${LIMITS.inlineContentBytes} bytes. Send the whole content with a PUT over REST.`,
    expected: LIMITS.inlineContentBytes,
    received: chars,
  })
}

const conflict = (path: string, code: string, message: string) =>
  oneFault('CONFLICT', message, { path, code })
