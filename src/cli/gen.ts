/** `plinth gen`: TypeScript and OpenAPI of the types of a base. */

import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { LIMITS } from '../foundation/limits.ts'
import { call, get } from './command/client.ts'
import { configure, valued } from './command/command.ts'
import { Failure, misused, unreadable } from './command/failure.ts'
import { note, print } from './command/print.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { printTypes, type RecordType, type RelationshipType } from './generated-types/print-types.ts'

type GenFlags = { out?: string; check?: true }

export function addGen(program: Command): void {
  const gen = configure(program.command('gen').description('Generate code from the types of a base'))
  const add = (name: string, about: string, generate: Generate) =>
    configure(gen.command(name).description(about))
      .addOption(valued('--out <file>', 'write this file (default: standard output)'))
      .option('--check', 'write nothing; fail if the file of --out is not up to date')
      .action(async ({ out, check }: GenFlags) => {
        const settings = readSettings(program.opts<Flags>())
        if (check && out === undefined) throw misused('--check needs --out <file>, the file to compare.')
        const { base } = settings
        if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
        const text = await generate(settings, base)
        if (out === undefined) print(text)
        else if (check) await compare(text, out)
        else await write(text, out)
      })
  add('types', 'Generate TypeScript types of records and relationships', typesOf)
  add('openapi', 'Write the OpenAPI description of the records of the base', descriptionOf)
}

type Generate = (settings: Settings, base: string) => Promise<string>

async function typesOf(settings: Settings, base: string): Promise<string> {
  const recordTypes = (await listAll(settings, base, 'record-types')) as RecordType[]
  const relationshipTypes = (await listAll(settings, base, 'relationship-types')) as RelationshipType[]
  return printTypes(base, recordTypes, relationshipTypes)
}

async function descriptionOf(settings: Settings, base: string): Promise<string> {
  const url = serverUrl(settings)
  const request = get(`/${encodeURIComponent(base)}/openapi.json`)
  return `${JSON.stringify((await call(url, tokenFor(url, settings), request)).body, null, 2)}\n`
}

/** All items of a list that the token sees. */
async function listAll(settings: Settings, base: string, list: string): Promise<unknown[]> {
  const url = serverUrl(settings)
  const found: unknown[] = []
  for (;;) {
    const page = new URLSearchParams({
      limit: String(LIMITS.generatedTypesPage),
      offset: String(found.length),
    })
    const request = get(`/${encodeURIComponent(base)}/${list}`, page)
    const { data, meta } = (await call(url, tokenFor(url, settings), request)).body as {
      data: unknown[]
      meta: { has_more: boolean }
    }
    found.push(...data)
    if (!meta.has_more || data.length === 0) return found
  }
}

async function compare(text: string, file: string): Promise<void> {
  const present = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, error)
  })
  if (present === text) return
  const message = `${file} is not up to date. Run the command without --check.`
  throw new Failure({ error: { code: 'OUTDATED', message } })
}

async function write(text: string, file: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw misused(`The file "${file}" cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
  note(`${file} is written.\n`)
}
