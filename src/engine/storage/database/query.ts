import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { isTraced, tracedStatement } from '../../../foundation/tracing.ts'
import { type CappedRows, type RowCap, runCapped } from './capped-query.ts'
import type { Statement } from './client.ts'
import { type Part, WEIGHTS } from './connection-shares.ts'
import type { EqualReads } from './equal-reads.ts'
import { abandoned, queryTooExpensive } from './errors.ts'
import type { DisconnectWatch, QueryCanceller } from './query-cancellation.ts'

/** The statements of requests that a connection has prepared. It releases none of them while it lives. */
const preparedOn = new WeakMap<pg.ClientBase, Set<string>>()

function notePrepared(client: pg.ClientBase, { name, fromRequest }: Statement): void {
  if (!name || !fromRequest) return
  const names = preparedOn.get(client) ?? new Set()
  preparedOn.set(client, names.add(name))
}

/** Whether the connection should be replaced. */
export const hasTooManyPrepared = (client: pg.ClientBase): boolean =>
  (preparedOn.get(client)?.size ?? 0) >= LIMITS.statementNames

/** Runs a statement on a pool client without the ORM, at a third of its cost. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  statement: Statement,
  values: readonly unknown[],
  timeoutMs: number,
): Promise<Row[]> {
  notePrepared(client, statement)
  try {
    return (await run(client, configOf(statement, values))).rows as Row[]
  } catch (thrown) {
    throw statement.fromRequest ? queryTooExpensive(thrown, timeoutMs) : thrown
  }
}

export const configOf = (
  { name, text, timesAsText, jsonAsText }: Statement,
  values: readonly unknown[],
): pg.QueryConfig => ({
  ...(name && { name }),
  text,
  values: values.map((value) => (Array.isArray(value) ? literalOf(value) : value)),
  ...(timesAsText && { types: jsonAsText ? TIMES_AND_JSON_AS_TEXT : TIMES_AS_TEXT }),
})

const SPECIAL = /["\\]/

/** An array of texts, numbers and nulls as its literal, in a quarter of the driver's time, which joins piece by piece. It gets all others. */
function literalOf(values: readonly unknown[]): unknown {
  const parts: string[] = []
  for (const value of values) {
    if (value !== null && typeof value !== 'string' && typeof value !== 'number') return values
    parts.push(value === null ? 'NULL' : quoted(String(value)))
  }
  return `{${parts.join(',')}}`
}
const quoted = (text: string) => `"${SPECIAL.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

/**
 * Uses the callback API of the driver: its promise wrapper retains the rows until a major garbage collection.
 */
export const run = (client: pg.ClientBase, query: string | pg.QueryConfig): Promise<pg.QueryResult> =>
  isTraced
    ? tracedStatement(typeof query === 'string' ? undefined : query.name, () => send(client, query))
    : send(client, query)

const send = (client: pg.ClientBase, query: string | pg.QueryConfig): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result))
    void client.query(query as pg.QueryConfig, done)
  })

/** The pool that runs statements outside transactions, and their timeout. */
export type StatementPlace = {
  readonly pool: pg.Pool
  readonly timeoutMs: number
  readonly part: Part
  readonly canceller: QueryCanceller
  readonly equalReads: EqualReads
  /** The server's own work has no long statements. */
  readonly isOwn: boolean
}

/** Runs a statement on any pool connection. `watch` cancels it when the client disconnects. */
export const runOnPool = <Row>(
  place: StatementPlace,
  statement: Statement,
  values: readonly unknown[],
  watch?: DisconnectWatch,
): Promise<Row[]> =>
  onAny(place, statement, watch, (client) => runStatement<Row>(client, statement, values, place.timeoutMs))

/** Variant for a page: keeps the rows that `cap` has room for. Equal reads that wait for a connection share theirs. */
export function runCappedOnPool<Row>(
  place: StatementPlace,
  statement: Statement,
  values: readonly unknown[],
  cap: RowCap,
  watched: () => DisconnectWatch | undefined,
): Promise<CappedRows<Row>> {
  let watch: DisconnectWatch | undefined
  const run = (cap: RowCap, begins = () => {}) => {
    watch = watched()
    return readCapped<Row>(place, statement, values, cap, begins, watch)
  }
  if (!statement.fromRequest) return run(cap)
  return place.equalReads.read(statement, values, cap, { run, isGone: () => watch?.isGone ?? false })
}

const readCapped = <Row>(
  place: StatementPlace,
  statement: Statement,
  values: readonly unknown[],
  cap: RowCap,
  begins: () => void,
  watch: DisconnectWatch | undefined,
): Promise<CappedRows<Row>> =>
  onAny(place, statement, watch, async (client) => {
    begins()
    notePrepared(client, statement)
    const cancel = () => place.canceller.cancel(client)
    try {
      const page = () => runCapped<Row>(client, configOf(statement, values), cap, cancel)
      return await (isTraced ? tracedStatement(statement.name, page) : page())
    } catch (thrown) {
      throw statement.fromRequest ? queryTooExpensive(thrown, place.timeoutMs) : thrown
    }
  })

async function onAny<T>(
  { pool, part, isOwn }: StatementPlace,
  { fromRequest }: Statement,
  watch: DisconnectWatch | undefined,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const weight = fromRequest && !isOwn ? WEIGHTS.long : WEIGHTS.short
  let client: pg.PoolClient | undefined
  let isIn = false
  let isSound = true
  try {
    const turn = part.enter(weight)
    if (turn !== undefined) await turn
    isIn = true
    client = await pool.connect()
    // A client that left meanwhile says nothing about the connection.
    watch?.runsOn(client)
    isSound = false
    const result = await work(client)
    isSound = true
    return result
  } catch (thrown) {
    isSound ||= isOfStatement(thrown)
    throw watch?.isGone ? abandoned(thrown) : thrown
  } finally {
    if (watch) await watch.end()
    client?.release(!isSound || hasTooManyPrepared(client))
    if (isIn) part.leave(weight)
  }
}

/** Whether the error concerns only the statement, so that the connection can be reused. */
function isOfStatement(thrown: unknown): boolean {
  const error = thrown instanceof pg.DatabaseError ? thrown : (thrown as { cause?: unknown } | null)?.cause
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}

/** Type parsers that return timestamps in API format. */
const TIMES_AS_TEXT = parsing({ [pg.types.builtins.TIMESTAMPTZ]: utc })
/** Type parsers that also return JSON as text. */
const TIMES_AND_JSON_AS_TEXT = parsing({
  [pg.types.builtins.TIMESTAMPTZ]: utc,
  [pg.types.builtins.JSONB]: (text) => text,
})

function parsing(own: Record<number, (text: string) => string>): pg.CustomTypesConfig {
  return {
    getTypeParser: (type: number, format?: 'text' | 'binary') =>
      own[type] ?? (pg.types.getTypeParser(type, format as 'text') as never),
  }
}

type Time = { readonly text: string; readonly shown: string }
/** Cache of the last two parsed timestamps: rows of one write share them. */
let last: Time = { text: '', shown: '' }
let before = last

/** Formats `2026-01-31 09:30:00.5+00` as `2026-01-31T09:30:00.500Z`. */
function utc(text: string): string {
  if (text === last.text) return last.shown
  const found = text === before.text ? before : { text, shown: shownTime(text) }
  before = last
  last = found
  return found.shown
}

function shownTime(text: string): string {
  if (text.length === 26 && text.endsWith('+00')) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  if (!text.endsWith('+00') || text.length > 26) return new Date(text).toISOString()
  const fraction = text.slice(20, -3).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`
}
