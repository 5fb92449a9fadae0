/** The database interface: ORM for configuration, named statements for the hot paths, transactions. */
import { LRUCache } from 'lru-cache'
import type { Prisma } from '../prisma/client.ts'
import type { CappedRows, RowCap } from './capped-query.ts'

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
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>>
  /** Runs `work` in one transaction: all of it is written, or nothing. Inside one already, joins it. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** The same for statements alone, at a third of the cost: there is no `orm` in it, unless it joins one that has it. */
  statements<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Repeats work that lost a race; inside a transaction it is the whole transaction that is repeated. */
  retry<T>(work: () => Promise<T>): Promise<T>
}

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
