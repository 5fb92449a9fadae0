/** `plinth export <type>`: the records of a type as NDJSON or CSV, as `plinth import` reads them. */
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { shapeOf } from '../schema-shape/read-root.ts'
import type { Shape } from '../schema-shape/shape.ts'
import { call, get } from './command/client.ts'
import { configure, valued } from './command/commander.ts'
import { misused } from './command/failure.ts'
import { sourceOf } from './command/options.ts'
import { note } from './command/print.ts'
import { endProgress, interruption, showProgress, untilInterrupted } from './command/progress.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { cellOf, columnOf, OWN } from './record-files/columns.ts'
import { csvLine } from './record-files/csv.ts'
import { formatOf } from './record-files/format.ts'
import { type Mark, readMark, removeMark, saveMark } from './record-files/mark.ts'
import type { Format } from './record-files/read-records.ts'

const PAGE = 1000

type ExportFlags = { format?: string; output?: string; filter?: string; asOf?: string; resume?: true }
type Found = { data: Record<string, unknown> } & Record<string, unknown>
type Page = { data: Found[]; meta: { has_more: boolean; next_cursor?: string; total?: number } }

export function addExport(program: Command): void {
  configure(program.command('export').description('Write the records of a type to a file: NDJSON or CSV'))
    .argument('<type>', 'the record type')
    .addOption(valued('--output <file>', 'the file (default: standard output)'))
    .addOption(valued('--format <format>', 'ndjson or csv (default: by the name of the file, else ndjson)'))
    .addOption(valued('--filter <json>', 'only these records (JSON, @file, or - for standard input)'))
    .addOption(valued('--as-of <time>', 'state at this time, such as 2026-01-31T09:30:00Z'))
    .option('--resume', 'continue the file of an interrupted export')
    .action(async (type: string, { format, output, filter, asOf, resume }: ExportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      if (resume && output === undefined)
        throw misused('--resume needs --output <file>, the file to continue.')
      const query = new URLSearchParams({ limit: String(PAGE), sort: 'created_at,id' })
      if (filter !== undefined) query.set('filter', (await sourceOf(filter, '--filter')).toString().trim())
      if (asOf !== undefined) query.set('as_of', asOf)
      const isResumed = resume ?? false
      await exportType(settings, type, { query, format: formatOf(format, output), output, isResumed })
    })
}

type Wanted = { query: URLSearchParams; format: Format; output: string | undefined; isResumed: boolean }
/** Where an export is: how much of the file is whole, and the cursor of what follows. */
type Place = { cursor: string | undefined; bytes: number; records: number }

async function exportType(
  settings: Settings,
  type: string,
  { query, format, output, isResumed }: Wanted,
): Promise<void> {
  const { base } = settings
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const url = serverUrl(settings)
  const path = `/${encodeURIComponent(base)}`
  const read = async (path: string, query?: URLSearchParams) =>
    (await call(url, tokenFor(url, settings), get(path, query))).body
  const { json_schema } = (await read(`${path}/record-types/${encodeURIComponent(type)}`)) as {
    json_schema: unknown
  }
  const shape = shapeOf(json_schema)
  const properties = [...shape.object.properties.keys()]
  const unnamed = new Set<string>()
  const pagesFrom = (cursor?: string) =>
    pagesOf((query) => read(`${path}/records/${encodeURIComponent(type)}`, query), query, cursor)
  const textOf = ({ data }: Page) => (format === 'csv' ? csvOf(data, shape, unnamed) : ndjsonOf(data))
  const head = format === 'csv' ? csvLine([...OWN, ...properties.map(columnOf)]) : ''
  if (output === undefined) await toStandardOutput(head, pagesFrom(), textOf)
  else {
    const target = `${url} ${base} ${type} ${format} ${query}`
    const records = await toFile({ output, target, isResumed, head }, pagesFrom, textOf)
    note(`${records} records are in ${output}.\n`)
  }
  if (unnamed.size > 0)
    note(
      `Not in the file, because the schema does not name them: ${[...unnamed].slice(0, 20).join(', ')}. --format ndjson has all properties.\n`,
    )
}

