import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { LIMITS } from '../limits.ts'
import { askAny } from './asking.ts'
import type { Db } from './db.ts'
import { PrismaClient } from './prisma/client.ts'
import { retryRaces, unreachable } from './sql-errors.ts'
import { openStops, type Stops } from './stops.ts'
import { inTransaction, runStatements } from './transactions.ts'
import { Watch } from './watch.ts'

export type Database = Db & {
  readonly connectionString: string
  readonly stops: Stops
  /** One round trip; throws when the database is not reachable. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How many connections a process holds: enough to keep two cores of PostgreSQL busy, few enough to share. */
const POOL_SIZE = 12

export function openDatabase(connectionString: string, onIdleError: (error: Error) => void): Database {
  const pool = new pg.Pool({
    connectionString,
    max: POOL_SIZE,
    application_name: 'plinth',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    idleTimeoutMillis: 60_000,
    // Nothing here looks up one key twice in a statement: a memory of what was found is all cost.
    options: '-c enable_memoize=off',
    // Bounds every statement, whoever wrote it: none outlives the request that asked for it.
    statement_timeout: LIMITS.requestTimeoutMs,
    idle_in_transaction_session_timeout: LIMITS.requestTimeoutMs,
  })
  pool.on('error', onIdleError)
  // One that is lost in use tells whoever waits for it, and with nobody to hear its own words they would end the process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const plain = new PrismaClient({
    adapter: new PrismaPg(pool, { schema: 'plinth', statementNameGenerator: statementNames() }),
  })
  // The extension changes what is thrown and no shape, so the client keeps its type.
  const client = plain.$extends({
    query: { $allOperations: ({ args, query }) => translated(() => query(args)) },
  }) as unknown as PrismaClient
  const stops = openStops(connectionString)
  return {
    connectionString,
    stops,
    orm: client,
    query: (statement, values, closed) =>
      translated(() => askAny(pool, statement, values, closed && new Watch(closed, stops))),
    transaction: (work) =>
      retryRaces(() =>
        translated(() =>
          client.$transaction((tx) => work(inTransaction(tx)), {
            maxWait: LIMITS.connectionWaitMs,
            timeout: LIMITS.requestTimeoutMs,
          }),
        ),
      ),
    statements: (work) => retryRaces(() => translated(() => runStatements(pool, work))),
    retry: retryRaces,
    ping: async () => void (await pool.query('SELECT 1')),
    close: async () => {
      await client.$disconnect()
      await pool.end()
      await stops.close()
    },
  }
}

/** Says of a database that is away that it is, whichever way it was asked. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw unreachable(thrown) ?? thrown
  }
}

/** Prepared-statement names for the ORM's own SQL, a bounded number of them. */
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
