/** Reads a file, now or as it was at a version, and the difference of two versions. */
import { busy, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { runInWorker } from '../../foundation/run-in-worker.ts'
import type { Scope } from '../core/scope.ts'
import { workSlots } from '../core/work-slots.ts'
import { differing, make } from './compare-texts.ts'
import { type File, toFile } from './file.ts'
import type { FileAddress } from './find.ts'
import { beginningOf } from './text.ts'
import { type FileVersion, requireFile, requireVersion } from './versions.ts'

/**
 * Reads a file. With a version: its content, type and label at that version.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function getFile(scope: Scope, address: FileAddress, version: number | null): Promise<File> {
  const row = await requireFile(scope, address)
  const file = toFile(row)
  if (version === null || version === row.version) return file
  const { createdAt, createdBy: _, ...content } = await requireVersion(scope, address.baseId, row, version)
  return { ...file, ...content, updatedAt: createdAt }
}

/** The difference of two versions; null for contents that are no text. */
export type FileDiff = {
  readonly from: FileVersion
  readonly to: FileVersion
  readonly binary: boolean
  readonly diff: string | null
}

/** A waiting diff holds no text yet. */
const withSlot = workSlots({
  ...{ inAll: LIMITS.diffs, ofToken: LIMITS.diffsOfToken, waitMs: LIMITS.diffWaitMs },
  tooMany: () => busy('Too many diffs of files run at the same time.', 'Ask for fewer diffs at a time.'),
})

/**
 * Compares two content versions of a file.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR when the contents are too large or too different; RATE_LIMITED
 */
export async function diffFile(
  scope: Scope,
  address: FileAddress,
  from: number,
  to: number,
): Promise<FileDiff> {
  const row = await requireFile(scope, address)
  const [one, other] = [
    await requireVersion(scope, address.baseId, row, from, '/from'),
    await requireVersion(scope, address.baseId, row, to, '/to'),
  ]
  return withSlot(scope, async () => {
    const [before, after] = [await textOf(scope, one), await textOf(scope, other)]
    if (before === null || after === null) return { from: one, to: other, binary: true, diff: null }
    const diff = before === after ? '' : await compare(row.path, { before, after, from, to })
    return { from: one, to: other, binary: false, diff }
  })
}

/**
 * The content as text; null if it is not text.
 * @throws VALIDATION_ERROR when it is too large to be compared
 */
async function textOf(scope: Scope, { contentSha256, size, version }: FileVersion): Promise<string | null> {
  const read = await beginningOf(scope, { contentSha256, size }, LIMITS.diffBytes)
  if (read === null || read.isWhole) return read?.text ?? null
  throw invalid({
    path: '',
    code: 'too_large',
    message: `Version ${version} has ${size} bytes. Contents of at most ${LIMITS.diffBytes} bytes can be compared: read both.`,
    expected: LIMITS.diffBytes,
    received: size,
  })
}

type Compared = { before: string; after: string; from: number; to: number }

/** Short texts are compared at once, others in a thread: it would hold the event loop, and more memory than the texts. */
async function compare(path: string, { before, after, from, to }: Compared): Promise<string> {
  const part = differing(before, after)
  const names = [from, to].map((version) => `${path} (version ${version})`)
  if (part.lines > LIMITS.diffLines) throw tooDifferent()
  const input = { ...part, names, timeout: LIMITS.diffMs, maxEditLength: LIMITS.diffEdits }
  const isShort =
    part.lines <= LIMITS.diffLinesAtOnce && part.before.length + part.after.length <= LIMITS.diffCharsAtOnce
  const bounds = { ms: 2 * LIMITS.diffMs, megabytes: LIMITS.diffMegabytes }
  const diff = isShort
    ? make(input)
    : await runInWorker<string | null>(import.meta.url, './compare-texts', input, bounds)
  if (diff === null || diff === undefined) throw tooDifferent()
  return diff
}

const tooDifferent = () =>
  invalid({
    path: '',
    code: 'too_complex',
    message: 'The versions have too little in common for a diff. Read both.',
  })
