import type pg from 'pg'
import type { Prisma } from '../prisma/client.ts'
import type { Db } from './client.ts'
import { run, runStatement, type StatementPlace } from './query.ts'

/** Runs work in a transaction of statements alone. */
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
    // A connection that cannot even undo is not given back.
    await run(client, 'ROLLBACK').catch((error: Error) => {
      broken = error
    })
    throw thrown
  } finally {
    client.release(broken)
  }
}

function ofStatements(client: pg.PoolClient, timeoutMs: number): Db {
  const db: Db = {
    isTransaction: true,
    get orm(): never {
      throw new Error('This transaction is one of statements alone')
    },
    query: (statement, values) => runStatement(client, statement, values, timeoutMs),
    queryCapped: async (statement, values) => whole(await runStatement(client, statement, values, timeoutMs)),
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return db
}

const whole = <Row>(rows: Row[]) => ({ rows, isCut: false })

/** A transaction of the ORM, and statements in it. */
export function inTransaction(tx: Prisma.TransactionClient): Db {
  const db: Db = {
    isTransaction: true,
    orm: tx,
    // "Unsafe" is about composing text: ours is a constant, and every value is bound.
    query: (statement, values) => tx.$queryRawUnsafe(statement.text, ...values),
    queryCapped: async (statement, values) => whole(await tx.$queryRawUnsafe(statement.text, ...values)),
    transaction: (work) => work(db),
    statements: (work) => work(db),
    retry: (work) => work(),
  }
  return db
}
