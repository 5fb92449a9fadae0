import type { Cap, CappedRows } from './capped-query.ts'
import type { Prisma } from './prisma/client.ts'
import type { Statement } from './statement.ts'

export { type Statement, shaped, statement, timed } from './statement.ts'

/** Aborts when the caller has gone away. Asked for by whom it concerns only: to listen has its price. */
export type Closed = (() => AbortSignal) | undefined

/** The database, or one transaction of it. `orm` is for configuration, `query` for what is hot or beyond the ORM. */
export type Db = {
  /** What a transaction sees may never be committed, so nothing of it is remembered or shared. */
  readonly isTransaction: boolean
  readonly orm: Prisma.TransactionClient
  /** With `closed` a read that lasts is stopped when its caller goes; in a transaction it runs to its end. */
  query<Row>(statement: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]>
  /** Reads rows while `cap` leaves room for them. In a transaction all of them. */
  queryCapped<Row>(
    statement: Statement,
    values: readonly unknown[],
    cap: Cap,
    closed?: Closed,
  ): Promise<CappedRows<Row>>
  /** Runs `work` in one transaction: all of it is written, or nothing. Inside one already, joins it. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** The same for statements alone, at a third of the cost: there is no `orm` in it, unless it joins one that has it. */
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Repeats work that lost a race; inside a transaction it is the whole transaction that is repeated. */
  retry<T>(work: () => Promise<T>): Promise<T>
}
