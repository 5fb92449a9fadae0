/** The connection of an ORM transaction, so that statements run on it without the ORM. */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/** What ends a transaction of the ORM, which it sends when its time is over, too. */
const ENDS = new Set(['COMMIT', 'ROLLBACK'])

/** The connection of a transaction, from its start to its end. */
export class TransactionConnection {
  #client: pg.PoolClient | undefined
  #isOver = false

  /** Gives the ORM a client that notes the end of the transaction. */
  lend(client: pg.PoolClient): pg.PoolClient {
    this.#client = client
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): unknown => {
          if (name === 'query' && ENDS.has((args[0] as { text?: string } | undefined)?.text ?? ''))
            this.#isOver = true
          return Reflect.apply(value, target, args)
        }
      },
    })
  }

  get isTaken(): boolean {
    return this.#client !== undefined
  }

  /**
   * The connection.
   * @throws when the transaction is over: it has timed out, and the connection may be another's
   */
  get client(): pg.PoolClient {
    if (!this.#client || this.#isOver) throw new Error('Connection terminated: the transaction is over')
    return this.#client
  }
}

const starting = new AsyncLocalStorage<TransactionConnection>()

/** Starts a transaction of the ORM. It takes `connection` from a `TransactionPool`. */
export const startingOn = <T>(connection: TransactionConnection, start: () => T): T =>
  starting.run(connection, start)

/** A pool that says which connection a transaction of the ORM takes. */
export class TransactionPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): Promise<pg.PoolClient> | undefined {
    if (callback) {
      super.connect(callback)
      return undefined
    }
    const connection = starting.getStore()
    const client = super.connect()
    return connection && !connection.isTaken ? client.then((taken) => connection.lend(taken)) : client
  }
}
