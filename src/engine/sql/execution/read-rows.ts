/** Runs one statement with a cursor and reads rows up to the size limit of a response. */

import type { FieldDef } from 'pg'
import Cursor from 'pg-cursor'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/turns.ts'
import type { SqlSession } from './sessions.ts'
import { kindOf } from './values.ts'

export type Column = { readonly name: string; readonly type: string }
export type SqlRows = {
  readonly columns: readonly Column[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  /** True when the result has more rows. */
  readonly hasMore: boolean
}

type ReadRequest = {
  text: string
  values: readonly unknown[]
  limit: number
  bytes: number
  timeoutMs: number
}

/**
 * Runs the statement in a READ ONLY transaction with a single snapshot; the first SELECT fixes both. Always
 * rolls back.
 */
export async function readOnce(session: SqlSession, request: ReadRequest): Promise<SqlRows> {
  const { client } = session
  await client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${request.timeoutMs}; SELECT 1`,
  )
  const cursor: Rows = client.query(
    new Cursor(HIDDEN + request.text, [...request.values], { rowMode: 'array', types: raw }),
  )
  try {
    return await readRows(session, cursor, request)
  } finally {
    // A closed connection has no cursor to close and no transaction to roll back.
    await Promise.race([cursor.close(), session.ended]).catch(() => {})
    await client.query('ROLLBACK').catch(() => {})
  }
}

/**
 * PostgreSQL logs the first 100 bytes of a statement that runs out of memory. They could contain a caller's
 * values, so the text starts with blanks.
 */
const HIDDEN = ' '.repeat(100)

type Rows = Cursor<(string | null)[]>
const raw = { getTypeParser: () => (text: string) => text } as never

async function readRows(session: SqlSession, cursor: Rows, { limit, bytes }: ReadRequest): Promise<SqlRows> {
  const rows: Record<string, unknown>[] = []
  let columns: Reader[] | undefined
  let left = bytes
  let largest = 0
  for (;;) {
    const count = Math.min(limit + 1 - rows.length, largest === 0 ? 1 : chunkOf(left, largest))
    const chunk = await readChunk(session, cursor, count, bytes)
    if (chunk === 'flood') {
      if (rows.length === 0) throw rowTooLarge(bytes)
      return toResult(columns ?? [], rows, true)
    }
    columns ??= readersOf(chunk.fields)
    for (const values of chunk.rows) {
      if (turnIsOver()) await nextTurn()
      const row = await toRow(columns, values)
      const size = Buffer.byteLength(JSON.stringify(row)) + 1
      if (size > bytes) throw rowTooLarge(bytes)
      if (rows.length === limit || size > left) return toResult(columns, rows, true)
      rows.push(row)
      left -= size
      largest = Math.max(largest, size)
    }
    if (chunk.rows.length < count) return toResult(columns, rows, false)
  }
}

/** The estimated number of rows that still fit. */
const chunkOf = (left: number, largest: number) =>
  Math.max(1, Math.min(MOST_ROWS_AT_ONCE, Math.floor(left / largest)))
const MOST_ROWS_AT_ONCE = 250

type Chunk = { rows: (string | null)[][]; fields: readonly FieldDef[] }

/**
 * Fetches the next rows. PostgreSQL sends a value of any size in full: if a chunk exceeds twice the response
 * limit, the connection is closed to bound memory.
 */
function readChunk(
  { socket }: SqlSession,
  cursor: Rows,
  count: number,
  bytes: number,
): Promise<Chunk | 'flood'> {
  const most = socket.bytesRead + 2 * bytes + CHUNK_SLACK
  return new Promise((resolve, reject) => {
    const watch = setInterval(() => {
      if (socket.bytesRead <= most) return
      clearInterval(watch)
      resolve('flood')
      socket.destroy()
    }, WATCH_MS)
    cursor.read(count, (error, rows, result) => {
      clearInterval(watch)
      if (error) reject(error)
      else resolve({ rows, fields: result.fields })
    })
  })
}

const CHUNK_SLACK = 1024 * 1024
const WATCH_MS = 20

const toResult = (columns: readonly Column[], rows: SqlRows['rows'], hasMore: boolean): SqlRows => ({
  columns: columns.map(({ name, type }) => ({ name, type })),
  rows,
  hasMore,
})

type Reader = Column & Omit<ReturnType<typeof kindOf>, 'name'>

/**
 * Checks the columns.
 * @throws VALIDATION_ERROR for duplicate names, since a JSON object would keep only one
 */
function readersOf(fields: readonly FieldDef[]): Reader[] {
  const seen = new Set<string>()
  return fields.map(({ name, dataTypeID }) => {
    if (seen.has(name)) throw sameName(name)
    seen.add(name)
    const kind = kindOf(dataTypeID)
    return { ...kind, name, type: kind.name }
  })
}

/** Values of this size or more are read asynchronously. */
const LONG_TEXT = 64 * 1024

async function toRow(columns: readonly Reader[], values: readonly (string | null)[]) {
  const row: [string, unknown][] = []
  for (const [i, { name, read, readLong }] of columns.entries()) {
    const text = values[i]
    const value =
      text === null || text === undefined ? null : text.length < LONG_TEXT ? read(text) : await readLong(text)
    row.push([name, value])
  }
  return Object.fromEntries(row)
}

const sameName = (name: string) =>
  invalid({
    path: '/query',
    code: 'duplicate_column',
    message: `Two columns of the result are named ${JSON.stringify(name)}. Rename one with AS.`,
    received: name,
  })

const rowTooLarge = (bytes: number) =>
  invalid({
    path: '/query',
    code: 'too_large',
    message: `One row exceeds the ${bytes} bytes of a response. Select fewer columns, or parts of data.`,
    expected: bytes,
  })
