/** `plinth import <type> <file>`: writes the records of a file, in batches. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { shapeOf } from '../schema-shape/read-root.ts'
import { type Call, call } from './command/client.ts'
import { configure, valued } from './command/commander.ts'
import { Failure, misused, unreadable } from './command/failure.ts'
import { note } from './command/print.ts'
import { endProgress, interruption, showProgress, untilInterrupted } from './command/progress.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { batchesOf, type Place } from './record-files/batches.ts'
import { formatOf } from './record-files/format.ts'
import { readMark, removeMark, saveMark } from './record-files/mark.ts'
import { type Format, type LineRecord, readRecords } from './record-files/read-records.ts'

type ImportFlags = { format?: string; delimiter?: string; resume?: true }

export function addImport(program: Command): void {
  configure(program.command('import').description('Write the records of a file: NDJSON or CSV'))
    .argument('<type>', 'the record type')
    .argument('<file>', 'the file; - for standard input')
    .addOption(valued('--format <format>', 'ndjson or csv (default: by the name of the file, else ndjson)'))
    .addOption(
      valued('--delimiter <char>', 'what separates the cells of CSV: one character, or tab (default: ,)'),
    )
    .option('--resume', 'continue after what an interrupted import has written')
    .action(async (type: string, file: string, { format, delimiter, resume }: ImportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      if (resume && file === '-') throw misused('--resume needs a file: standard input cannot be read again.')
      const form = { format: formatOf(format, file), delimiter: delimiterOf(delimiter) }
      await importFile(settings, type, { file, ...form, isResumed: resume ?? false })
    })
}

/** @throws Failure for what CSV cannot be separated by */
function delimiterOf(text: string | undefined): string | undefined {
  if (text === undefined || text === 'tab') return text && '\t'
  if (/^[^"\r\n]$/.test(text)) return text
  throw misused('--delimiter must be one character, such as ";", or tab.')
}

type Source = { file: string; format: Format; delimiter: string | undefined; isResumed: boolean }
/** Where an import is. Its batches have keys of the run. */
type Progress = Place & { run: string }

async function importFile(settings: Settings, type: string, source: Source): Promise<void> {
  const { base } = settings
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const { file, format, delimiter } = source
  const path = `/${encodeURIComponent(base)}`
  const { json_schema } = (await send(
    settings,
    'GET',
    `${path}/record-types/${encodeURIComponent(type)}`,
  )) as {
    json_schema: unknown
  }
  const size = file === '-' ? undefined : await sizeOf(file)
  const marker = size === undefined ? undefined : `${file}.import`
  const target = `${serverUrl(settings)} ${base} ${type}`
  const start = await startOf(marker, target, source.isResumed)
  const bytes = { read: 0 }
  let written = 0
  const keep = async (progress: Progress) => marker && saveMark(marker, { target, ...progress })
  await untilInterrupted(async (isInterrupted) => {
    const records = readRecords(partsOf(file, bytes), { format, delimiter, shape: shapeOf(json_schema) })
    try {
      await keep(start)
      for await (const { batch, digest } of batchesOf(records, start)) {
        await writeBatch(settings, { path, type, run: start.run }, batch).catch((error: unknown) => {
          throw error instanceof Failure ? atLine(error, batch, written, marker) : error
        })
        written += batch.length
        await keep({ run: start.run, line: batch.at(-1)?.line ?? start.line, digest })
        showProgress(written, size && bytes.read / size)
        if (isInterrupted()) throw interruption(`${written} records are written.`, marker && RESUME)
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const mayBeWritten = written > 0 || start.line > 0 || error.body.error.code === UNREACHABLE
      if (marker && !mayBeWritten) await removeMark(marker)
      throw error.advice === undefined && written > 0 ? advised(error, correct(written, '', marker)) : error
    }
  })
  endProgress()
  if (marker) await removeMark(marker)
  note(`${written} records are written.\n`)
}

/**
 * Where an import starts. One that has written nothing for sure continues under its keys by itself.
 * @throws Failure for an interrupted import that is not resumed, because records without an id would be there twice
 */
async function startOf(marker: string | undefined, target: string, isResumed: boolean): Promise<Progress> {
  const found = marker === undefined ? undefined : await readMark(marker, target)
  if (found === undefined) return { run: randomUUID(), line: 0, digest: '' }
  const { run, line, digest } = found
  if (typeof run !== 'string' || typeof line !== 'number' || typeof digest !== 'string')
    throw misused(`${marker} cannot be read. Delete it to start from the beginning.`)
  if (line > 0 && !isResumed)
    throw misused(
      `An import of this file has written the lines up to ${line}. Continue with --resume, or delete ${marker} to write them again.`,
    )
  return { run, line, digest }
}

/** The key is that of the import and the content, so a batch whose answer was lost takes effect once. */
async function writeBatch(
  settings: Settings,
  { path, type, run }: { path: string; type: string; run: string },
  batch: readonly LineRecord[],
): Promise<void> {
  const operations = batch.map(({ record }) => ({
    type: record.id === undefined && record.external_id === undefined ? 'create_record' : 'upsert_record',
    record_type: type,
    ...record,
  }))
  const body = JSON.stringify({ operations })
  const key = createHash('sha256').update(`${run} ${batch[0]?.line} ${body}`).digest('hex')
  await send(settings, 'POST', `${path}/batch`, { body, key })
}

/** Names the line of the operation that failed, and says what is written. */
function atLine(failure: Failure, batch: readonly LineRecord[], before: number, marker?: string): Failure {
  const { error } = failure.body
  const details = error.details?.map((detail) => {
    const [, index, rest = ''] = /^\/operations\/(\d+)(.*)$/.exec(detail.path ?? '') ?? []
    const line = index === undefined ? undefined : batch[Number(index)]?.line
    return line === undefined ? detail : { ...detail, path: `line ${line}${rest}` }
  })
  const lines = `lines ${batch[0]?.line} to ${batch.at(-1)?.line}`
  const advice =
    error.code === UNREACHABLE
      ? `${before} records are written, perhaps also ${lines}.${marker ? ` ${RESUME} It writes none twice.` : ''}`
      : correct(before, `, none of ${lines}`, marker)
  return advised(new Failure({ error: { ...error, ...(details && { details }) } }), advice)
}

const UNREACHABLE = 'UNREACHABLE'
const RESUME = 'Continue with --resume.'
const correct = (written: number, more: string, marker: string | undefined): string =>
  `${written} records are written${more}. Correct the file${marker ? ', and continue with --resume' : ''}.`
const advised = (failure: Failure, advice: string): Failure =>
  new Failure(failure.body, { exitCode: failure.exitCode, advice, cause: failure })

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
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const stream = file === '-' ? process.stdin : createReadStream(file)
  try {
    for await (const chunk of stream) {
      bytes.read += (chunk as Buffer).length
      yield decoder.decode(chunk as Buffer, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw new SyntaxError('The text is not UTF-8. Save the file as UTF-8.')
    throw error
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    throw unreadable(file, error)
  }
}
