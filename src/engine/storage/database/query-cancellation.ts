import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { limitResponseTime, SILENT } from './deadline.ts'
import { abandoned } from './errors.ts'

/** Cancels statements of other connections over a dedicated connection, so that it never waits for them. */
export type QueryCanceller = {
  /**
   * Cancels the running statement (pg_cancel_backend). After it resolves, later statements of the client are
   * safe.
   */
  cancel(client: pg.ClientBase): Promise<void>
  /** Terminates the connection of the client (pg_terminate_backend). */
  terminate(client: pg.ClientBase): Promise<void>
  /** Runs one round trip outside the pool. Throws when the database is unreachable. */
  ping(): Promise<void>
  /**
   * Write probe: writes to the database log, and to disk as many bytes as a table grows by. Returns false
   * when the database is read-only. Throws when the write fails.
   */
  probe(): Promise<boolean>
  close(): Promise<void>
}

// The process ID may have been reused, or may belong to a connection pooler, so match the application name
// too.
const OF = 'FROM pg_stat_activity WHERE pid = $1 AND application_name = $2'
const CANCEL = `SELECT pg_cancel_backend(pid) ${OF}`
// pg_logical_emit_message writes to no table. The series exceeds work_mem, so it goes to a temporary file.
const PROBE = `SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN NULL
    ELSE pg_logical_emit_message(true, 'plinth', '')::text END AS written,
  (SELECT count(*) FROM generate_series(1, 50000))`
const TERMINATE = `SELECT pg_terminate_backend(pid) ${OF}`

/** Opens the connection on first use. */
export function openQueryCanceller(connectionString: string): QueryCanceller {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    application_name: 'plinth-stops',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    idleTimeoutMillis: LIMITS.cancellerIdleMs,
    statement_timeout: LIMITS.cancellerPatienceMs,
    // Use the disk of the tables, and only a little of it.
    options: '-c work_mem=64kB -c temp_tablespaces=',
  })
  limitResponseTime(pool, LIMITS.cancellerPatienceMs)
  const lost = () => {}
  pool.on('error', lost)
  pool.on('connect', (client) => void client.on('error', lost))
  // A failed or late cancel is harmless: the statement timeout still applies.
  const send = async (how: string, client: pg.ClientBase) => {
    const { processID, connectionParameters } = client as Known
    await pool.query(how, [processID, connectionParameters.application_name]).catch(() => {})
  }
  return {
    cancel: (client) => send(CANCEL, client),
    terminate: (client) => send(TERMINATE, client),
    ping: async () => void (await inTime(pool.query('SELECT 1'))),
    probe: async () => {
      const { rows } = await inTime(pool.query<{ written: string | null }>(PROBE))
      return rows[0]?.written !== null
    },
    close: () => pool.end(),
  }
}

/** @throws the error for an unresponsive database after the timeout */
async function inTime<T>(request: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = setTimeout(() => reject(new Error(SILENT)), LIMITS.cancellerPingMs)
  try {
    return await Promise.race([request, promise])
  } finally {
    clearTimeout(late)
  }
}

/** Driver fields of a connection that the types omit. */
type Known = pg.ClientBase & {
  readonly processID: number
  readonly connectionParameters: { readonly application_name: string }
}

/**
 * Cancels a read when its client disconnects. Starts to listen only for long reads, because most end sooner.
 * Cancels the running statement, and drops a read that still waits for a connection.
 */
export class DisconnectWatch {
  readonly #canceller: QueryCanceller
  readonly #timer: NodeJS.Timeout
  #closed: AbortSignal | undefined
  #client: pg.PoolClient | undefined
  #sent: Promise<void> | undefined
  /** Made with the first request to cancel: most reads have none, and aborting makes an error with a stack. */
  #repeats: AbortController | undefined
  #isEnded = false

  constructor(closed: () => AbortSignal, canceller: QueryCanceller) {
    this.#canceller = canceller
    this.#timer = setTimeout(() => this.#listen(closed()), LIMITS.watchAfterMs)
  }
  get isGone(): boolean {
    return this.#closed?.aborted ?? false
  }
  /** @throws if the client disconnected before a connection was available */
  runsOn(client: pg.PoolClient): void {
    if (this.isGone) throw abandoned()
    this.#client = client
  }
  /**
   * Resolves after a pending cancel request completes, so that it cannot hit a later statement of the client.
   */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed?.removeEventListener('abort', this.#stop)
    this.#isEnded = true
    this.#repeats?.abort()
    await this.#sent
  }
  #listen(closed: AbortSignal): void {
    this.#closed = closed
    // One request may run many statements.
    setMaxListeners(0, closed)
    closed.addEventListener('abort', this.#stop)
    if (closed.aborted) this.#stop()
  }
  readonly #stop = (): void => {
    if (this.#client) this.#sent ??= this.#cancel(this.#client)
  }
  /** Repeats the request while the statement runs: one that arrives before its statement has no effect. */
  async #cancel(client: pg.PoolClient): Promise<void> {
    this.#repeats = new AbortController()
    const { signal } = this.#repeats
    while (!this.#isEnded) {
      await this.#canceller.cancel(client)
      await delay(LIMITS.cancellerRepeatMs, undefined, { signal }).catch(() => {})
    }
  }
}
