/** Statement timeout and query cancellation when the client disconnects. */

import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../../foundation/limits.ts'
import type { QueryCanceller } from '../../storage/database/query-cancellation.ts'
import type { SqlConnection } from './connection-pool.ts'

/** Why a statement was cancelled. */
export class Stopped extends Error {
  readonly why: 'timeout' | 'abandoned'
  constructor(why: 'timeout' | 'abandoned') {
    super(`The statement was stopped: ${why}`)
    this.why = why
  }
}

type Options = { canceller: QueryCanceller; deadlineMs: number; signal: AbortSignal | undefined }

/**
 * Waits for work on a connection until it settles, the deadline passes or the client disconnects.
 * `afterwards` runs when the connection is free: immediately for settled work, after the backend ends for
 * cancelled work.
 * @throws Stopped
 */
export async function withTimeout<T>(
  connection: SqlConnection,
  work: Promise<T>,
  { canceller, deadlineMs, signal }: Options,
  afterwards: (isSound: boolean) => void,
): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const late = setTimeout(() => reject(new Stopped('timeout')), deadlineMs)
  const abandon = () => reject(new Stopped('abandoned'))
  signal?.addEventListener('abort', abandon)
  if (signal?.aborted) abandon()
  let isStopped = false
  try {
    return await Promise.race([work, stopped])
  } catch (thrown) {
    isStopped = thrown instanceof Stopped
    throw thrown
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', abandon)
    if (isStopped) void stop(connection, work, canceller).then(() => afterwards(false))
    else afterwards(!connection.socket.destroyed)
  }
}

/**
 * Cancels the query, then terminates the backend, then closes the socket. Resolves when the backend no longer
 * works.
 */
async function stop(
  { client, socket }: SqlConnection,
  work: Promise<unknown>,
  canceller: QueryCanceller,
): Promise<void> {
  const settled = work.then(
    () => true,
    () => true,
  )
  const within = (ms: number) => Promise.race([settled, sleep(ms, false, { ref: false })])
  await canceller.cancel(client)
  if (await within(LIMITS.sqlCancelMs)) return
  await canceller.terminate(client)
  if (await within(LIMITS.sqlEndMs)) return
  // A login without pg_signal_backend can only close the connection, which PostgreSQL detects.
  socket.destroy()
}
