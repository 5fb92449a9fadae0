import { setMaxListeners } from 'node:events'
import pg from 'pg'
import { LIMITS } from '../../foundation/limits.ts'
import { boundHolding, SILENT } from './deadline.ts'
import { abandoned } from './errors.ts'

/** Stops what other connections run, over a connection of its own: it never waits for one that is to be stopped. */
export type QueryCanceller = {
  /** Asks the database to cancel what the client runs. When it resolves, what the client runs next is safe from it. */
  cancel(client: pg.ClientBase): Promise<void>
  /** Asks it to end the client's connection. */
  terminate(client: pg.ClientBase): Promise<void>
  /** One round trip beside all that others run. Throws when the database is not reachable. */
  ping(): Promise<void>
  /**
   * Writes a little: to the log of the database, and as many bytes as a table grows by to its disk. False for one that is
   * read-only. Throws when it cannot.
   */
  probe(): Promise<boolean>
  close(): Promise<void>
}

const IDLE_MS = 10_000
const PATIENCE_MS = 5000
const PING_MS = 2000

// A number of a process may be another one's by now, or that of a pooler between.
const OF = 'FROM pg_stat_activity WHERE pid = $1 AND application_name = $2'
const CANCEL = `SELECT pg_cancel_backend(pid) ${OF}`
// A message in the log is of no table and leaves nothing behind. The series is larger than its memory, so it is a file.
const PROBE = `SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN NULL
    ELSE pg_logical_emit_message(true, 'plinth', '')::text END AS written,
  (SELECT count(*) FROM generate_series(1, 50000))`
const TERMINATE = `SELECT pg_terminate_backend(pid) ${OF}`

/** Connects when it is first wanted. */
export function openQueryCanceller(connectionString: string): QueryCanceller {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    application_name: 'plinth-stops',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: PATIENCE_MS,
    // What is probed is the disk of the tables, with little of it.
    options: '-c work_mem=64kB -c temp_tablespaces=',
  })
  boundHolding(pool, PATIENCE_MS)
  const lost = () => {}
  pool.on('error', lost)
  pool.on('connect', (client) => void client.on('error', lost))
  // Who may not signal others, or comes too late, changes nothing: what runs has a deadline.
  const tell = async (how: string, client: pg.ClientBase) => {
    const { processID, connectionParameters } = client as Known
    await pool.query(how, [processID, connectionParameters.application_name]).catch(() => {})
  }
  return {
    cancel: (client) => tell(CANCEL, client),
    terminate: (client) => tell(TERMINATE, client),
    ping: async () => void (await inTime(pool.query('SELECT 1'))),
    probe: async () => {
      const { rows } = await inTime(pool.query<{ written: string | null }>(PROBE))
      return rows[0]?.written !== null
    },
    close: () => pool.end(),
  }
}

/** @throws what is said of a database that does not answer, where the answer is late */
async function inTime<T>(asking: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = setTimeout(() => reject(new Error(SILENT)), PING_MS)
  try {
    return await Promise.race([asking, promise])
  } finally {
    clearTimeout(late)
  }
}

/** What the driver knows of a connection, and its types do not. */
type Known = pg.ClientBase & {
  readonly processID: number
  readonly connectionParameters: { readonly application_name: string }
}

/**
 * Watches for the caller of a read to go, from when the read lasts: most are over before anybody has listened for it. What
 * runs then is cancelled, and what waits for a connection is not begun.
 */
export class DisconnectWatch {
  readonly #stops: QueryCanceller
  readonly #timer: NodeJS.Timeout
  #closed: AbortSignal | undefined
  #client: pg.PoolClient | undefined
  #told: Promise<void> | undefined

  constructor(closed: () => AbortSignal, stops: QueryCanceller) {
    this.#stops = stops
    this.#timer = setTimeout(() => this.#listen(closed()), LIMITS.watchAfterMs)
  }
  get isGone(): boolean {
    return this.#closed?.aborted ?? false
  }
  /** @throws where the caller has gone before there was a connection */
  runsOn(client: pg.PoolClient): void {
    if (this.isGone) throw abandoned()
    this.#client = client
  }
  /** Resolves when the database has been told what it was to be told: nothing else that the client runs is cancelled. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed?.removeEventListener('abort', this.#stop)
    await this.#told
  }
  #listen(closed: AbortSignal): void {
    this.#closed = closed
    // One request may ask many things at once.
    setMaxListeners(0, closed)
    closed.addEventListener('abort', this.#stop)
    if (closed.aborted) this.#stop()
  }
  readonly #stop = (): void => {
    if (this.#client) this.#told ??= this.#stops.cancel(this.#client)
  }
}
