import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Db, Statement } from './client.ts'
import { openSlots, type Slots } from './concurrency-limit.ts'
import { queryTooExpensive, translated, unreachable } from './errors.ts'
import { configOf, run } from './query.ts'
import type { QueryCanceller } from './query-cancellation.ts'
import { type Chunk, streamRows } from './row-stream.ts'
import { ofStatements } from './transactions.ts'

/** One state of the database, on a connection of its own: a slow reader holds none of the pool. */
export type Snapshot = {
  readonly db: Db
  /** Streams the rows of a last statement. */
  rows<Row>(statement: Statement, values: readonly unknown[], signal: AbortSignal): AsyncGenerator<Chunk<Row>>
  /** Runs in any case, also twice. */
  close(): void
}

/** Snapshots for whole results. Each token has a bounded number of them. */
export type Snapshots = {
  readonly slots: Slots
  /**
   * `patienceMs`: how long a statement, or the reader between two of them, may take; by default, as in a request.
   * @throws RATE_LIMITED when none gets free in time
   */
  open(tokenId: string, patienceMs?: number): Promise<Snapshot>
  /**
   * Runs a transaction that may take as long as a whole result, on a connection of its own.
   * @throws RATE_LIMITED when none gets free in time
   */
  write<T>(tokenId: string, work: (tx: Db) => Promise<T>): Promise<T>
}

export function openSnapshots(
  connectionString: string,
  canceller: QueryCanceller,
  timeoutMs: number,
  openWriter: () => Db & { close(): Promise<void> },
): Snapshots {
  const slots = openSlots(LIMITS.wholeResults, LIMITS.wholeResultsOfToken, 'whole results')
  return {
    slots,
    async write(tokenId, work) {
      const free = await slots.wait(tokenId)
      const writer = openWriter()
      try {
        return await writer.transaction(work)
      } finally {
        await writer.close()
        free()
      }
    },
    async open(tokenId, patienceMs = timeoutMs) {
      const free = await slots.wait(tokenId)
      const client = new pg.Client({
        connectionString,
        application_name: 'plinth',
        connectionTimeoutMillis: LIMITS.connectionWaitMs,
        keepAlive: true,
        options: '-c enable_memoize=off',
        statement_timeout: patienceMs,
        idle_in_transaction_session_timeout: patienceMs,
      })
      // A lost connection reports its error to the pending query.
      client.on('error', () => {})
      let isComplete = true
      const close = () => {
        // A statement that still runs notices a closed connection only when it has a row to send.
        if (!isComplete) void canceller.terminate(client)
        isComplete = true
        client.end().catch(() => {})
        free()
      }
      try {
        await translated(() => client.connect())
        await run(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      } catch (thrown) {
        close()
        throw thrown
      }
      return {
        db: ofStatements(client, patienceMs),
        async *rows<Row>(statement: Statement, values: readonly unknown[], signal: AbortSignal) {
          await run(client, `SET LOCAL statement_timeout = ${LIMITS.wholeResultMs}`)
          isComplete = false
          try {
            yield* streamRows<Row>(client, configOf(statement, values), { signal, rowsMs: patienceMs })
            isComplete = true
          } catch (thrown) {
            throw queryTooExpensive(unreachable(thrown) ?? thrown, patienceMs)
          }
        },
        close,
      }
    },
  }
}
