/** Reads a file, now or as it was at a version, and the difference of two versions. */
import { createTwoFilesPatch } from 'diff'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
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

/**
 * Compares two content versions of a file.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR when the contents are too large or too different
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
  const texts = [await textOf(scope, one), await textOf(scope, other)]
  const [before, after] = texts
  if (before === null || after === null || before === undefined || after === undefined)
    return { from: one, to: other, binary: true, diff: null }
  if (before === after) return { from: one, to: other, binary: false, diff: '' }
  const diff = await compare(row.path, { before, after, from, to })
  return { from: one, to: other, binary: false, diff }
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

/** Runs in short turns, and gives up on contents that have little in common. */
function compare(path: string, { before, after, from, to }: Compared): Promise<string> {
  return new Promise((resolve, reject) => {
    createTwoFilesPatch(`${path} (version ${from})`, `${path} (version ${to})`, before, after, '', '', {
      timeout: LIMITS.diffMs,
      maxEditLength: LIMITS.diffEdits,
      callback: (patch) => {
        if (patch === undefined) reject(tooDifferent())
        else resolve(patch)
      },
    })
  })
}

const tooDifferent = () =>
  invalid({
    path: '',
    code: 'too_complex',
    message: 'The versions have too little in common for a diff. Read both.',
  })
