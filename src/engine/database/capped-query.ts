import pg from 'pg'
import { isCancelled } from './errors.ts'

/** Decides how many rows of a result are kept. */
export type RowCap = {
  /** Makes room for a row of so many bytes; false when there is none, which ends the read. May throw to end it, too. */
  take(bytes: number): boolean
}

/** The rows that were kept. `isCut` says that there was at least one more. */
export type CappedRows<Row> = { rows: Row[]; isCut: boolean }

/** What it takes to name the columns of a row in an answer. */
export const ROW_OVERHEAD = 250

type DataRow = { readonly length: number }
/** What the driver calls on its queries, and its types leave out. */
type DriverQuery = { handleDataRow(row: DataRow): void }
const driver = pg.Query.prototype as unknown as DriverQuery

/**
 * A query that keeps the first rows of its result and drops the rest as it arrives, so memory holds a page at most, however
 * large the rows are.
 */
class CappedQuery extends pg.Query {
  isCut = false
  /** What the cap threw. */
  refusal: unknown
  readonly #cap: RowCap
  readonly #onCut: () => void

  constructor(config: pg.QueryConfig, cap: RowCap, onCut: () => void) {
    super(config)
    this.#cap = cap
    this.#onCut = onCut
  }

  /** Called by the driver for each row, before it is parsed. */
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

/** Runs a capped query. The rest of a result that is cut is cancelled by `cancel`, and skipped where that comes late. */
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
    // Until it has arrived it could hit the next statement of the connection.
    await cancelling
  }
  if (query.refusal) throw query.refusal
  return { rows, isCut: query.isCut }
}
