/** What an interrupted import or export has done, in a file beside its own, so that it can be resumed. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isObject } from '../../foundation/is-object.ts'
import { misused, unreadable } from '../command/failure.ts'

export type Checkpoint = {
  /** The server, the base, the record type and what else makes it another command. */
  target: string
} & Record<string, unknown>

/** Replaces the file at once, so that an interruption leaves the mark of before. */
export async function saveCheckpoint(file: string, mark: Checkpoint): Promise<void> {
  try {
    await writeFile(`${file}.new`, JSON.stringify(mark))
    await rename(`${file}.new`, file)
  } catch (error) {
    throw misused(`The file "${file}" cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

export const removeCheckpoint = (file: string): Promise<void> => rm(file, { force: true })

/**
 * The mark of a command to the same target; undefined if there is none.
 * @throws Failure for the mark of another one
 */
export async function readCheckpoint(file: string, target: string): Promise<Checkpoint | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, error)
  }
  const mark = parsed(text)
  if (!isObject(mark) || mark['target'] !== target)
    throw misused(
      `${file} is of a command with another server, base, record type or options. Delete it to start from the beginning.`,
    )
  return mark as Checkpoint
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
