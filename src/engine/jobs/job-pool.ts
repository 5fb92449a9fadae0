/** The connections of the job runner. */
import pg from 'pg'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import { limitResponseTime } from '../storage/database/deadline.ts'

type Callback = Parameters<pg.Pool['connect']>[0]

/**
 * A pool that takes a second release of a connection as nothing. graphile-worker releases its LISTEN connection
 * twice when it is lost while the runner stops. The error would be an unhandled rejection, which ends the process.
 */
class LenientPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (!callback) return super.connect()
    super.connect((error, client, release) => {
      // A pool that is closed passes an error and no release function.
      if (!client) return callback(error, client, release)
      let isReleased = false
      callback(error, client, (reason) => {
        if (isReleased) return
        isReleased = true
        release(reason)
      })
    })
    return undefined
  }
}

/** Opens a pool of at most `max` connections. A lost one is logged and replaced. */
export function openJobPool(connectionString: string, max: number, log: Log): pg.Pool {
  const pool = new LenientPool({
    connectionString,
    max,
    application_name: 'plinth-jobs',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    keepAlive: true,
  })
  limitResponseTime(pool, LIMITS.heartbeatMs, { listen: true })
  const lost = (err: Error) => log.warn({ err }, 'a connection of the job runner was lost')
  pool.on('error', lost)
  pool.on('connect', (client) => void client.on('error', lost))
  return pool
}
