/** Ends statements that take too long or that nobody waits for any more. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, statement } from '../db.ts'
import { APPLICATION, type Session } from './sessions.ts'

/** Why a statement was ended before it had answered. */
export class Stopped extends Error {
  readonly why: 'timeout' | 'abandoned'
  constructor(why: 'timeout' | 'abandoned') {
    super(`The statement was stopped: ${why}`)
    this.why = why
  }
}

type Options = { db: Db; deadlineMs: number; signal: AbortSignal | undefined }

/**
 * Waits for work on a connection until it is done, the deadline has passed or the caller has gone. `afterwards` runs
 * when the connection is free again: at once for work that settled, and for what was stopped once it has truly ended.
 * @throws Stopped
 */
export async function whileWanted<T>(
  session: Session,
  work: Promise<T>,
  { db, deadlineMs, signal }: Options,
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
    if (isStopped) void stop(session, work, db).then(() => afterwards(false))
    else afterwards(!session.socket.destroyed)
  }
}

const CANCEL = statement(
  'sql_cancel',
  'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2',
)
const TERMINATE = statement(
  'sql_terminate',
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2',
)
const PATIENCE_MS = 1000
/** After which a backend that heeds nothing is given up. */
const LONGEST_END_MS = 60_000

/** Asks, then insists, then leaves. Resolves when the backend no longer works. */
async function stop(session: Session, work: Promise<unknown>, db: Db): Promise<void> {
  const settled = work.then(
    () => true,
    () => true,
  )
  const within = (ms: number) => Promise.race([settled, sleep(ms, false, { ref: false })])
  const who = [session.processId, APPLICATION]
  // A login that may not signal others' backends is left with closing the connection, which PostgreSQL notices.
  const ask = (how: typeof CANCEL) => db.query(how, who).catch(() => {})
  await ask(CANCEL)
  if (await within(PATIENCE_MS)) return
  await ask(TERMINATE)
  if (await within(LONGEST_END_MS)) return
  session.socket.destroy()
}
