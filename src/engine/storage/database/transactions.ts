import type pg from 'pg'
import type { Prisma } from '../../prisma/client.ts'
import type { CappedRows } from './capped-query.ts'
import type { Db, Statement } from './client.ts'
import { hasTooManyPrepared, run, runStatement, type StatementPlace } from './query.ts'
import type { TransactionConnection } from './transaction-connection.ts'

/** Runs a transaction of statements without the ORM. */
export async function runStatements<T>(
  { pool, timeoutMs }: StatementPlace,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await run(client, 'BEGIN')
    const done = await work(ofStatements(client, timeoutMs))
    await run(client, 'COMMIT')
    return done
  } catch (thrown) {
    // Discard a connection whose rollback fails.
    await run(client, 'ROLLBACK').catch((error: Error) => {
      broken = error
    })
    throw thrown
  } finally {
    client.release(broken ?? hasTooManyPrepared(client))
  }
}

/** The transaction that is open on a connection. */
export const ofStatements = (client: pg.ClientBase, timeoutMs: number): Db =>
  new OpenTransaction(client, timeoutMs)

// A class: an object literal with a getter gets a hidden class of its own each time, which keeps what it sees until a major collection.
class OpenTransaction implements Db {
  readonly isTransaction = true
  readonly #client: pg.ClientBase
  readonly #timeoutMs: number

  constructor(client: pg.ClientBase, timeoutMs: number) {
    this.#client = client
    this.#timeoutMs = timeoutMs
  }
  get orm(): never {
    throw new Error('Invariant violated: a transaction of statements has no ORM client')
  }
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return runStatement(this.#client, statement, values, this.#timeoutMs)
  }
  async queryCapped<Row>(statement: Statement, values: readonly unknown[]): Promise<CappedRows<Row>> {
    return whole(await this.query<Row>(statement, values))
  }
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return work(this)
  }
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return work(this)
  }
  retry<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }
}

const whole = <Row>(rows: Row[]) => ({ rows, isCut: false })

/** An ORM transaction, which can also run statements: on its connection, without the ORM. */
export function inTransaction(
  tx: Prisma.TransactionClient,
  connection: TransactionConnection,
  timeoutMs: number,
): Db {
  // Without a name: planned for its values.
  const query = async <Row>({ text, timesAsText }: Statement, values: readonly unknown[]) => {
    const plain = { name: '', text, ...(timesAsText && { timesAsText }) }
    return runStatement<Row>(connection.client, plain, values, timeoutMs)
  }
  const db: Db = {
    isTransaction: true,
    orm: tx,
    query,
    queryCapped: async <Row>(statement: Statement, values: readonly unknown[]) =>
      whole(await query<Row>(statement, values)),
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return db
}
