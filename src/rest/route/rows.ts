/** Answers of rows as CSV or NDJSON, streamed. */
import { Readable } from 'node:stream'
import negotiator from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { JsonRows } from '../../json/rows.ts'
import { csvLine } from '../../schema-shape/csv.ts'

const CSV = 'text/csv'
const NDJSON = 'application/x-ndjson'
/** Media types of rows beside JSON. */
export const ROW_TYPES = [CSV, NDJSON] as const
export type RowType = (typeof ROW_TYPES)[number]

/** `limit=all`: the whole result, which only these formats can have. */
export const ALL = Number.POSITIVE_INFINITY

/** The columns of a table, and the cells of its rows. */
export type Table = { columns: readonly string[]; cells: (row: Row) => string[] }
type Row = Readonly<Record<string, unknown>>
/** Rows that arrive together. The first chunk gives the table, from its rows where they tell more. */
type Rows = { rows: unknown; table: (rows: readonly Row[]) => Table }
/** Rows, and what JSON says of them in `meta`. */
export type RowsAnswer = { chunks: AsyncIterator<Rows>; meta?: PageMeta }
type PageMeta = { has_more?: boolean; next_cursor?: string; total?: number }

/** The format that the client prefers to JSON. */
export function rowTypeOf({ headers }: FastifyRequest): RowType | undefined {
  const type = negotiator.negotiate(headers.accept ?? '', ['application/json', ...ROW_TYPES])
  return ROW_TYPES.find((each) => each === type)
}

/** @throws VALIDATION_ERROR for a whole result as JSON */
export function refuseWhole({ limit }: { limit?: unknown }): void {
  if (limit !== ALL) return
  throw invalid({
    path: '/limit',
    code: 'needs_format',
    message: `limit "all" needs a format that streams. Send "Accept: ${CSV}" or "Accept: ${NDJSON}", or read page by page.`,
    allowed: [...ROW_TYPES],
  })
}

/** What a whole result cannot have, because it is no page. @throws VALIDATION_ERROR */
export function refuseBeside(others: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(others).find((name) => others[name] !== undefined && others[name] !== false)
  if (other === undefined) return
  throw invalid({
    path: `/${other}`,
    code: 'exclusive',
    message: `"${other}" cannot be combined with limit "all". Leave it out.`,
  })
}

/** One chunk, for a page. */
export async function* once<T>(chunk: T): AsyncGenerator<T> {
  yield chunk
}

/**
 * Sends rows. A stream that fails is cut, so that the client sees that it is not complete.
 * @throws what fails before the first rows
 */
export async function sendRows(
  request: FastifyRequest,
  reply: FastifyReply,
  type: RowType,
  { chunks, meta }: RowsAnswer,
): Promise<FastifyReply> {
  const texts = textsOf(chunks, type)
  const first = await texts.next()
  reply.type(`${type}; charset=utf-8`)
  if (meta?.has_more !== undefined) reply.header('x-has-more', String(meta.has_more))
  if (meta?.next_cursor !== undefined) reply.header('x-next-cursor', meta.next_cursor)
  if (meta?.total !== undefined) reply.header('x-total-count', meta.total)
  if (request.method === 'HEAD') {
    await texts.return(undefined)
    return reply.send(Readable.from([]))
  }
  return reply.send(streamOf(first, texts))
}

/** A stream of the chunks that are not empty, of which the first was read. The rest ends with it, also if nobody reads it. */
export function streamOf<T extends string | Buffer>(
  first: IteratorResult<T>,
  rest: AsyncGenerator<T>,
): Readable {
  const stream = Readable.from(resumed(first, rest), { objectMode: false })
  // A generator that nobody has begun ends without its `finally`: that of a client that left during the first chunk.
  return stream.once('close', () => void rest.return(undefined).catch(() => {}))
}

async function* resumed<T extends string | Buffer>(
  first: IteratorResult<T>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  for (let next = first; !next.done; next = await rest.next()) if (next.value.length > 0) yield next.value
}

async function* textsOf(chunks: AsyncIterator<Rows>, type: RowType): AsyncGenerator<string> {
  let table: Table | undefined
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const { rows, table: find } = next.value
      if (type === NDJSON) {
        yield await joined(rows instanceof JsonRows ? rows.texts : (rows as Row[]), lineOf)
        continue
      }
      const values = await parsed(rows)
      if (!table) {
        table = find(values)
        yield csvLine(table.columns)
      }
      const { cells } = table
      yield await joined(values, (row) => csvLine(cells(row)))
    }
  } finally {
    await chunks.return?.()
  }
}

const lineOf = (row: Row | string): string => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`

async function parsed(rows: unknown): Promise<readonly Row[]> {
  if (!(rows instanceof JsonRows)) return rows as Row[]
  const values: Row[] = []
  for (const text of rows.texts) {
    if (turnIsOver()) await nextTurn()
    values.push(JSON.parse(text) as Row)
  }
  return values
}

async function joined<T>(rows: readonly T[], text: (row: T) => string): Promise<string> {
  const lines: string[] = []
  for (const row of rows) {
    if (turnIsOver()) await nextTurn()
    lines.push(text(row))
  }
  return lines.join('')
}
