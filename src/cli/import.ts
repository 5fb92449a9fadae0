/** `plinth import <type> <file>`: writes the records of a file, in batches. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { shapeOf } from '../schema-shape/read-root.ts'
import { type Call, call } from './command/client.ts'
import { configure, valued } from './command/commander.ts'
import { Failure, misused, unreadable } from './command/failure.ts'
import { note } from './command/print.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { formatOf } from './record-files/format.ts'
import { type Format, type LineRecord, readRecords } from './record-files/read-records.ts'

/** A batch ends at so many records, or bytes. */
const RECORDS = 500
const BYTES = 4 * 1024 ** 2

type ImportFlags = { format?: string; resume?: true }

export function addImport(program: Command): void {
  configure(program.command('import').description('Write the records of a file: NDJSON or CSV'))
    .argument('<type>', 'the record type')
    .argument('<file>', 'the file; - for standard input')
    .addOption(valued('--format <format>', 'ndjson or csv (default: by the name of the file, else ndjson)'))
    .option('--resume', 'continue after what an interrupted import has written')
    .action(async (type: string, file: string, { format, resume }: ImportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      if (resume && file === '-') throw misused('--resume needs a file: standard input cannot be read again.')
      await importFile(settings, type, { file, format: formatOf(format, file), isResumed: resume ?? false })
    })
}

type Source = { file: string; format: Format; isResumed: boolean }

async function importFile(settings: Settings, type: string, source: Source): Promise<void> {
  const { base } = settings
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const path = `/${encodeURIComponent(base)}`
  const { json_schema } = (await send(
    settings,
    'GET',
    `${path}/record-types/${encodeURIComponent(type)}`,
  )) as {
    json_schema: unknown
  }
  const marker = `${source.file}.import`
  const size = source.file === '-' ? undefined : await sizeOf(source.file)
  const target = `${serverUrl(settings)} ${base} ${type}`
  let done = source.isResumed ? await readMarker(marker, target) : 0
  let written = 0
  const bytes = { read: 0 }
  const records = readRecords(partsOf(source.file, bytes), source.format, shapeOf(json_schema))
  for await (const batch of batchesOf(records, done)) {
    await writeBatch(settings, path, type, batch, written)
    written += batch.length
    done = batch.at(-1)?.line ?? done
    if (size !== undefined) await writeFile(marker, JSON.stringify({ target, line: done }))
    showProgress(written, bytes.read, size)
  }
  if (process.stderr.isTTY) note('\n')
  await rm(marker, { force: true })
  note(`${written} records are written.\n`)
}

async function* batchesOf(records: AsyncIterable<LineRecord>, after: number): AsyncGenerator<LineRecord[]> {
  let batch: LineRecord[] = []
  let bytes = 0
  for await (const each of records) {
    if (each.line <= after) continue
    bytes += JSON.stringify(each.record).length
    batch.push(each)
    if (batch.length < RECORDS && bytes < BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** The key is that of the content, so a batch whose answer was lost takes effect once. */
async function writeBatch(
  settings: Settings,
  path: string,
  type: string,
  batch: readonly LineRecord[],
  before: number,
): Promise<void> {
  const operations = batch.map(({ record }) => ({
    type: record.id === undefined && record.external_id === undefined ? 'create_record' : 'upsert_record',
    record_type: type,
    ...record,
  }))
  const body = JSON.stringify({ operations })
  const key = createHash('sha256').update(`${path} ${batch[0]?.line} ${body}`).digest('hex')
  await send(settings, 'POST', `${path}/batch`, { body, key }).catch((error: unknown) => {
    throw error instanceof Failure ? atLine(error, batch, before) : error
  })
}

/** Names the line of the operation that failed, and says what is written. */
function atLine(failure: Failure, batch: readonly LineRecord[], before: number): Failure {
  const { error } = failure.body
  const details = error.details?.map((detail) => {
    const [, index, rest = ''] = /^\/operations\/(\d+)(.*)$/.exec(detail.path ?? '') ?? []
    const line = index === undefined ? undefined : batch[Number(index)]?.line
    return line === undefined ? detail : { ...detail, path: `line ${line}${rest}` }
  })
  const lines = `lines ${batch[0]?.line} to ${batch.at(-1)?.line}`
  const advice = `${before} records are written, none of ${lines}. Correct the file, and continue with --resume.`
  return new Failure({ error: { ...error, ...(details && { details }) } }, { advice, cause: failure })
}

async function send(
  settings: Settings,
  method: 'GET' | 'POST',
  path: string,
  { body, key }: { body?: string; key?: string } = {},
): Promise<unknown> {
  const url = serverUrl(settings)
  const request: Call = {
    method,
    path,
    query: new URLSearchParams(),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body,
    streams: false,
  }
  return (await call(url, tokenFor(url, settings), request)).body
}

async function* partsOf(file: string, bytes: { read: number }): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const stream = file === '-' ? process.stdin : createReadStream(file)
  for await (const chunk of stream) {
    bytes.read += (chunk as Buffer).length
    yield decoder.decode(chunk as Buffer, { stream: true })
  }
  yield decoder.decode()
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** The last line that an interrupted import of the same file to the same place wrote; 0 if there was none. */
async function readMarker(marker: string, target: string): Promise<number> {
  const text = await readFile(marker, 'utf8').catch(() => undefined)
  if (text === undefined) return 0
  const kept = JSON.parse(text) as { target?: unknown; line?: unknown }
  if (kept.target !== target || typeof kept.line !== 'number')
    throw misused(`${marker} is of an import to another place. Delete it, or leave out --resume.`)
  return kept.line
}

function showProgress(records: number, read: number, size: number | undefined): void {
  if (!process.stderr.isTTY) return
  const width = 30
  const share = size ? Math.min(1, read / size) : 0
  const bar = size ? `[${'#'.repeat(Math.round(share * width)).padEnd(width)}] ` : ''
  process.stderr.write(`\r${bar}${records} records `)
}
