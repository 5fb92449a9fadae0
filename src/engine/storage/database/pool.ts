import { PrismaPg } from '@prisma/adapter-pg'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../foundation/limits.ts'
import { PrismaClient } from '../../prisma/client.ts'
import type { CappedRows, RowCap } from './capped-query.ts'
import type { Closed, Db, Statement } from './client.ts'
import { openShares, tooMuchAtOnce, WEIGHTS, type Weight } from './connection-shares.ts'
import { limitResponseTime } from './deadline.ts'
import { EqualReads } from './equal-reads.ts'
import { translated, unreachable } from './errors.ts'
import { runCappedOnPool, runOnPool, type StatementPlace } from './query.ts'
import { DisconnectWatch, openQueryCanceller, type QueryCanceller } from './query-cancellation.ts'
import { type Found, openReadiness } from './readiness.ts'
import { retryRaces } from './retry-races.ts'
import { openSnapshots, type Snapshots } from './snapshots.ts'
import { startingOn, TransactionConnection, TransactionPool } from './transaction-connection.ts'
import { inTransaction, runStatements } from './transactions.ts'

/** The connection pool as the server uses it. */
export type Database = Db & {
  readonly connectionString: string
  readonly canceller: QueryCanceller
  readonly snapshots: Snapshots
  /** The database for one token, with the token's share of the connections. */
  of(tokenId: string): Db
  /** A separate share of the connections for the server's own work. */
  part(): Db
  /** Connections in use, queued work, and the number of rejections so far. */
  load(): { running: number; waiting: number; refused: number }
  /** The current readiness of the database. */
  readiness(): Promise<Found>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** Pool size of the process. */
  readonly connections?: number
  /** Timeout of a statement or a transaction. */
  readonly timeoutMs?: number
}

export function openDatabase(
  connectionString: string,
  onIdleError: (error: Error) => void,
  { connections = LIMITS.databaseConnections, timeoutMs = LIMITS.requestTimeoutMs }: DatabaseOptions = {},
): Database {
  const waitMs = Math.min(LIMITS.connectionWaitMs, timeoutMs)
  const pool = new TransactionPool({
    connectionString,
    max: connections,
    application_name: 'plinth',
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // No statement looks up the same key twice, so memoize nodes only add cost. Hours and days are those of UTC, on any database.
    options: '-c enable_memoize=off -c timezone=UTC',
    // Time limit of every statement, so that none outlives its request.
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeoutMs,
  })
  pool.on('error', onIdleError)
  // A lost connection reports its error to the pending query. Without a listener, its error event would end
  // the process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  limitResponseTime(pool, timeoutMs + LIMITS.silenceMs)
  const plain = new PrismaClient({
    adapter: new PrismaPg(pool, { schema: 'plinth', statementNameGenerator: statementNames() }),
  })
  // The extension changes only errors, so the client type stays valid.
  const client = plain.$extends({
    query: { $allOperations: ({ args, query }) => translated(() => query(args)) },
  }) as unknown as PrismaClient
  const canceller = openQueryCanceller(connectionString)
  const shares = openShares(connections, waitMs, whyLate(canceller))
  const part = (isOwn: boolean) =>
    new View({
      ...{ pool, timeoutMs, isOwn, client, canceller },
      ...{ part: shares.part(isOwn), equalReads: new EqualReads() },
    })
  const tokens = new LRUCache<string, Db>({ max: LIMITS.tokenClients })
  return Object.assign(part(true), {
    connectionString,
    canceller,
    snapshots: openSnapshots(connectionString, canceller, timeoutMs, () =>
      openDatabase(connectionString, onIdleError, { connections: 1, timeoutMs: LIMITS.wholeResultMs }),
    ),
    part: () => part(true),
    of: (tokenId: string) => {
      const known = tokens.get(tokenId)
      if (known) return known
      const made = part(false)
      tokens.set(tokenId, made)
      return made
    },
    load: shares.load,
    readiness: openReadiness(canceller),
    close: async () => {
      await client.$disconnect()
      await pool.end()
      await canceller.close()
    },
  })
}

type Inner = StatementPlace & { readonly client: PrismaClient }

/** The database through one share of its connections. */
class View implements Db {
  readonly isTransaction = false
  readonly retry = retryRaces
  readonly #inner: Inner
  #orm: PrismaClient | undefined

  constructor(inner: Inner) {
    this.#inner = inner
  }
  get orm(): PrismaClient {
    this.#orm ??= this.#inner.client.$extends({
      query: { $allOperations: ({ args, query }) => this.#within(WEIGHTS.short, () => query(args)) },
    }) as unknown as PrismaClient
    return this.#orm
  }
  query<Row>(statement: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]> {
    const inner = this.#inner
    return translated(() =>
      runOnPool<Row>(inner, statement, values, closed && new DisconnectWatch(closed, inner.canceller)),
    )
  }
  queryCapped<Row>(
    statement: Statement,
    values: readonly unknown[],
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>> {
    const inner = this.#inner
    const watched = () => closed && new DisconnectWatch(closed, inner.canceller)
    return translated(() => runCappedOnPool<Row>(inner, statement, values, cap, watched))
  }
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    const { client, timeoutMs } = this.#inner
    const bounds = { maxWait: LIMITS.connectionWaitMs, timeout: timeoutMs }
    return this.#alone(() => {
      const connection = new TransactionConnection()
      return startingOn(connection, () =>
        client.$transaction((tx) => work(inTransaction(tx, connection, timeoutMs)), bounds),
      )
    })
  }
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#alone(() => runStatements(this.#inner, work))
  }
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return retryRaces(() => this.#within(WEIGHTS.transaction, () => translated(work)))
  }
  async #within<T>(weight: Weight, work: () => Promise<T>): Promise<T> {
    const { part } = this.#inner
    await part.enter(weight)
    try {
      return await work()
    } finally {
      part.leave(weight)
    }
  }
}

/** Determines whether the database is busy or unreachable. Concurrent timeouts share one probe. */
function whyLate(canceller: QueryCanceller): () => Promise<Error> {
  let pending: Promise<Error | undefined> | undefined
  const checkDatabase = () =>
    canceller.ping().then(
      () => undefined,
      (thrown) => unreachable(thrown) ?? (thrown as Error),
    )
  return async () => {
    pending ??= checkDatabase().finally(() => {
      pending = undefined
    })
    return (await pending) ?? tooMuchAtOnce()
  }
}

/** Bounded set of prepared-statement names for the SQL of the ORM. */
function statementNames() {
  const names = new Map<string, string>()
  return ({ sql }: { sql: string }): string => {
    const known = names.get(sql)
    if (known) return known
    if (names.size >= 500) return ''
    const name = `orm_${names.size}`
    names.set(sql, name)
    return name
  }
}
