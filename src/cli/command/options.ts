import { readFile } from 'node:fs/promises'
import { DomainError } from '../../foundation/errors.ts'
import { parseJson } from '../../json/parse.ts'
import { misused } from './failure.ts'
import { readStandardInput } from './file.ts'

/**
 * Where the value goes in the request; `content` is the whole body, `stream` the path of a streaming variant, `local` is not sent.
 */
type Place =
  | { body: string }
  | { query: string }
  | { header: string }
  | { content: string }
  | { stream: string }
  | { local: string }

/** An option of a command: its syntax, and its place in the request. */
export type Option = {
  flags: string
  about: string
  to: Place
  /** Converts the text; sent unchanged by default. */
  read?: (text: string, flag: string) => unknown
  /** The value of a flag without an argument. */
  value?: string | boolean
  required?: boolean
  /** The option can be repeated; all values are used. */
  several?: boolean
  /** Combines repeated values into one. */
  gather?: (values: readonly unknown[]) => unknown
  /** A conflicting option, in camelCase. */
  conflicts?: string
}

const JSON_FORMS = 'JSON, @file, or - for standard input'

export const text = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { body: name },
})
export const json = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about} (${JSON_FORMS})`,
  to: { body: name },
  read: readJson,
})
export const count = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { body: name },
  read: readCount,
})
/** A text that may be in a file. */
export const textFile = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about} (text, @file, or - for standard input)`,
  to: { body: name },
  read: readText,
})
/** A secret. It is never an argument, because other users of the machine see those. A line end of the file is not part of it. */
export const secret = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about} (@file, or - for standard input; the last line end is dropped)`,
  to: { body: name },
  read: async (written, flag) => {
    if (written !== '-' && !written.startsWith('@'))
      throw misused(
        `${flag}: other users can see arguments. Pass the value as @file, or - for standard input.`,
      )
    return (await sourceOf(written, flag)).toString().replace(/\r?\n$/, '')
  },
})
/** A flag without an argument that sets a fixed value. */
export const flag = (flags: string, name: string, about: string, value: boolean): Option => ({
  flags,
  about,
  to: { body: name },
  value,
})
/** A flag without an argument that sets a query parameter. */
export const queryFlag = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { query: name },
  value: 'true',
})
/** Texts separated by commas. */
export const list = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about}, comma-separated`,
  to: { body: name },
  read: (written) => written.split(','),
})
/** A header with any text, in UTF-8. */
export const headerText = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { header: name },
  read: (written) => Buffer.from(written).toString('latin1'),
})
/** A header with JSON. */
export const headerJson = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about} (${JSON_FORMS})`,
  to: { header: name },
  read: async (written, flag) =>
    Buffer.from(JSON.stringify(await readJson(written, flag))).toString('latin1'),
})
/** A query parameter with JSON. */
export const queryJson = (flags: string, name: string, about: string): Option => ({
  flags,
  about: `${about} (${JSON_FORMS})`,
  to: { query: name },
  // Sent as it is written: a list also takes a shorthand, which is not JSON.
  read: async (written, flag) => (await sourceOf(written, flag)).toString().trim(),
})
export const query = (flags: string, name: string, about: string): Option => ({
  flags,
  about,
  to: { query: name },
})

function readCount(text: string, flag: string): number {
  if (!/^\d{1,9}$/.test(text)) throw misused(`${flag} must be a whole number.`)
  return Number(text)
}

const version = (text: string, flag: string): string => {
  // In a change-set the ETag is the version with its name: 3-fix.
  const [, digits] = /^"?(\d+(?:-[a-z\d-]+)?)"?$/.exec(text) ?? []
  if (text !== '*' && digits === undefined)
    throw misused(`${flag} must be a version such as 3, or * for any.`)
  return digits === undefined ? '*' : `"${digits}"`
}
export const ifMatch: Option = {
  flags: '--if-match <version>',
  about: 'write only if this is the current version',
  to: { header: 'if-match' },
  read: version,
}
export const createOnly: Option = {
  flags: '--create-only',
  about: 'fail if it exists',
  to: { header: 'if-none-match' },
  value: '*',
}

/** Not sent: whether a command asks first. */
export const yes: Option = { flags: '--yes', about: 'do not ask on a terminal', to: { local: 'yes' } }

/** A whole body of another media type. */
const content = (flags: string, type: string, about: string): Option => ({
  flags,
  about: `${about} (${JSON_FORMS})`,
  to: { content: type },
  read: readJson,
})
export const operations = content(
  '--operations <json>',
  'application/json-patch+json',
  'a JSON Patch instead',
)
export const merge = content(
  '--merge <json>',
  'application/merge-patch+json',
  'a JSON Merge Patch instead: null removes',
)

/**
 * Reads the JSON value of an option: inline text, `@file`, or `-` for standard input. Rejects JSON that the
 * server would not store unchanged.
 */
async function readJson(text: string, flag: string): Promise<unknown> {
  const source = await sourceOf(text, flag)
  try {
    return parseJson(source, flag)
  } catch (error) {
    if (error instanceof DomainError) throw misused(`${flag}: ${error.message}`, error.details)
    throw error
  }
}

/** Reads a short form, or the JSON that says more: a text that begins as JSON, `@file`, or `-`. */
export const orJson =
  (short: (text: string, flag: string) => unknown) =>
  (text: string, flag: string): unknown =>
    /^(\s*[[{]|@|-$)/.test(text) ? readJson(text, flag) : short(text, flag)

/** Reads the text of an option or argument: inline text, `@file`, or `-` for standard input. */
export async function readText(text: string, flag: string): Promise<string> {
  return (await sourceOf(text, flag)).toString().replace(/^\ufeff/, '')
}

/** What an option names: inline text, `@file`, or `-` for standard input. */
export const sourceOf = async (text: string, flag: string): Promise<Buffer | string> =>
  text === '-' ? readStandardInput(flag) : text.startsWith('@') ? readNamed(text.slice(1), flag) : text

async function readNamed(file: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw misused(
      `${flag}: the file "${file}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
    )
  }
}
