import pg from 'pg'
import { type CappedRows, type RowCap, runCapped } from './capped-query.ts'
import type { Statement } from './client.ts'
import { type Part, WEIGHTS } from './connection-shares.ts'
import { abandoned, askedTooMuch } from './errors.ts'
import type { DisconnectWatch, QueryCanceller } from './query-cancellation.ts'
import { TIMES_AND_JSON_AS_TEXT, TIMES_AS_TEXT } from './type-parsers.ts'

/** Runs a statement on a pool client without the ORM, at a third of its cost. */
export async function runStatement<Row>(
  client: pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
  timeoutMs: number,
): Promise<Row[]> {
  try {
    return (await run(client, configOf(statement, values))).rows as Row[]
  } catch (thrown) {
    throw statement.asked ? askedTooMuch(thrown, timeoutMs) : thrown
  }
}

const configOf = (
  { name, text, timesAsText, jsonAsText }: Statement,
  values: readonly unknown[],
): pg.QueryConfig => ({
  ...(name && { name }),
  text,
  values: [...values],
  ...(timesAsText && { types: jsonAsText ? TIMES_AND_JSON_AS_TEXT : TIMES_AS_TEXT }),
})

/**
 * Uses the callback API of the driver: its promise wrapper retains the rows until a major garbage collection.
 */
export const run = (client: pg.PoolClient, query: string | pg.QueryConfig): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result))
    void client.query(query as pg.QueryConfig, done)
  })

/** The pool that runs statements outside transactions, and their timeout. */
export type StatementPlace = {
  readonly pool: pg.Pool
  readonly timeoutMs: number
  readonly part: Part
  readonly stops: QueryCanceller
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

/** Variant for a page: keeps the rows that `cap` has room for. */
export const runCappedOnPool = <Row>(
  place: StatementPlace,
  statement: Statement,
  values: readonly unknown[],
  cap: RowCap,
  watch?: DisconnectWatch,
): Promise<CappedRows<Row>> =>
  onAny(place, statement, watch, async (client) => {
    const cancel = () => place.stops.cancel(client)
    try {
      return await runCapped<Row>(client, configOf(statement, values), cap, cancel)
    } catch (thrown) {
      throw statement.asked ? askedTooMuch(thrown, place.timeoutMs) : thrown
    }
  })

async function onAny<T>(
  { pool, part, isOwn }: StatementPlace,
  { asked }: Statement,
  watch: DisconnectWatch | undefined,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const weight = asked && !isOwn ? WEIGHTS.long : WEIGHTS.short
  let client: pg.PoolClient | undefined
  let isIn = false
  let isSound = true
  try {
    const turn = part.enter(weight)
    if (turn !== undefined) await turn
    isIn = true
    client = await pool.connect()
    watch?.runsOn(client)
    return await work(client)
  } catch (thrown) {
    isSound = isOfStatement(thrown)
    throw watch?.isGone ? abandoned(thrown) : thrown
  } finally {
    if (watch) await watch.end()
    client?.release(!isSound)
    if (isIn) part.leave(weight)
  }
}

/** Whether the error concerns only the statement, so that the connection can be reused. */
function isOfStatement(thrown: unknown): boolean {
  const error = thrown instanceof pg.DatabaseError ? thrown : (thrown as { cause?: unknown } | null)?.cause
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}
