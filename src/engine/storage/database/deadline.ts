import type { Socket } from 'node:net'
import type pg from 'pg'

/** Message of a connection that was closed because the database did not respond. */
export const SILENT = 'Connection terminated: the database did not answer in time'

/**
 * Closes each pool connection that is checked out for longer than `ms`. A database that hangs, or a network
 * that drops packets, never responds, so no other timeout ends such a statement. A closed connection is never
 * reused.
 * One timer serves all: connections are kept in checkout order.
 * With `listen`, an idle connection gets a heartbeat query instead.
 */
export function limitResponseTime(pool: pg.Pool, ms: number, { listen = false } = {}): void {
  const takenAt = new Map<pg.PoolClient, number>()
  let timer: NodeJS.Timeout | undefined
  const checkClients = () => {
    const over = performance.now() - ms
    for (const [client, since] of takenAt) {
      if (since > over) break
      takenAt.delete(client)
      if (listen && isIdle(client)) {
        takenAt.set(client, performance.now())
        beat(client, ms)
      } else cut(client)
    }
    if (takenAt.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  pool.on('acquire', (client) => {
    takenAt.set(client, performance.now())
    timer ??= setInterval(checkClients, Math.min(500, ms)).unref()
  })
  pool.on('release', (_error, client) => void takenAt.delete(client))
}

/**
 * Heartbeat: pings the connection and closes it without a response within `ms`. A LISTEN connection sends no
 * queries that would detect the loss.
 */
export function beat(client: pg.ClientBase, ms: number): void {
  answered(client, ms, client.query('SELECT 1')).catch(() => {})
}

/** Whether the connection has no query in progress. The driver's types omit this state. */
const isIdle = (client: pg.ClientBase): boolean =>
  (client as unknown as { readyForQuery: boolean }).readyForQuery

/** Destroys the socket of a connection. Pending queries fail. */
function cut(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy(new Error(SILENT))
}

/** Waits for work on a dedicated connection for at most `ms`, then closes the connection. */
export async function answered<T>(client: pg.ClientBase, ms: number, work: Promise<T>): Promise<T> {
  let grace: NodeJS.Immediate | undefined
  // An answer may wait behind a slow turn of the event loop, as the timer did.
  const late = setTimeout(() => {
    grace = setImmediate(() => cut(client))
  }, ms)
  try {
    return await work
  } finally {
    clearTimeout(late)
    clearImmediate(grace)
  }
}
