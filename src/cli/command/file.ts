import { readFile } from 'node:fs/promises'
import { parse, YAMLParseError } from 'yaml'
import { misused, unreadable } from './failure.ts'

/** Reads a YAML or JSON file; `-` is standard input. */
export async function readFileOf(name: string): Promise<unknown> {
  const text = await textOf(name)
  try {
    return parse(text) as unknown
  } catch (error) {
    if (error instanceof YAMLParseError)
      throw misused(`The file "${name}" is not YAML or JSON: ${error.message}`)
    throw error
  }
}

async function textOf(name: string): Promise<string> {
  try {
    return name === '-' ? await stdin() : await readFile(name, 'utf8')
  } catch (error) {
    throw unreadable(name, error)
  }
}

async function stdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
