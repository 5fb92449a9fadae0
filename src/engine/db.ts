import { PrismaPg } from '@prisma/adapter-pg'
import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { LIMITS } from '../limits.ts'
import { type Prisma, PrismaClient } from './prisma/client.ts'
import { askedTooMuch, retryRaces, unreachable } from './sql-errors.ts'

/** A named SQL statement; the server plans it once a connection. Values are always bound. */
export type Statement = {
  readonly name: string
  readonly text: string
  /** Times come as the API writes them: as dates they would cost more than all else of a row. */
  readonly timesAsText?: true
  /** JSON comes as the database has it, for who passes it on or reads little of it; not so in a transaction. */
  readonly jsonAsText?: true
  /** Its text follows from a request, which asks too much when it takes all its time. */
  readonly asked?: true
}

/** Gives a statement the name it is prepared and traced by. */
export const statement = (name: string, text: string): Statement => ({ name, text })

/** A statement whose times come as the API writes them. */
export const timed = (plain: Statement): Statement => ({ ...plain, timesAsText: true })

const TIMES_AS_TEXT = parsing({ [pg.types.builtins.TIMESTAMPTZ]: utc })
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

/** The last time that was read: what is written together has one time in all its rows. */
let lastTime = { text: '', shown: '' }

/** `2026-01-31 09:30:00.5+00` as `2026-01-31T09:30:00.500Z`. */
function utc(text: string): string {
  if (text !== lastTime.text) lastTime = { text, shown: shownTime(text) }
  return lastTime.shown
}

function shownTime(text: string): string {
  if (text.length === 26 && text.endsWith('+00')) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  if (!text.endsWith('+00') || text.length > 26) return new Date(text).toISOString()
  const fraction = text.slice(20, -3).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`
}

const MOST_NAMES = 300
const shapes = new LRUCache<string, Statement>({ max: 1000 })
let named = 0

/**
 * A statement whose text follows from a request: named from its second use on, so that a shape that is asked again is
 * parsed once a connection. A connection never forgets a name, so their number is bounded.
 */
export function shaped(text: string, how: { jsonAsText?: true } = {}): Statement {
  const known = shapes.get(text)
  if (known?.name) return known
  const name = known && named < MOST_NAMES ? `shape_${++named}` : ''
  const next: Statement = { name, text, timesAsText: true, asked: true, ...how }
  shapes.set(text, next)
  return next
}

/** The database, or one transaction of it. `orm` is for configuration, `query` for what is hot or beyond the ORM. */
export type Db = {
  readonly orm: Prisma.TransactionClient
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>
  /** Runs `work` in one transaction: all of it is written, or nothing. Inside one already, joins it. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** The same for statements alone, at a third of the cost: there is no `orm` in it, unless it joins one that has it. */
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Repeats work that lost a race; inside a transaction it is the whole transaction that is repeated. */
  retry<T>(work: () => Promise<T>): Promise<T>
}

export type Database = Db & {
  readonly connectionString: string
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
  const plain = new PrismaClient({
    adapter: new PrismaPg(pool, { schema: 'plinth', statementNameGenerator: statementNames() }),
  })
  // The extension changes what is thrown and no shape, so the client keeps its type.
  const client = plain.$extends({
    query: { $allOperations: ({ args, query }) => translated(() => query(args)) },
  }) as unknown as PrismaClient
  return {
    connectionString,
    orm: client,
    query: (statement, values) => translated(() => ask(pool, statement, values)),
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

/** Past the ORM, on the same connections: a third of its cost for a statement. */
async function ask<Row>(
  connection: pg.Pool | pg.PoolClient,
  { name, text, timesAsText, jsonAsText, asked: isAsked }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const asked = {
    ...(name && { name }),
    text,
    values: [...values],
    ...(timesAsText && { types: jsonAsText ? TIMES_AND_JSON_AS_TEXT : TIMES_AS_TEXT }),
  }
  try {
    return (await connection.query(asked)).rows as Row[]
  } catch (thrown) {
    throw isAsked ? askedTooMuch(thrown) : thrown
  }
}

async function runStatements<T>(pool: pg.Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const done = await work(ofStatements(client))
    await client.query('COMMIT')
    return done
  } catch (thrown) {
    // A connection that cannot even undo is not given back.
    await client.query('ROLLBACK').catch((error: Error) => {
      broken = error
    })
    throw thrown
  } finally {
    client.release(broken)
  }
}

function ofStatements(client: pg.PoolClient): Db {
  const db: Db = {
    get orm(): never {
      throw new Error('This transaction is one of statements alone')
    },
    query: (statement, values) => ask(client, statement, values),
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return db
}

function inTransaction(tx: Prisma.TransactionClient): Db {
  const db: Db = {
    orm: tx,
    // "Unsafe" is about composing text: ours is a constant, and every value is bound.
    query: (statement, values) => tx.$queryRawUnsafe(statement.text, ...values),
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return db
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
