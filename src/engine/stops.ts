import pg from 'pg'
import { LIMITS } from '../foundation/limits.ts'
import { boundHolding, SILENT } from './deadline.ts'

/** Stops what other connections run, over a connection of its own: it never waits for one that is to be stopped. */
export type Stops = {
  /** Asks the database to cancel what the client runs. When it resolves, what the client runs next is safe from it. */
  cancel(client: pg.ClientBase): Promise<void>
  /** Asks it to end the client's connection. */
  terminate(client: pg.ClientBase): Promise<void>
  /** One round trip beside all that others run. Throws when the database is not reachable. */
  ping(): Promise<void>
  close(): Promise<void>
}

const IDLE_MS = 10_000
const PATIENCE_MS = 5000
const PING_MS = 2000

// A number of a process may be another one's by now, or that of a pooler between.
const OF = 'FROM pg_stat_activity WHERE pid = $1 AND application_name = $2'
const CANCEL = `SELECT pg_cancel_backend(pid) ${OF}`
const TERMINATE = `SELECT pg_terminate_backend(pid) ${OF}`

/** Connects when it is first wanted. */
export function openStops(connectionString: string): Stops {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    application_name: 'plinth-stops',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: PATIENCE_MS,
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
    ping: async () => {
      const { promise, reject } = Promise.withResolvers<never>()
      const late = setTimeout(() => reject(new Error(SILENT)), PING_MS)
      try {
        await Promise.race([pool.query('SELECT 1'), promise])
      } finally {
        clearTimeout(late)
      }
    },
    close: () => pool.end(),
  }
}

/** What the driver knows of a connection, and its types do not. */
type Known = pg.ClientBase & {
  readonly processID: number
  readonly connectionParameters: { readonly application_name: string }
}