async function toStandardOutput(head: string, pages: AsyncIterable<Page>, textOf: (page: Page) => string) {
  async function* texts() {
    yield head
    for await (const page of pages) yield textOf(page)
  }
  await pipeline(Readable.from(texts()), process.stdout, { end: false })
}

type Target = { output: string; target: string; isResumed: boolean; head: string }

/** Writes page by page, and notes after each what an interrupted export would continue with. Returns the count. */
async function toFile(
  { output, target, isResumed, head }: Target,
  pagesFrom: (cursor?: string) => AsyncIterable<Page>,
  textOf: (page: Page) => string,
): Promise<number> {
  const marker = `${output}.export`
  const place = isResumed ? placeOf(await readMark(marker, target), marker) : undefined
  const file = await open(output, place ? 'r+' : 'w').catch((error: unknown) => {
    throw unwritable(output, error)
  })
  let { bytes, records } = place ?? { bytes: 0, records: 0 }
  const append = async (text: string) => {
    const content = Buffer.from(text)
    for (let from = 0; from < content.length; )
      from += (await file.write(content, from, content.length - from, bytes + from)).bytesWritten
    bytes += content.length
  }
  try {
    await file.truncate(bytes)
    if (!place) await append(head)
    await untilInterrupted(async (isInterrupted) => {
      let total: number | undefined
      for await (const page of pagesFrom(place?.cursor)) {
        await append(textOf(page))
        records += page.data.length
        const { next_cursor: cursor, has_more: hasMore } = page.meta
        total ??= page.meta.total
        if (hasMore) await saveMark(marker, { target, cursor, bytes, records })
        showProgress(records, total === undefined ? undefined : records / Math.max(1, total))
        if (hasMore && isInterrupted())
          throw interruption(`${records} records are in ${output}.`, 'Continue with --resume.')
      }
    })
  } finally {
    await file.close()
  }
  endProgress()
  await removeMark(marker)
  return records
}

/** @throws Failure if there is nothing to continue */
function placeOf(mark: Mark | undefined, marker: string): Place {
  const { cursor, bytes, records }: Record<string, unknown> = mark ?? {}
  if (typeof cursor === 'string' && typeof bytes === 'number' && typeof records === 'number')
    return { cursor, bytes, records }
  throw misused(`${marker} is not there: no export to this file was interrupted. Leave out --resume.`)
}

const unwritable = (file: string, error: unknown) =>
  misused(`The file "${file}" cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)

/** The pages from a cursor on. The first one has the count of all, for a bar on a terminal. */
async function* pagesOf(
  read: (query: URLSearchParams) => Promise<unknown>,
  asked: URLSearchParams,
  cursor?: string,
): AsyncGenerator<Page> {
  const query = new URLSearchParams(asked)
  if (cursor !== undefined) query.set('cursor', cursor)
  if (process.stderr.isTTY) query.set('include_total', 'true')
  for (;;) {
    const page = (await read(query)) as Page
    yield page
    if (!page.meta.has_more || page.meta.next_cursor === undefined) return
    query.set('cursor', page.meta.next_cursor)
    query.delete('include_total')
  }
}

const ndjsonOf = (page: readonly Found[]): string =>
  page.map((record) => `${JSON.stringify(withoutNulls(record))}\n`).join('')

/** The fields that an import reads. */
function withoutNulls(record: Found): object {
  const own = OWN.filter((name) => typeof record[name] === 'string').map((name) => [name, record[name]])
  return { ...Object.fromEntries(own), data: record.data }
}

/** Rows with a cell for each property of the schema. Properties that it does not name are only listed in `unnamed`. */
function csvOf(page: readonly Found[], shape: Shape, unnamed: Set<string>): string {
  const { properties } = shape.object
  const lines = page.map((record) => {
    for (const name of Object.keys(record.data))
      if (unnamed.size < MOST_UNNAMED && !properties.has(name)) unnamed.add(name)
    return csvLine([
      ...OWN.map((name) => String(record[name] ?? '')),
      ...[...properties.keys()].map((name) => cellOf(record.data[name], name, shape)),
    ])
  })
  return lines.join('')
}

const MOST_UNNAMED = 100
