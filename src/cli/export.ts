/** `plinth export <type>`: the records of a type as NDJSON or CSV, as `plinth import` reads them. */
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { shapeOf } from '../schema-shape/read-root.ts'
import { type Call, call } from './command/client.ts'
import { configure, valued } from './command/commander.ts'
import { misused } from './command/failure.ts'
import { sourceOf } from './command/options.ts'
import { note } from './command/print.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { cellOf, OWN } from './record-files/columns.ts'
import { csvLine } from './record-files/csv.ts'
import { formatOf } from './record-files/format.ts'
import type { Format } from './record-files/read-records.ts'

const PAGE = 1000

type ExportFlags = { format?: string; output?: string; filter?: string; asOf?: string }
type Found = { data: Record<string, unknown> } & Record<string, unknown>
type Page = { data: Found[]; meta: { has_more: boolean; next_cursor?: string } }

export function addExport(program: Command): void {
  configure(program.command('export').description('Write the records of a type to a file: NDJSON or CSV'))
    .argument('<type>', 'the record type')
    .addOption(valued('--output <file>', 'the file (default: standard output)'))
    .addOption(valued('--format <format>', 'ndjson or csv (default: by the name of the file, else ndjson)'))
    .addOption(valued('--filter <json>', 'only these records (JSON, @file, or - for standard input)'))
    .addOption(valued('--as-of <time>', 'state at this time, such as 2026-01-31T09:30:00Z'))
    .action(async (type: string, { format, output, filter, asOf }: ExportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      const query = new URLSearchParams({ limit: String(PAGE), sort: 'created_at,id' })
      if (filter !== undefined) query.set('filter', (await sourceOf(filter, '--filter')).toString().trim())
      if (asOf !== undefined) query.set('as_of', asOf)
      await exportType(settings, type, { query, format: formatOf(format, output), output })
    })
}

type Wanted = { query: URLSearchParams; format: Format; output: string | undefined }

async function exportType(
  settings: Settings,
  type: string,
  { query, format, output }: Wanted,
): Promise<void> {
  const { base } = settings
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const path = `/${encodeURIComponent(base)}`
  const get = (path: string, query: URLSearchParams) => read(settings, path, query)
  const { json_schema } = (await get(
    `${path}/record-types/${encodeURIComponent(type)}`,
    new URLSearchParams(),
  )) as { json_schema: unknown }
  const properties = [...shapeOf(json_schema).object.properties.keys()]
  const count = { records: 0 }
  const pages = pagesOf((query) => get(`${path}/records/${encodeURIComponent(type)}`, query), query)
  const lines = format === 'csv' ? csvOf(pages, properties, count) : ndjsonOf(pages, count)
  if (output === undefined) return pipeline(Readable.from(lines), process.stdout, { end: false })
  await pipeline(Readable.from(lines), createWriteStream(output)).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : misused(`The file "${output}" cannot be written (${code}).`)
  })
  note(`${count.records} records are in ${output}.\n`)
}

async function* pagesOf(
  get: (query: URLSearchParams) => Promise<unknown>,
  query: URLSearchParams,
): AsyncGenerator<Found[]> {
  for (;;) {
    const { data, meta } = (await get(query)) as Page
    yield data
    if (!meta.has_more || meta.next_cursor === undefined) return
    query.set('cursor', meta.next_cursor)
  }
}

async function* ndjsonOf(pages: AsyncIterable<Found[]>, count: { records: number }): AsyncGenerator<string> {
  for await (const page of pages) {
    count.records += page.length
    yield page.map((record) => `${JSON.stringify(withoutNulls(record))}\n`).join('')
  }
}

/** The fields that an import reads. */
function withoutNulls(record: Found): object {
  const own = OWN.filter((name) => typeof record[name] === 'string').map((name) => [name, record[name]])
  return { ...Object.fromEntries(own), data: record.data }
}

/** A column for each property of the schema. The properties that it does not name would need all records first. */
async function* csvOf(
  pages: AsyncIterable<Found[]>,
  properties: readonly string[],
  count: { records: number },
): AsyncGenerator<string> {
  const isOwn = (name: string) => OWN.some((own) => own === name)
  yield csvLine([...OWN, ...properties.map((name) => (isOwn(name) ? `data.${name}` : name))])
  for await (const page of pages) {
    count.records += page.length
    yield page
      .map((record) =>
        csvLine([
          ...OWN.map((name) => cellOf(record[name] ?? undefined)),
          ...properties.map((name) => cellOf(record.data[name])),
        ]),
      )
      .join('')
  }
}

async function read(settings: Settings, path: string, query: URLSearchParams): Promise<unknown> {
  const url = serverUrl(settings)
  const request: Call = { method: 'GET', path, query, headers: {}, body: undefined, streams: false }
  return (await call(url, tokenFor(url, settings), request)).body
}
