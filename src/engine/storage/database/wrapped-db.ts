import type { CappedRows, RowCap } from './capped-query.ts'
import type { Closed, Db, Statement } from './client.ts'

/**
 * A database, or a transaction on it, for classes that change what is run or what surrounds it. A class, since an object
 * literal with a getter keeps what it sees until a major collection.
 */
export class WrappedDb implements Db {
  protected readonly inner: Db

  constructor(inner: Db) {
    this.inner = inner
  }
  get isTransaction(): boolean {
    return this.inner.isTransaction
  }
  get orm(): Db['orm'] {
    return this.inner.orm
  }
  query<Row>(statement: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]> {
    return this.inner.query<Row>(statement, values, closed)
  }
  queryCapped<Row>(
    statement: Statement,
    values: readonly unknown[],
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>> {
    return this.inner.queryCapped<Row>(statement, values, cap, closed)
  }
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.inner.transaction((tx) => this.within(tx, work))
  }
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.inner.statements((tx) => this.within(tx, work))
  }
  retry<T>(work: () => Promise<T>): Promise<T> {
    return this.inner.retry(work)
  }
  /** Runs the work of a transaction. */
  protected within<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
    return work(tx)
  }
}
