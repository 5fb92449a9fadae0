/** How recent a standby is: asked of the primary and of the standby all the time, so that no read waits for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { type InfoLog, wordsOf } from '../../../foundation/log.ts'
import { answered } from './deadline.ts'

export type FenceState = 'used' | 'behind' | 'unreachable'

type Fence = {
  /** A moment of this process. What was acknowledged before it is on the standby. Undefined: not known, or too long ago. */
  passed(): number | undefined
  state(): FenceState
  /** Seconds since that moment; undefined before the first. */
  lagSeconds(): number | undefined
  /** Somebody reads: look often. */
  wanted(): void
  /** Statements fail there, though it answers: leave it alone for a while. */
  suspend(): void
  close(): Promise<void>
}

// A server has many databases, which all have its system identifier; the oid of each is the same on a standby.
const IDENTITY = `s.system_identifier || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())`
// What is acknowledged is flushed, unless commits do not wait for it. The end of what is flushed is the end of a record, which
// the place of the next one may be behind. The timeline is that of writes: after a failover a standby of the former primary
// counts on where the new one counts, too.
const PRIMARY = `
  SELECT l.lsn::text AS lsn, ('x' || left(pg_walfile_name(l.lsn), 8))::bit(32)::int AS timeline, ${IDENTITY} AS identity
  FROM pg_control_system() s, (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
    ELSE pg_current_wal_flush_lsn() END AS lsn) l`
// The timeline there is that of its last restart point, which follows a failover within checkpoint_timeout.
const STANDBY = `
  SELECT pg_is_in_recovery() AND ${IDENTITY} = $3 AND c.timeline_id = $2::int AS follows,
    pg_last_wal_replay_lsn() >= $1::pg_lsn AS passed
  FROM pg_control_system() s, pg_control_checkpoint() c`

// Of two connections. Behind a pool in transaction mode they have one backend, and run each other's prepared statements. Behind
// a balancer they are of two servers, of which one may be as far as the fence says, and the other not.
const PLACE = 'SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS server'
type Place = { pid: number; server: string }
type Seen = { follows: boolean; passed: boolean }
type Point = { lsn: string; timeline: number; identity: string }

/** Milliseconds between looks at the standby; the last one repeats. */
const PAUSES = [1, 2, 4, 8, 16, 20]

/** @param onLost is called when the standby does not answer, or ends a connection */
export function openFence(
  urls: { readonly primary: string; readonly standby: string },
  log: InfoLog,
  onLost: () => void,
): Fence {
  const primary = openProbe(urls.primary)
  const standby = openProbe(urls.standby)
  let passedAt = Number.NEGATIVE_INFINITY
  let notBefore = 0
  let wantedAt = Number.NEGATIVE_INFINITY
  let isReached = false
  let said: string | undefined
  let rest = new AbortController()
  let isClosed = false

  const passed = () => {
    const now = performance.now()
    return now - passedAt < LIMITS.fenceAgeMs && now >= notBefore ? passedAt : undefined
  }
  const say = (fault: string | undefined) => {
    if (fault === said || isClosed) return
    if (fault === undefined) log.info({}, 'the standby of PLINTH_REPLICA_URL is used')
    else
      log.warn(
        { cause: fault },
        'the standby of PLINTH_REPLICA_URL is not used: the primary serves all reads',
      )
    said = fault
  }
  const look = async (): Promise<void> => {
    const at = performance.now()
    // Without the primary the moment only gets older.
    const point = await primary.ask<Point>(PRIMARY, []).catch(() => undefined)
    if (!point) return
    const { lsn, timeline, identity } = point
    if (!isReached) await requireOneServer(urls.standby)
    for (let tries = 0; !isClosed && performance.now() - at < LIMITS.fenceAgeMs; tries++) {
      const seen = await standby.ask<Seen>(STANDBY, [lsn, timeline, identity])
      if (!seen.follows) throw new Error(NO_STANDBY)
      isReached = true
      if (seen.passed) {
        passedAt = at
        return say(undefined)
      }
      await sleep(PAUSES[Math.min(tries, PAUSES.length - 1)], undefined, { ref: false })
    }
    say(`It is more than ${LIMITS.fenceAgeMs} ms behind.`)
  }
  const lose = (thrown: unknown) => {
    passedAt = Number.NEGATIVE_INFINITY
    isReached = false
    say(wordsOf(thrown))
    onLost()
  }
  const restMs = () => {
    if (!isReached) return LIMITS.fenceRetryMs
    return performance.now() - wantedAt < LIMITS.fenceAgeMs ? LIMITS.fenceTickMs : LIMITS.fenceIdleMs
  }
  const watch = async (): Promise<void> => {
    while (!isClosed) {
      await look().catch(lose)
      rest = new AbortController()
      await sleep(restMs(), undefined, { ref: false, signal: rest.signal }).catch(() => {})
    }
  }
  const watching = watch()
  return {
    passed,
    state: () => (passed() !== undefined ? 'used' : isReached ? 'behind' : 'unreachable'),
    lagSeconds: () => (Number.isFinite(passedAt) ? (performance.now() - passedAt) / 1000 : undefined),
    wanted: () => {
      const isIdle = performance.now() - wantedAt >= LIMITS.fenceAgeMs
      wantedAt = performance.now()
      if (isIdle && isReached) rest.abort()
    },
    suspend: () => {
      notBefore = performance.now() + LIMITS.fenceRetryMs
    },
    close: async () => {
      isClosed = true
      rest.abort()
      await watching
      await Promise.all([primary.close(), standby.close()])
    },
  }
}

const NO_STANDBY =
  'PLINTH_REPLICA_URL is no standby of the database of DATABASE_URL, or follows it only from its next checkpoint on.'

const SHARED = 'PLINTH_REPLICA_URL leads to several servers or to a transaction pool. Give one standby.'

async function requireOneServer(url: string): Promise<void> {
  const [probe, other] = [openProbe(url, ''), openProbe(url, '')]
  try {
    const [one, two] = [await probe.ask<Place>(PLACE, []), await other.ask<Place>(PLACE, [])]
    if (one.pid === two.pid || one.server !== two.server) throw new Error(SHARED)
  } finally {
    await Promise.all([probe.close(), other.close()])
  }
}

/** A connection of its own, which waits for none of the pool. Opened when it is used, and again after a failure. */
function openProbe(connectionString: string, name = 'fence') {
  let open: pg.Client | undefined
  const connect = async () => {
    const client = new pg.Client({
      connectionString,
      application_name: 'plinth-fence',
      connectionTimeoutMillis: LIMITS.fenceConnectMs,
      keepAlive: true,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  return {
    ask: async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row> => {
      try {
        open ??= await connect()
        const query = { name, text, values: [...values] }
        const { rows } = await answered(open, LIMITS.fenceSilentMs, open.query<Row>(query))
        return rows[0] as Row
      } catch (thrown) {
        open?.end().catch(() => {})
        open = undefined
        throw thrown
      }
    },
    close: async () => void (await open?.end().catch(() => {})),
  }
}
