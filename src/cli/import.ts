/** `plinth import <type> <file>`: writes the records of a file, in batches. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { shapeOf } from '../schema-shape/read.ts'
import { type Call, call } from './command/client.ts'
import { configure, valued } from './command/command.ts'
import { Failure, misused, unreadable } from './command/failure.ts'
import { note, print } from './command/print.ts'
import { endProgress, interruption, showProgress, untilInterrupted } from './command/progress.ts'
import { type Flags, readSettings, type Settings, serverUrl, tokenFor } from './command/settings.ts'
import { batchesOf, type Place } from './record-files/batches.ts'
import { readCheckpoint, removeCheckpoint, saveCheckpoint } from './record-files/checkpoint.ts'
import { formatOf } from './record-files/format.ts'
import { loosened, schemaOfColumns } from './record-files/infer-columns.ts'
import { type Format, type LineRecord, readRecords } from './record-files/read-records.ts'

type ImportFlags = { format?: string; delimiter?: string; resume?: true; create?: true }

export function addImport(program: Command): void {
  configure(
    program.command('import').description('Write the records of a file: NDJSON, a JSON array, or CSV'),
  )
    .argument('<type>', 'the record type')
    .argument('<file>', 'the file; - for standard input')
    .addOption(
      valued(
        '--format <format>',
        'ndjson, which a JSON array is too, or csv (default: by the name of the file, else ndjson)',
      ),
    )
    .addOption(
      valued('--delimiter <char>', 'what separates the cells of CSV: one character, or tab (default: ,)'),
    )
    .option('--create', 'make the record type if there is none, with a schema inferred from the records')
    .option('--resume', 'continue after what an interrupted import has written')
    .action(async (type: string, file: string, { format, delimiter, resume, create }: ImportFlags) => {
      const flags = program.opts<Flags>()
      const settings = readSettings(flags)
      if (resume && file === '-') throw misused('--resume needs a file: standard input cannot be read again.')
      const form = { format: formatOf(format, file), delimiter: delimiterOf(delimiter) }
      const { written, made } = await importFile(settings, type, {
        ...{ file, ...form, isResumed: resume ?? false, mayCreate: create ?? false },
      })
      if (flags.json) print(`${JSON.stringify({ record_type: type, count: written })}\n`)
      else note(`${recordsAre(written)} written.${made}\n`)
    })
}

/** @throws Failure for what CSV cannot be separated by */
function delimiterOf(text: string | undefined): string | undefined {
  if (text === undefined || text === 'tab') return text && '\t'
  if (/^[^"\r\n]$/.test(text)) return text
  throw misused('--delimiter must be one character, such as ";", or tab.')
}

type Source = {
  file: string
  format: Format
  delimiter: string | undefined
  isResumed: boolean
  mayCreate: boolean
}
/** Where an import is, and whether it has made the type. Its batches have keys of the run. */
type Progress = Place & { run: string; hasCreated: boolean }

/** Returns how many records it wrote, and what it says of a type that it made. */
async function importFile(settings: Settings, type: string, source: Source) {
  const { base } = settings
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const { file, format, delimiter } = source
  const path = `/${encodeURIComponent(base)}`
  const typePath = `${path}/record-types/${encodeURIComponent(type)}`
  const known = await schemaAt(settings, typePath, source)
  const size = file === '-' ? undefined : await sizeOf(file)
  const marker = size === undefined ? undefined : `${file}.import`
  const target = `${serverUrl(settings)} ${base} ${type}`
  const start = await startOf(marker, target, source.isResumed)
  const bytes = { read: 0 }
  let written = 0
  const keep = async (progress: Progress) => marker && saveCheckpoint(marker, { target, ...progress })
  // The first batch makes the type, so that it is there with its first records or not at all.
  const hasCreated = start.hasCreated || known === undefined
  const isUnmade = hasCreated && start.line === 0
  const json_schema = isUnmade ? await schemaOfFile(source) : known
  let definitions = isUnmade ? [{ type: 'upsert_record_type', id: type, body: { json_schema } }] : []
  await untilInterrupted(async (isInterrupted) => {
    const records = readRecords(partsOf(file, bytes), { format, delimiter, shape: shapeOf(json_schema) })
    try {
      await keep({ ...start, hasCreated })
      for await (const { batch, digest } of batchesOf(records, start)) {
        const shift = definitions.length
        await writeBatch(settings, { path, type, run: start.run, definitions }, batch).catch(
          (error: unknown) => {
            throw error instanceof Failure ? atLine(error, batch, { before: written, shift, marker }) : error
          },
        )
        definitions = []
        written += batch.length
        await keep({ run: start.run, line: batch.at(-1)?.line ?? start.line, digest, hasCreated })
        showProgress(written, size && bytes.read / size)
        if (isInterrupted()) throw interruption(`${recordsAre(written)} written.`, marker && RESUME)
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const mayBeWritten = written > 0 || start.line > 0 || error.body.error.code === UNREACHABLE
      if (marker && !mayBeWritten) await removeCheckpoint(marker)
      throw error.advice === undefined && written > 0 ? advised(error, correct(written, '', marker)) : error
    }
  })
  endProgress()
  const made = hasCreated && definitions.length === 0 ? await inferSchema(settings, typePath) : ''
  if (marker) await removeCheckpoint(marker)
  return { written, made }
}

/**
 * The schema of the type; undefined if there is none and the import makes it.
 * @throws Failure
 */
async function schemaAt(settings: Settings, path: string, { mayCreate }: Source): Promise<unknown> {
  try {
    return ((await send(settings, 'GET', path)) as { json_schema: unknown }).json_schema
  } catch (error) {
    if (!(error instanceof Failure) || !isOfType(error)) throw error
    if (mayCreate) return undefined
    throw advised(error, 'To make the record type from the records of the file, pass --create.')
  }
}

/** Whether the type is absent, not its base. */
const isOfType = ({ body: { error } }: Failure): boolean =>
  error.details?.[0]?.code === 'record_type_not_found'

/** What a new type is made with. Cells have no types of their own, so those of a file are all read first. */
async function schemaOfFile({ file, format, delimiter }: Source): Promise<object> {
  if (format !== 'csv') return {}
  if (file === '-') throw misused('--create needs a file for CSV: it is read twice.')
  return schemaOfColumns(partsOf(file, { read: 0 }), delimiter).catch((error: unknown) => {
    throw error instanceof SyntaxError ? misused(error.message) : error
  })
}

/** Sets the schema of the type that the import has made. It says what it did. */
async function inferSchema(settings: Settings, path: string): Promise<string> {
  const { json_schema } = (await send(settings, 'GET', `${path}/infer`)) as { json_schema: object }
  const body = JSON.stringify({ json_schema: loosened(json_schema) })
  try {
    await send(settings, 'PATCH', path, { body })
  } catch (error) {
    // A sample of the records was read, and others do not fit it.
    if (!(error instanceof Failure) || error.body.error.code !== 'CONFLICT') throw error
    return ' The record type is made; no schema fits all of its records.'
  }
  return ' The record type is made, with the schema that was inferred: "plinth record-type get" shows it.'
}

/**
 * Where an import starts. One that has written nothing for sure continues under its keys by itself.
 * @throws Failure for an interrupted import that is not resumed, because records without an id would be there twice
 */
async function startOf(marker: string | undefined, target: string, isResumed: boolean): Promise<Progress> {
  const found = marker === undefined ? undefined : await readCheckpoint(marker, target)
  if (found === undefined) return { run: randomUUID(), line: 0, digest: '', hasCreated: false }
  const { run, line, digest, hasCreated } = found
  if (typeof run !== 'string' || typeof line !== 'number' || typeof digest !== 'string')
    throw misused(`${marker} cannot be read. Delete it to start from the beginning.`)
  if (line > 0 && !isResumed)
    throw misused(
      `An import of this file has written what comes up to line or item ${line}. Continue with --resume, or delete ${marker} to write them again.`,
    )
  return { run, line, digest, hasCreated: hasCreated === true }
}

/** The key is that of the import and the content, so a batch whose answer was lost takes effect once. */
async function writeBatch(
  settings: Settings,
  {
    path,
    type,
    run,
    definitions,
  }: { path: string; type: string; run: string; definitions: readonly object[] },
  batch: readonly LineRecord[],
): Promise<void> {
  const records = batch.map(({ record }) => ({
    type: record.id === undefined && record.external_id === undefined ? 'create_record' : 'upsert_record',
    record_type: type,
    ...record,
  }))
  const body = JSON.stringify({ operations: [...definitions, ...records] })
  const key = createHash('sha256').update(`${run} ${batch[0]?.line} ${body}`).digest('hex')
  await send(settings, 'POST', `${path}/batch`, { body, key })
}

type Written = { before: number; shift: number; marker: string | undefined }

/** Names the line of the operation that failed, and says what is written. `shift` operations come before the lines. */
function atLine(failure: Failure, batch: readonly LineRecord[], { before, shift, marker }: Written): Failure {
  const { error } = failure.body
  const noun = batch[0]?.noun ?? 'line'
  const details = error.details?.map((detail) => {
    const [, index, rest = ''] = /^\/operations\/(\d+)(.*)$/.exec(detail.path ?? '') ?? []
    const line = index === undefined ? undefined : batch[Number(index) - shift]?.line
    return line === undefined ? detail : { ...detail, path: `${noun} ${line}${rest}` }
  })
  const lines = `${noun}s ${batch[0]?.line} to ${batch.at(-1)?.line}`
  const advice =
    error.code === UNREACHABLE
      ? `${recordsAre(before)} written, perhaps also ${lines}.${marker ? ` ${RESUME} It writes none twice.` : ''}`
      : correct(before, `, none of ${lines}`, marker)
  return advised(new Failure({ error: { ...error, ...(details && { details }) } }), advice)
}

const UNREACHABLE = 'UNREACHABLE'
const recordsAre = (count: number): string => (count === 1 ? '1 record is' : `${count} records are`)
const RESUME = 'Continue with --resume.'
const correct = (written: number, more: string, marker: string | undefined): string =>
  `${recordsAre(written)} written${more}. Correct the file${marker ? ', and continue with --resume' : ''}.`
const advised = (failure: Failure, advice: string): Failure =>
  new Failure(failure.body, { exitCode: failure.exitCode, advice, cause: failure })

async function send(
  settings: Settings,
  method: 'GET' | 'POST' | 'PATCH',
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
    throw error instanceof Error && 'syscall' in error ? unreadable(file, error) : error
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    throw unreadable(file, error)
  }
}
