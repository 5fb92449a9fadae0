import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { isCancelled } from './errors.ts'

/** Decides how many rows of a result are kept. */
export type RowCap = {
  /**
   * Reserves room for a row of that size. Returns false when there is none, which ends the read. May throw to
   * end it.
   */
  take(bytes: number): boolean
}

/** The kept rows. `isCut` is true when there was at least one more. */
export type CappedRows<Row> = { rows: Row[]; isCut: boolean }

/** Bytes per row for the column names in the response. */
export const ROW_OVERHEAD = 250

type DataRow = { readonly length: number }
type Description = { readonly fields: readonly object[] }
/** What the driver calls on its queries, and what it keeps in them. Its types omit it. */
type DriverQuery = {
  name: string | undefined
  values: unknown[] | undefined
  readonly _result: { _types: pg.CustomTypesConfig | undefined }
  prepare(connection: object): void
  handleRowDescription(columns: Description): void
  handleDataRow(row: DataRow): void
}
const driver = pg.Query.prototype as unknown as DriverQuery

/** A connection as a query sees it whose columns are known: it requests no description of them. */
type Described = { readonly silent: object; readonly columns: Map<string, Description> }
const described = new WeakMap<object, Described>()

function describedOn(connection: object): Described {
  const known = described.get(connection)
  if (known) return known
  const silent = Object.create(connection, { describe: { value: () => {} } }) as object
  const made = { silent, columns: new Map() }
  described.set(connection, made)
  return made
}

/**
 * A query that keeps the first rows of its result and drops the rest on arrival. Memory use is bounded by one
 * page, for rows of any size. A named statement has the same columns as long as its connection lives, so they are
 * described once.
 */
class CappedQuery extends pg.Query {
  isCut = false
  /** The error that the cap threw. */
  refusal: unknown
  readonly #cap: RowCap
  readonly #onCut: () => void
  #keep: ((columns: Description) => void) | undefined

  constructor({ name, text, values, types }: pg.QueryConfig, cap: RowCap, onCut: () => void) {
    // The driver copies a configuration property by property, and takes a text as it is.
    super(text)
    const own = this as unknown as DriverQuery
    own.name = name
    own.values = values
    own._result._types = types
    this.#cap = cap
    this.#onCut = onCut
  }

  /** Called by the driver to send the statement. */
  prepare(connection: object): void {
    const { name } = this as unknown as DriverQuery
    const { silent, columns } = describedOn(connection)
    const known = name ? columns.get(name) : undefined
    if (known) driver.handleRowDescription.call(this, known)
    else if (name) this.#keep = (description) => columns.set(name, description)
    driver.prepare.call(this, known ? silent : connection)
  }

  handleRowDescription(description: Description): void {
    this.#keep?.(description)
    driver.handleRowDescription.call(this, description)
  }

  /** Called by the driver for each row, before parsing. */
  handleDataRow(row: DataRow): void {
    if (this.isCut) return
    this.isCut = !this.#fits(row)
    if (this.isCut) this.#onCut()
    else driver.handleDataRow.call(this, row)
  }

  #fits({ length }: DataRow): boolean {
    try {
      return this.#cap.take(length + ROW_OVERHEAD)
    } catch (thrown) {
      this.refusal = thrown
      return false
    }
  }
}

/**
 * Runs a capped query. Once the result is cut, `cancel` cancels the statement; rows that still arrive are
 * dropped.
 */
export async function runCapped<Row>(
  client: pg.PoolClient,
  config: pg.QueryConfig,
  cap: RowCap,
  cancel: () => Promise<void>,
): Promise<CappedRows<Row>> {
  const rows: Row[] = []
  let cancelling: Promise<void> | undefined
  const query = new CappedQuery(config, cap, () => {
    cancelling = cancel()
  })
  query.on('row', (row: Row) => void rows.push(row))
  try {
    await new Promise<void>((resolve, reject) => {
      query.on('end', () => resolve())
      query.on('error', (error) => (query.isCut && isCancelled(error) ? resolve() : reject(error)))
      client.query(query)
    })
  } finally {
    // Wait for the cancel request: a late one could cancel the next statement of the connection.
    await cancelling
  }
  if (query.refusal) throw query.refusal
  return { rows, isCut: query.isCut }
}

/**
 * Accounts for bytes held in memory for a response.
 * @throws RATE_LIMITED when the token or the process exceeds its memory quota
 */
export type ReserveBytes = (bytes: number) => void

/** Response size limit: the bytes of rows that one request may read, per page and in total. */
export class ResponseBudget {
  #left: number
  readonly #page: number
  readonly #reserve: ReserveBytes | undefined
  #unreserved = 0

  constructor(page: number, inAll: number, reserve?: ReserveBytes) {
    this.#page = page
    this.#left = inAll
    this.#reserve = reserve
  }

  /** Row cap for one page, or for a `part` of it. The first `atLeast` rows always pass. */
  page({ part = 1, atLeast = 1 } = {}): RowCap {
    const most = this.#page * part
    let bytes = 0
    let rows = 0
    return {
      take: (row) => {
        if (rows >= atLeast && (bytes + row > most || row > this.#left)) return false
        rows++
        bytes += row
        this.#left -= row
        this.#count(row)
        return true
      },
    }
  }

  /** Bytes left for a page, for statements that limit the number of rows in the database. */
  get room(): number {
    return Math.max(0, Math.min(this.#page, this.#left))
  }

  /** Reserves room for an answer that is kept whole, of whatever page. Returns false when there is none. */
  hold(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    this.#count(bytes)
    return true
  }

  /** Charges the rows that a write returns. Never rejects: the write has already decided to return them. */
  spend(bytes: number): void {
    this.#left -= bytes
  }

  /** Reports bytes in steps of LIMITS.pageReserveBytes, so that small responses skip the accounting. */
  #count(row: number): void {
    this.#unreserved += row
    if (!this.#reserve || this.#unreserved < LIMITS.pageReserveBytes) return
    this.#reserve(this.#unreserved)
    this.#unreserved = 0
  }
}
