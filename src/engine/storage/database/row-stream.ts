import type { Socket } from 'node:net'
import pg from 'pg'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** Rows that arrived together. The first chunk of a stream may be empty: it has the columns. */
export type Chunk<Row> = { readonly fields: readonly pg.FieldDef[]; readonly rows: Row[] }

type Bounds = {
  /** Ends the stream: its client is gone, its rights have changed, or the server stops. */
  readonly signal: AbortSignal
  /** How long the database may take for the next rows. */
  readonly rowsMs: number
  /** Size limit of one row, for statements of users. */
  readonly rowBytes?: number
}

type DataRow = { readonly length: number }
/** Hook that the driver calls on its queries. Its types omit it. */
type DriverQuery = { handleDataRow(row: DataRow): void }
const driver = pg.Query.prototype as unknown as DriverQuery
type DriverResult = { readonly _result?: { readonly fields?: readonly pg.FieldDef[] } }

/** A query that counts the bytes of its rows. */
class CountedQuery extends pg.Query {
  bytes = 0
  largest = 0
  handleDataRow(row: DataRow): void {
    this.bytes += row.length
    this.largest = Math.max(this.largest, row.length)
    driver.handleDataRow.call(this, row)
  }
  get fields(): readonly pg.FieldDef[] {
    return (this as unknown as DriverResult)._result?.fields ?? []
  }
}

/**
 * Streams the rows of one statement with backpressure: the socket is paused while the reader has not taken what
 * arrived. Memory use is bounded by two chunks and one row. A stream that does not complete leaves its connection closed.
 * @throws if the database fails or is too slow, the reader is too slow, or the signal aborts
 */
export async function* streamRows<Row>(
  client: pg.ClientBase,
  config: pg.QueryConfig,
  { signal, rowsMs, rowBytes = Number.POSITIVE_INFINITY }: Bounds,
): AsyncGenerator<Chunk<Row>> {
  const { stream: socket } = (client as unknown as { connection: { stream: Socket } }).connection
  const query = new CountedQuery(config)
  const state: { end?: 'complete' | Error } = {}
  let rows: Row[] = []
  let readAt = socket.bytesRead
  let wake = () => {}
  const end = (how: 'complete' | Error): void => {
    if (state.end) return
    state.end = how
    if (how !== 'complete') socket.destroy()
    wake()
  }
  query.on('row', (row: Row) => {
    rows.push(row)
    readAt = socket.bytesRead
    if (query.largest > rowBytes) return end(rowTooLarge(rowBytes))
    if (query.bytes < LIMITS.streamedBytes) return
    socket.pause()
    wake()
  })
  query.on('end', () => end('complete'))
  query.on('error', (error: Error) => end(error))
  const stop = () => end(stopped())
  const within = (ms: number, error: () => Error) => setTimeout(() => end(error()), ms)
  const total = within(LIMITS.wholeResultMs, () => tooLong('The whole result', LIMITS.wholeResultMs))
  const watch = setInterval(() => {
    if (rows.length > 0) wake()
    if (socket.bytesRead - readAt > 2 * rowBytes + LIMITS.rowStreamSlackBytes) end(rowTooLarge(rowBytes))
  }, LIMITS.rowStreamWatchMs)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  else client.query(query)
  try {
    for (let isFirst = true; ; isFirst = false) {
      const late = within(rowsMs, () => tooLong('The next rows', rowsMs))
      if (!state.end && query.bytes < LIMITS.streamedBytes)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      clearTimeout(late)
      if (state.end instanceof Error) throw state.end
      const isLast = state.end === 'complete'
      const chunk = { fields: query.fields, rows }
      rows = []
      query.bytes = 0
      socket.resume()
      if (isFirst || chunk.rows.length > 0) {
        const unread = within(LIMITS.stalledReaderMs, () => tooLong('The client', LIMITS.stalledReaderMs))
        yield chunk
        clearTimeout(unread)
      }
      if (isLast) return
    }
  } finally {
    end(stopped())
    clearTimeout(total)
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
  }
}

const stopped = () =>
  oneFault('VALIDATION_ERROR', 'The stream was ended before its last row.', {
    path: '',
    code: 'stopped',
    message: 'The client left, the rights of the token changed, or the server stops. Send it again.',
  })

const tooLong = (what: string, ms: number) =>
  invalid({
    path: '',
    code: 'timeout',
    message: `${what} took longer than ${ms} ms. Send a narrower filter, or declare an index for it.`,
  })

const rowTooLarge = (bytes: number) =>
  invalid({
    path: '/query',
    code: 'too_large',
    message: `One row exceeds ${bytes} bytes. Select fewer columns, or parts of data.`,
    expected: bytes,
  })
