import { readFile } from 'node:fs/promises'
import { DomainError } from '../../foundation/errors.ts'
import { parseJson } from '../../json/index.ts'
import { misused } from './failure.ts'

let stdinReader: string | undefined

/**
 * Reads the JSON value of an option: inline text, `@file`, or `-` for standard input. Rejects JSON that the
 * server would not store unchanged.
 */
export async function readJson(text: string, flag: string): Promise<unknown> {
  const source =
    text === '-' ? await readStdin(flag) : text.startsWith('@') ? await readNamed(text.slice(1), flag) : text
  try {
    return parseJson(source, flag)
  } catch (error) {
    if (error instanceof DomainError) throw misused(`${flag}: ${error.message}`, error.details)
    throw error
  }
}

async function readNamed(file: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw misused(
      `${flag}: the file "${file}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
    )
  }
}

async function readStdin(flag: string): Promise<Buffer> {
  if (stdinReader)
    throw misused(
      `${stdinReader} and ${flag} cannot both read standard input. Pass one of them as text or @file. Pass one of them as text or @file.`,
    )
  stdinReader = flag
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
