/** Chooses one process of those on a database for work that must not be done twice at a time. */
import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { answered, beat } from './deadline.ts'

export type Candidate = {
  /** Whether this process does the work. */
  leads(): boolean
  /** Stops being a candidate, and lets another process follow. */
  close(): Promise<void>
}

// The name of the lock is a constant. The database releases it when the connection is lost, so that a process that
// was killed is followed at once.
const LOCK = `SELECT pg_try_advisory_lock(hashtextextended('plinth.' || $1, 0)) AS is_leader`

/**
 * Competes for the lead. `lead` is called with a signal that aborts when the lead is lost, and is called again after
 * it was regained.
 */
export function compete(
  connectionString: string,
  name: string,
  log: Log,
  lead: (until: AbortSignal) => void,
): Candidate {
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  let leads = false

  const again = () => {
    if (!isClosed) retry = setTimeout(() => void attempt(), LIMITS.leaderRetryMs).unref()
  }
  const attempt = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString,
      application_name: `plinth-${name}`,
      connectionTimeoutMillis: LIMITS.connectionWaitMs,
      keepAlive: true,
    })
    const until = new AbortController()
    let beating: NodeJS.Timeout | undefined
    const lost = () => {
      if (until.signal.aborted) return
      clearInterval(beating)
      until.abort()
      leads = false
      client = undefined
      next.end().catch(() => {})
      again()
    }
    next.on('error', lost)
    next.on('end', lost)
    try {
      await next.connect()
      client = next
      while (!isClosed && !until.signal.aborted) {
        const { rows } = await answered(
          next,
          LIMITS.heartbeatMs,
          next.query<{ is_leader: boolean }>(LOCK, [name]),
        )
        if (rows[0]?.is_leader) break
        await new Promise((resolve) => setTimeout(resolve, LIMITS.leaderRetryMs).unref())
      }
      if (isClosed || until.signal.aborted) return
      beating = setInterval(() => beat(next, LIMITS.heartbeatMs - 1), LIMITS.heartbeatMs).unref()
      leads = true
      lead(until.signal)
    } catch (err) {
      if (!isClosed)
        log.warn({ err, work: name }, 'the connection that elects a process was lost; it is opened again')
      lost()
    }
  }
  void attempt()
  return {
    leads: () => leads,
    close: async () => {
      isClosed = true
      leads = false
      clearTimeout(retry)
      if (client) await answered(client, LIMITS.silenceMs, client.end()).catch(() => {})
    },
  }
}
