/** Runs one statement with a cursor and reads rows up to the size limit of a response. */

import type pg from 'pg'
import type { FieldDef } from 'pg'
import Cursor from 'pg-cursor'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { streamRows } from '../../storage/database/row-stream.ts'
import type { SqlConnection } from './connection-pool.ts'
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

/** How the rows of a statement are kept: as JSON objects, or as the texts that PostgreSQL sent. */
type Form<Row> = {
  columns: readonly Reader[]
  read(values: readonly (string | null)[]): Promise<Row>
  bytesOf(row: Row): number
}

/** Rows as PostgreSQL's texts, for a caller that converts them itself. */
export type RawRows = {
  readonly columns: readonly Reader[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** The size of these rows. */
  readonly bytes: number
  /** Why the result has more rows than these, if it has. */
  readonly cut: 'rows' | 'bytes' | undefined
}

/**
 * Runs the statement in a READ ONLY transaction with a single snapshot; the first SELECT fixes both. Always
 * rolls back.
 */
export async function readOnce(connection: SqlConnection, request: ReadRequest): Promise<SqlRows> {
  const { columns, rows, cut } = await readAs(connection, request, asJson)
  return { columns: columns.map(({ name, type }) => ({ name, type })), rows, hasMore: cut !== undefined }
}

/** Runs the statement like `readOnce`, and keeps the texts of its values. */
export const readRaw = (connection: SqlConnection, request: ReadRequest): Promise<RawRows> =>
  readAs(connection, request, asTexts)

/** Some rows of a whole result. */
export type SqlChunk = Omit<SqlRows, 'hasMore'>

/** Streams the rows of a statement in a transaction like that of `readOnce`, which stays open. */
export async function* streamAll(
  { client }: SqlConnection,
  { text, values, timeoutMs, bytes }: Omit<ReadRequest, 'limit'>,
  signal: AbortSignal,
): AsyncGenerator<SqlChunk> {
  await begin(client, LIMITS.wholeResultMs)
  const config = { text: HIDDEN + text, values: [...values], rowMode: 'array', types: raw }
  const bounds = { signal, rowsMs: timeoutMs, rowBytes: bytes }
  let readers: Reader[] | undefined
  for await (const { fields, rows } of streamRows<(string | null)[]>(client, config, bounds)) {
    readers ??= named(fields.map(readerOf))
    const found: SqlRows['rows'][number][] = []
    for (const values of rows) {
      if (turnIsOver()) await nextTurn()
      found.push(await toRow(readers, values))
    }
    yield { columns: readers.map(({ name, type }) => ({ name, type })), rows: found }
  }
}

const named = (columns: Reader[]): Reader[] => {
  checkNames(columns)
  return columns
}

const begin = (client: pg.Client, timeoutMs: number) =>
  client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}; SELECT 1`,
  )

async function readAs<Row>(
  connection: SqlConnection,
  request: ReadRequest,
  formOf: (fields: readonly FieldDef[]) => Form<Row>,
): Promise<Cut<Row>> {
  const { client } = connection
  await begin(client, request.timeoutMs)
  const cursor: Rows = client.query(
    new Cursor(HIDDEN + request.text, [...request.values], { rowMode: 'array', types: raw }),
  )
  try {
    return await readRows(connection, cursor, request, formOf)
  } finally {
    // A closed connection has no cursor to close and no transaction to roll back.
    await Promise.race([cursor.close(), connection.ended]).catch(() => {})
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

type Cut<Row> = Omit<RawRows, 'rows'> & { readonly rows: readonly Row[] }

async function readRows<Row>(
  connection: SqlConnection,
  cursor: Rows,
  { limit, bytes }: ReadRequest,
  formOf: (fields: readonly FieldDef[]) => Form<Row>,
): Promise<Cut<Row>> {
  const rows: Row[] = []
  let form: Form<Row> | undefined
  let left = bytes
  let largest = 0
  const done = (cut: RawRows['cut']): Cut<Row> => ({
    columns: form?.columns ?? [],
    rows,
    bytes: bytes - left,
    cut,
  })
  for (;;) {
    const count = Math.min(limit + 1 - rows.length, largest === 0 ? 1 : chunkOf(left, largest))
    const chunk = await readChunk(connection, cursor, count, bytes)
    if (chunk === 'flood') {
      if (rows.length === 0) throw rowTooLarge(bytes)
      return done('bytes')
    }
    form ??= formOf(chunk.fields)
    for (const values of chunk.rows) {
      if (turnIsOver()) await nextTurn()
      const row = await form.read(values)
      const size = form.bytesOf(row) + 1
      if (size > bytes) throw rowTooLarge(bytes)
      if (rows.length === limit) return done('rows')
      if (size > left) return done('bytes')
      rows.push(row)
      left -= size
      largest = Math.max(largest, size)
    }
    if (chunk.rows.length < count) return done(undefined)
  }
}

/** The estimated number of rows that still fit. */
const chunkOf = (left: number, largest: number) =>
  Math.max(1, Math.min(LIMITS.sqlRowsAtOnce, Math.floor(left / largest)))

type Chunk = { rows: (string | null)[][]; fields: readonly FieldDef[] }

/**
 * Fetches the next rows. PostgreSQL sends a value of any size in full: if a chunk exceeds twice the response
 * limit, the connection is closed to bound memory. A cursor on a connection that ends between its statements says nothing.
 */
function readChunk(
  { client, socket }: SqlConnection,
  cursor: Rows,
  count: number,
  bytes: number,
): Promise<Chunk | 'flood'> {
  const most = socket.bytesRead + 2 * bytes + LIMITS.sqlChunkSlackBytes
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error('Connection terminated unexpectedly'))
    const settle = () => {
      clearInterval(watch)
      client.off('end', lost)
    }
    const watch = setInterval(() => {
      if (socket.destroyed) lost()
      if (socket.bytesRead <= most && !socket.destroyed) return
      settle()
      resolve('flood')
      socket.destroy()
    }, LIMITS.sqlWatchMs)
    client.once('end', lost)
    cursor.read(count, (error, rows, result) => {
      settle()
      if (error) reject(error)
      else resolve({ rows, fields: result.fields })
    })
  })
}

/** A column, with its PostgreSQL type and the reader of its texts. */
export type Reader = Column & { readonly typeId: number } & Omit<ReturnType<typeof kindOf>, 'name'>

const readerOf = ({ name, dataTypeID }: FieldDef): Reader => {
  const kind = kindOf(dataTypeID)
  return { ...kind, name, type: kind.name, typeId: dataTypeID }
}

const asJson = (fields: readonly FieldDef[]): Form<Readonly<Record<string, unknown>>> => {
  const columns = fields.map(readerOf)
  checkNames(columns)
  return {
    columns,
    read: (values) => toRow(columns, values),
    bytesOf: (row) => Buffer.byteLength(JSON.stringify(row)),
  }
}

const asTexts = (fields: readonly FieldDef[]): Form<readonly (string | null)[]> => ({
  columns: fields.map(readerOf),
  read: (values) => Promise.resolve(values),
  bytesOf: (values) => values.reduce((sum, text) => sum + (text?.length ?? 0) + 1, 0),
})

/**
 * Checks the names of the columns.
 * @throws VALIDATION_ERROR for duplicate names, since a JSON object would keep only one
 */
export function checkNames(columns: readonly Column[]): void {
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name)) throw sameName(name)
    seen.add(name)
  }
}

/** The row as a JSON object. */
export async function toRow(columns: readonly Reader[], values: readonly (string | null)[]) {
  const row: [string, unknown][] = []
  for (const [i, { name, read, readLong }] of columns.entries()) {
    const text = values[i]
    const value =
      text === null || text === undefined
        ? null
        : text.length < LIMITS.sqlLongTextChars
          ? read(text)
          : await readLong(text)
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
