/** The change feed as an endless list. */
import { errorOf, PlinthError, unreachable } from './errors.ts'
import { type Http, pause, segment } from './http.ts'

export type Change = {
  seq: number
  at: string
  actor: { token_id: string | null; name: string; via: string }
  request_id: string
  kind: string
  record_type: string | null
  id: string
  operation: string
  version: number
  diff: { op: string; path: string; value?: unknown }[]
  cause: string | null
}

export type ChangesOptions = {
  /** Entries after this one; from now on by default. */
  after?: number
  record_type?: string
  kind?: string
  operation?: string
  signal?: AbortSignal
}

const PAUSE_MS = 1000
/** How often in a row the server may be away. */
const TRIES = 30

/**
 * Follows the changes of a base. Connects again after the last entry when the connection breaks, so that none is
 * missed or repeated. Ends when the signal aborts.
 * @throws PlinthError if the server refuses, or stays away for half a minute
 */
export async function* followChanges(
  http: Http,
  base: string,
  { signal, ...filters }: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  let lastId: string | undefined
  for (let away = 0; !signal?.aborted; ) {
    try {
      const response = await http.open(`${segment(base)}/changes/stream`, {
        query: filters,
        headers: { accept: 'text/event-stream', 'last-event-id': lastId },
        signal,
      })
      if (!response.ok || !response.body) throw errorOf(response.status, await response.text())
      for await (const { id, data } of readEvents(response.body)) {
        away = 0
        lastId = id ?? lastId
        if (data !== '') yield JSON.parse(data) as Change
      }
    } catch (error) {
      if (signal?.aborted) return
      const isRefused = error instanceof PlinthError && ![429, 502, 503, 504].includes(error.status)
      if (isRefused) throw error
      if (lastId === undefined || ++away >= TRIES)
        throw error instanceof PlinthError ? error : unreachable('The change feed', error)
    }
    await pause(PAUSE_MS, signal).catch(() => {})
  }
}

/** The events of a `text/event-stream`, with LF or CR LF, as servers write it. */
async function* readEvents(body: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) yield readBlock(block)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function readBlock(block: string): { id: string | undefined; data: string } {
  const lines = block.split(/\r?\n/)
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart())
  return { id: valuesOf('id').at(-1), data: valuesOf('data').join('\n') }
}
