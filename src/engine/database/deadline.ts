import type { Socket } from 'node:net'
import type pg from 'pg'

/** Said of a connection that was cut because the database did not answer on it. */
export const SILENT = 'Connection terminated: the database did not answer in time'

/**
 * Cuts each connection of the pool that is held for longer than `ms`. A database that hangs, or a network that drops
 * packets, never answers: this is the only end that such a statement has. What is cut is never used again.
 *
 * One timer for all: connections are kept in the order in which they were taken.
 *
 * Where holders may `listen`, one that waits for no answer is asked for a sign of life instead.
 */
export function boundHolding(pool: pg.Pool, ms: number, { listen = false } = {}): void {
  const takenAt = new Map<pg.PoolClient, number>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
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
    timer ??= setInterval(look, Math.min(500, ms)).unref()
  })
  pool.on('release', (_error, client) => void takenAt.delete(client))
}

/** Asks for a sign of life, and cuts the connection when none comes within `ms`: who listens on it never asks for itself. */
export function beat(client: pg.ClientBase, ms: number): void {
  answered(client, ms, client.query('SELECT 1')).catch(() => {})
}

/** Does the connection wait for no answer? The driver knows, and its types do not. */
const isIdle = (client: pg.ClientBase): boolean =>
  (client as unknown as { readyForQuery: boolean }).readyForQuery

/** Ends a connection without a goodbye; what waits for an answer on it fails. */
function cut(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy(new Error(SILENT))
}

/** Waits for work on a connection of its own kind, at most for `ms`; then the connection is cut. */
export async function answered<T>(client: pg.ClientBase, ms: number, work: Promise<T>): Promise<T> {
  const late = setTimeout(() => cut(client), ms)
  try {
    return await work
  } finally {
    clearTimeout(late)
  }
}
