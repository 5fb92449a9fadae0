/** The database interface: ORM for configuration, named statements for the hot paths, transactions. */

import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Prisma } from '../../prisma/client.ts'
import type { CappedRows, RowCap } from './capped-query.ts'

/** Returns a signal that aborts when the client disconnects. A function, because listening has a cost. */
export type Closed = (() => AbortSignal) | undefined

/**
 * The database, or one transaction on it. `orm` is for configuration, `query` for hot paths and for SQL that
 * the ORM cannot express.
 */
export type Db = {
  /** Reads in a transaction may see uncommitted data, so they bypass caches and request batching. */
  readonly isTransaction: boolean
  readonly orm: Prisma.TransactionClient
  /**
   * With `closed`, a long read is cancelled when the client disconnects. Statements in a transaction always
   * complete.
   */
  query<Row>(statement: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]>
  /** Reads rows while `cap` has room for them. Reads all rows in a transaction. */
  queryCapped<Row>(
    statement: Statement,
    values: readonly unknown[],
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>>
  /** Runs `work` in one transaction. Joins the current transaction if there is one. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Transaction without `orm`, at a third of the cost. Joins the current transaction if there is one. */
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /**
   * Retries work after a race with another writer. Inside a transaction, the outermost transaction is
   * retried.
   */
  retry<T>(work: () => Promise<T>): Promise<T>
}

/** A named prepared statement. The server plans it once per connection. Values are always bound. */
export type Statement = {
  readonly name: string
  readonly text: string
  /** Return timestamps as API strings. Date objects would dominate the cost of a row. */
  readonly timesAsText?: true
  /**
   * Return JSON columns as text, for callers that pass them on or parse few of them. Not supported in a
   * transaction.
   */
  readonly jsonAsText?: true
  /** The statement text derives from a request, so a timeout is the caller's error. */
  readonly fromRequest?: true
  /** A standby may answer it: it is a read of a client that may be some moments old. */
  readonly mayLag?: true
}

/** Creates a statement with the name for preparing and tracing. */
export const statement = (name: string, text: string): Statement => ({ name, text })

/** Variant of a statement that returns timestamps as API strings. */
export const timed = (plain: Statement): Statement => ({ ...plain, timesAsText: true })

/** Variant of a read that a standby may answer. What decides on a write, or follows a notice of one, must not lag. */
export const lagging = (plain: Statement): Statement => ({ ...plain, mayLag: true })

const shapes = new LRUCache<string, Statement>({
  max: 1000,
  maxSize: LIMITS.statementTextsChars,
  maxEntrySize: LIMITS.namedStatementChars,
  sizeCalculation: (_, text) => text.length || 1,
})
let named = 0

/**
 * Statement whose text derives from a request. It gets a name on its second use, so that repeated shapes are
 * parsed once per connection.
 */
export function shaped(text: string, how: { jsonAsText?: true } = {}): Statement {
  const known = shapes.get(text)
  if (known?.name) return known
  const name = known ? `shape_${++named}` : ''
  const next: Statement = { name, text, timesAsText: true, fromRequest: true, ...how }
  shapes.set(text, next)
  return next
}
