/** Background jobs: a graphile-worker runner in the same PostgreSQL. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Runner, TaskList } from 'graphile-worker'
import pg from 'pg'
import { whenAborted } from '../../foundation/cancellation.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import { sweepRuns } from '../automation/actions/run-log.ts'
import { sweepInboundDeliveries } from '../automation/inbound/sweep.ts'
import { sweepTasks } from '../automation/tasks/tasks.ts'
import { sweepDeliveries } from '../automation/triggers/outcomes.ts'
import type { Scope } from '../core/scope.ts'
import { sweepChangeSets } from '../environments/change-sets/expiry.ts'
import { sweepContents } from '../files/sweep.ts'
import { purgeHistories, purgeHistory } from '../history/purge.ts'
import { sweepCalls } from '../log/calls/sweep.ts'
import type { Db } from '../storage/database/client.ts'
import { limitResponseTime } from '../storage/database/deadline.ts'
import type { JobName, Jobs } from '../storage/database/enqueue-job.ts'
import { buildIndex, dropIndexEntries, resumeBuilds } from './index-jobs.ts'
import { renewStatistics, watchStatistics } from './statistics.ts'

/** The job runner of this process. Several may share a database. */
export type JobRunner = {
  /** Starts to process jobs. Restarts after a database outage. */
  start(): void
  /** Stops processing. Unfinished jobs are retried later. */
  close(): Promise<void>
}

/** One LISTEN connection, and one for each concurrent job. */
const POOL_SIZE = LIMITS.jobsAtOnce + 1
/** Schedule of recurring jobs, run by one process per database: hourly. */
const CRONTAB =
  '7 * * * * purge_histories\n37 * * * * sweep_contents\n52 * * * * sweep_deliveries\n54 * * * * sweep_inbound_deliveries\n56 * * * * sweep_action_runs\n58 * * * * sweep_calls\n17 * * * * sweep_change_sets\n27 * * * * sweep_tasks'

/** Creates a runner with its own connections. */
export function openJobs(scope: Scope, connectionString: string, log: Log, sweeping: Sweeping): JobRunner {
  const { db } = scope
  const pool = openJobPool(connectionString, POOL_SIZE, log)
  const stop = new AbortController()
  const work: Work = { services: { scope, log, sweeping, signal: stop.signal } }
  let working: Promise<void> | undefined
  let resuming: NodeJS.Timeout | undefined
  let unwatch: (() => void) | undefined
  const resume = () =>
    resumeBuilds(db).catch((err) => log.warn({ err }, 'builds of indexes that stopped were not resumed'))
  return {
    start: () => {
      if (stop.signal.aborted) return
      working ??= Promise.all([resume(), keepWorking(work, pool, stop.signal)]).then(() => {})
      resuming ??= setInterval(resume, LIMITS.jobResumeMs).unref()
      unwatch ??= watchStatistics(db)
    },
    close: async () => {
      clearInterval(resuming)
      unwatch?.()
      stop.abort(new Error('The server is stopping; the job is done again later.'))
      await working
      await pool.end()
      // They log, so they keep the engine. A late error of a connection must not end the process.
      pool.removeAllListeners().on('error', ignore)
      work.services = undefined
    },
  }
}

/** Outside of the runner, which a function within it would keep. */
const ignore = (): void => {}

async function keepWorking(work: Work, pool: pg.Pool, signal: AbortSignal): Promise<void> {
  const aborted = whenAborted(signal)
  while (!signal.aborted) {
    try {
      const runner = await start(work, pool)
      await Promise.race([runner.promise, aborted])
      if (signal.aborted) await runner.stop()
    } catch (err) {
      if (!signal.aborted) work.services?.log.warn({ err }, 'the job runner stopped; it starts again')
    }
    await Promise.race([pause(LIMITS.jobRestartMs, undefined, { ref: false }), aborted])
  }
}

async function start(work: Work, pool: pg.Pool): Promise<Runner> {
  // Lazy import, after the server listens.
  const { Logger, run } = await import('graphile-worker')
  const quiet = new Logger(() => (level, message, meta) => {
    const { services } = work
    if ((level === 'error' || level === 'warning') && services && !services.signal.aborted)
      services.log.warn(
        { job: message },
        meta?.['failure'] ? 'a job failed' : 'the job runner had a failure; it goes on',
      )
  })
  return run({
    pgPool: pool,
    logger: quiet,
    taskList: tasks(work),
    concurrency: LIMITS.jobsAtOnce,
    pollInterval: LIMITS.jobPollMs,
    noHandleSignals: true,
    crontab: CRONTAB,
    // Batches report a database error to the runner. Without them it is an unhandled rejection, which ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  })
}

/**
 * What jobs work on, until the runner closes. graphile-worker keeps the options of each runner for the life of the
 * process, so they must not lead to the engine.
 */
type Work = { services: Services | undefined }
type Services = {
  readonly scope: Scope
  readonly log: Log
  readonly sweeping: Sweeping
  readonly signal: AbortSignal
}
/** How long a content stays that nothing refers to. A restored copy removes none: its original may have the same store. */
type Sweeping = { readonly unreferencedMs: number; readonly isHeld: () => boolean }
/** Safe cast: each task receives the payload that `enqueue` stored for it. */
type AnyTask = (db: Db, payload: unknown, signal: AbortSignal, services: Services) => Promise<void>

const tasks = (work: Work): TaskList =>
  Object.fromEntries(
    Object.entries(TASKS).map(([name, task]) => [
      name,
      (payload: unknown) => {
        if (!work.services) throw new Error('The job runner is closed.')
        const { scope, signal } = work.services
        return (task as AnyTask)(scope.db, payload, signal, work.services)
      },
    ]),
  )

/** Handler of a job. Runs at least once. On abort it throws, and the job is retried later. */
type Task<Name extends JobName> = (
  db: Db,
  payload: Jobs[Name],
  signal: AbortSignal,
  services: Services,
) => Promise<void>

/** The handlers, by job name. */
const TASKS: { [Name in JobName]: Task<Name> } = {
  build_index: buildIndex,
  drop_index_entries: dropIndexEntries,
  purge_history: purgeHistory,
  purge_histories: purgeHistories,
  renew_statistics: renewStatistics,
  sweep_contents: async (db, _payload, signal, { scope, sweeping }) => {
    if (!sweeping.isHeld()) await sweepContents(db, scope.blobs, signal, sweeping.unreferencedMs)
  },
  sweep_deliveries: sweepDeliveries,
  sweep_inbound_deliveries: sweepInboundDeliveries,
  sweep_action_runs: sweepRuns,
  sweep_calls: sweepCalls,
  sweep_tasks: sweepTasks,
  sweep_change_sets: (_db, _payload, signal, { scope }) => sweepChangeSets(scope, signal),
}

// The connections of the job runner.

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
