import pg from 'pg'
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
/** Hook that the driver calls on its queries. Its types omit it. */
type DriverQuery = { handleDataRow(row: DataRow): void }
const driver = pg.Query.prototype as unknown as DriverQuery

/**
 * A query that keeps the first rows of its result and drops the rest on arrival. Memory use is bounded by one
 * page, whatever the size of the rows.
 */
class CappedQuery extends pg.Query {
  isCut = false
  /** The error that the cap threw. */
  refusal: unknown
  readonly #cap: RowCap
  readonly #onCut: () => void

  constructor(config: pg.QueryConfig, cap: RowCap, onCut: () => void) {
    super(config)
    this.#cap = cap
    this.#onCut = onCut
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
