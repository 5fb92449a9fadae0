import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { DomainError } from '../../foundation/errors.ts'
import { parseJson, pointer } from '../../json/parse.ts'
import { misused, unreadable } from './failure.ts'

/** Reads a JSON or YAML file, also written as `@file`; `-` is standard input. */
export async function readFileOf(written: string): Promise<unknown> {
  const name = written.replace(/^@/, '')
  const text = await textOf(name)
  return /^[\s\ufeff]*\{/.test(text) ? readJson(text, name) : readYaml(text, name)
}

/** Reads JSON with the rules of the API, so that no number changes on the way. What is no JSON may be YAML in braces. */
async function readJson(text: string, name: string): Promise<unknown> {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    if (!isJson(text)) return readYaml(text, name)
    throw misused(`The file "${name}" has values that cannot be sent.`, error.details)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
    return true
  } catch {
    return false
  }
}

async function readYaml(text: string, name: string): Promise<unknown> {
  // Loaded here, because most commands read no YAML and start faster without it.
  const { parseAllDocuments, YAMLParseError } = await import('yaml')
  try {
    const [document, second] = parseAllDocuments(text, { intAsBigInt: true })
    if (second) throw severalDocuments(name)
    if (document?.errors[0]) throw document.errors[0]
    return exact(document?.toJS() ?? null, '', name)
  } catch (error) {
    if (error instanceof YAMLParseError)
      throw misused(`The file "${name}" is not YAML or JSON: ${error.message}`)
    throw error
  }
}

const severalDocuments = (name: string) =>
  misused(`The file "${name}" has several YAML documents, separated by "---". Send one document in a file.`)

/** Integers as numbers. JSON has no number for one that is too large, nor for infinity. */
function exact(value: unknown, path: string, name: string): unknown {
  if (typeof value === 'bigint' && BigInt(Number(value)) === value) return Number(value)
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)))
    throw misused(`The file "${name}" has a number that would change on the way.`, [
      { path, message: `Write ${value} as a string, in quotes.` },
    ])
  if (Array.isArray(value)) return value.map((each, n) => exact(each, `${path}/${n}`, name))
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([key, each]) => [
    key,
    exact(each, `${path}${pointer(key)}`, name),
  ])
  return Object.fromEntries(members)
}

async function textOf(name: string): Promise<string> {
  if (name === '-') return (await readStandardInput('<file>')).toString()
  try {
    return await readFile(name, 'utf8')
  } catch (error) {
    throw unreadable(name, error)
  }
}

/** What read a standard input, as the command line names it: a second reader would get nothing. */
const readers = new WeakMap<object, string>()

/**
 * Reads the standard input for an option or argument.
 * @throws Failure if another one has read it
 */
export async function readStandardInput(name: string): Promise<Buffer> {
  const reader = readers.get(process.stdin)
  if (reader)
    throw misused(`${reader} and ${name} cannot both read standard input. Pass one of them from a file.`)
  readers.set(process.stdin, name)
  return buffer(process.stdin)
}
