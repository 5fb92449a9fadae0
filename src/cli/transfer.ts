/** Uploads of contents from a file or standard input, and downloads to a file or standard output. */

import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { LIMITS } from '../foundation/limits.ts'
import { MEBIBYTE } from '../foundation/units.ts'
import { type Answer, type Call, noAnswer, open, PATIENCE_MS, read, received } from './command/client.ts'
import { misused, unreadable } from './command/failure.ts'
import { note, showJson } from './command/print.ts'
import { interruption } from './command/progress.ts'

/**
 * Sends the file as the body of the request; `-` is standard input. Its type is guessed unless the request has one.
 * @throws Failure
 */
export async function upload(
  url: string,
  token: string | undefined,
  request: Call,
  source: string,
): Promise<Answer> {
  const size = source === '-' ? undefined : await sizeOf(source)
  const chunks: AsyncIterator<Buffer> = (source === '-' ? process.stdin : createReadStream(source)).iterator()
  const first = await chunks.next().catch((error: unknown) => {
    throw unreadable(source, error)
  })
  // Loaded when it is needed: it has all media types.
  const { guessContentType } = await import('./command/content-type.ts')
  const type = guessContentType([request.path, source], first.done ? Buffer.alloc(0) : first.value)
  const headers = { 'content-type': type, ...request.headers }
  const bytes = Readable.from(resumed(first, chunks), { objectMode: false })
  const counted = bytes.pipe(progress('sent', size))
  bytes.on('error', (error: Error) => counted.destroy(error))
  const content = Readable.toWeb(counted) as NonNullable<RequestInit['body']>
  const never = new AbortController().signal
  // What the server makes of a content may take longer than the five minutes that `fetch` waits by itself.
  const { Agent } = await import('undici')
  const dispatcher = new Agent({ headersTimeout: 0 })
  const response = await open(url, token, { ...request, headers, content, dispatcher }, never).catch(
    (error: unknown) => {
      throw noAnswer(url, error)
    },
  )
  return read(await received(response).finally(() => dispatcher.destroy()), url, token)
}

/**
 * Writes the content to the file, or to standard output. Returns what was written to a file.
 * @throws Failure
 */
export async function download(
  url: string,
  token: string | undefined,
  request: Call,
  target: string | undefined,
): Promise<Answer | undefined> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), PATIENCE_MS)
  const response = await open(url, token, request, late.signal).catch((error: unknown) => {
    throw noAnswer(url, error)
  })
  clearTimeout(timer)
  if (!response.ok || !response.body) return read(await received(response), url, token)
  const bytes = Readable.fromWeb(response.body as ReadableStream<Uint8Array>)
  if (target === undefined) {
    await pipeline(bytes, process.stdout, { end: false })
    return undefined
  }
  const size = Number(response.headers.get('content-length') ?? 0)
  return replacing(target, async (place) => {
    const file = createWriteStream(place)
    await pipeline(bytes, progress('received', size), file).catch((error: unknown) => {
      // The cause of a broken connection is in the error of fetch.
      if ((error as Error).cause !== undefined) throw noAnswer(url, error)
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      throw misused(`The file "${target}" cannot be written (${code}).`)
    })
    return answerOf({ file: target, size: file.bytesWritten, etag: response.headers.get('etag') })
  })
}

/** Writes beside the file first, so that a file of the final name is whole. A device or a pipe is written as it is. */
async function replacing<T>(target: string, write: (place: string) => Promise<T>): Promise<T> {
  const file = await realpath(target).catch(() => target)
  const found = await stat(file).catch(() => undefined)
  if (found && !found.isFile()) return write(target)
  const part = `${file}.part`
  const ended = new AbortController()
  try {
    const written = await Promise.race([write(part), interrupted(ended.signal)])
    await rename(part, file)
    return written
  } finally {
    ended.abort()
    await rm(part, { force: true })
  }
}

const answerOf = (body: object): Answer => ({ text: JSON.stringify(body), body, replayed: false })

/**
 * The same, and says so, or prints it as JSON.
 * @throws Failure
 */
export async function downloadWhole(
  url: string,
  token: string | undefined,
  request: Call,
  {
    target,
    said,
    asJson = false,
  }: { target: string | undefined; said: string; asJson?: boolean | undefined },
): Promise<void> {
  const answer = await download(url, token, request, target)
  if (!answer) return
  if (asJson) showJson(answer)
  else note(`${said} ${target}.\n`)
}

/** @throws Failure with the first SIGINT */
const interrupted = (signal: AbortSignal) =>
  once(process, 'SIGINT', { signal }).then((): never => {
    throw interruption('No file was written.', undefined)
  })

/** The chunks, of which the first was read. */
async function* resumed(first: IteratorResult<Buffer>, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value
}

async function sizeOf(source: string): Promise<number> {
  try {
    return (await stat(source)).size
  } catch (error) {
    throw unreadable(source, error)
  }
}

/** Passes bytes on. On a terminal, shows how many there were. */
function progress(what: string, size: number | undefined): Transform {
  let done = 0
  let shownAt = 0
  const show = () => {
    if (!process.stderr.isTTY) return
    const share = size
      ? ` of ${(size / MEBIBYTE).toFixed(1)} MiB (${Math.floor((100 * done) / size)} %)`
      : ' MiB'
    process.stderr.write(`\r${(done / MEBIBYTE).toFixed(1)}${share} ${what} `)
    shownAt = Date.now()
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length
      if (Date.now() - shownAt > LIMITS.progressShownMs) show()
      next(null, chunk)
    },
    flush(next) {
      show()
      if (process.stderr.isTTY) note('\n')
      next()
    },
  })
}
