/** The embedded PostgreSQL cluster: one server per data directory, shared by the processes that use it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../foundation/limits.ts'
import { findBinaries } from './binaries.ts'
import { guard, unguard } from './guard.ts'
import { truncateLog } from './launch.ts'
import { claimOwnership, type Ownership } from './ownership.ts'
import { type PostgresPaths, preparePlace } from './paths.ts'
import { isAway, probe, query } from './probe.ts'
import { readPidFile, serverProcesses } from './processes.ts'
import { joinOrStart, requireSystem, systemIn } from './start.ts'
import { stopByPgCtl } from './windows.ts'

/** `adopted` means that the server was running already, started by a killed or by another process. */
export type Cluster = {
  url: string
  stop(): Promise<void>
  adopted: boolean
  /** Ends the server when this process is gone and no other has taken it over. A start guards it too. */
  guard(): void
  /** Rotates the log of the running server. */
  truncateLog(): void
}

type ClusterLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * Opens the cluster in `<dataDir>/postgres`: creates and starts it if necessary. Several processes may do so
 * at the same time. `claimOwnership` determines which of them serves it, and only that one may call `stop`.
 * @param options.settings settings of PostgreSQL that replace those of Plinth, if this call starts the server
 * @param options.startMs how long the start may take, with a recovery
 */
export async function openCluster(options: {
  dataDir: string
  log: ClusterLog
  settings?: Readonly<Record<string, string>>
  startMs?: number
}): Promise<Cluster> {
  const { dataDir, log, settings = {} } = options
  const begun = performance.now()
  const paths = await preparePlace(dataDir)
  const { server, adopted } = await joinOrStart(paths, settings, options.startMs)
  const ms = Math.round(performance.now() - begun)
  if (adopted) log.warn({ pid: server.pid, ms }, 'joined a PostgreSQL that was already running')
  else log.info({ pid: server.pid, ms }, 'PostgreSQL is ready')

  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopServer(paths, server).then(() => unguard(paths))
    return stopped
  }
  return {
    url: server.url,
    stop,
    adopted,
    guard: () => guard(paths),
    truncateLog: () => truncateLog(paths.logFile),
  }
}

/** The address of the server of a data directory; undefined if it does not run. */
export async function runningCluster(dataDir: string): Promise<string | undefined> {
  const answer = await probe(await preparePlace(dataDir))
  return answer.state === 'ready' ? answer.url : undefined
}

type Supervised = { url: string; close(): Promise<void> }

/**
 * Opens the cluster and acquires the ownership lock. Restarts the server if it dies; its address stays the
 * same, so connection pools reconnect. Returns null if another live process serves the directory.
 */
export async function supervise(options: {
  dataDir: string
  log: ClusterLog
  settings?: Readonly<Record<string, string>>
}): Promise<Supervised | null> {
  const { log } = options
  let running: { cluster: Cluster; ownership: Ownership } | undefined
  let closing = false
  let opening = false
  let restarting: Promise<void> | undefined
  let system: string | undefined

  /** Takes the server. Returns undefined if it has to be opened again, null if another process serves it. */
  const take = async (cluster: Cluster): Promise<Ownership | null | undefined> => {
    const seen = { isLost: false }
    const lost = () => {
      seen.isLost = true
      onLost()
    }
    const ownership = await claimOwnership(cluster.url, { onLost: lost })
    // A process that began at the same time may have guarded it last, and is about to end.
    if (ownership) cluster.guard()
    if (!ownership || !cluster.adopted) return ownership
    try {
      if (await hasSettings(cluster.url, options.settings)) {
        // The guard of the process before may have begun to end it.
        await query(cluster.url, 'SELECT')
        if (!seen.isLost) return ownership
      }
    } catch (error) {
      await ownership.release()
      throw error
    }
    await ownership.release()
    await cluster.stop()
    return undefined
  }
  const open = async (): Promise<boolean> => {
    const deadline = performance.now() + LIMITS.clusterStartMs
    opening = true
    try {
      for (;;) {
        const cluster = await openCluster(options)
        const ownership = await take(cluster).catch((error) => {
          if (!isAway(error) || performance.now() > deadline) throw error
          return undefined
        })
        running = ownership ? { cluster, ownership } : undefined
        if (ownership !== undefined) return ownership !== null
        await sleep(LIMITS.clusterFirstPauseMs)
      }
    } finally {
      opening = false
    }
  }
  function onLost(): void {
    if (closing || opening) return
    log.warn({}, 'the embedded PostgreSQL stopped and is restarted')
    restarting ??= restart().finally(() => {
      restarting = undefined
    })
  }
  const restart = async (): Promise<void> => {
    while (!closing) {
      try {
        // A new database in the place of one that was lost would answer every request with a failure.
        await requireSystem(options.dataDir, system)
        if (await open()) return
      } catch (err) {
        log.warn({ err }, 'the embedded PostgreSQL did not start; retrying')
      }
      await sleep(LIMITS.clusterRetryMs)
    }
  }

  await open()
  if (!running) return null
  system = await systemIn(options.dataDir)
  const truncateLog = () => {
    try {
      running?.cluster.truncateLog()
    } catch (err) {
      log.warn({ err }, 'the log of the embedded PostgreSQL could not be truncated')
    }
  }
  const shortening = setInterval(truncateLog, LIMITS.clusterLogCheckMs).unref()
  return {
    url: running.cluster.url,
    // PostgreSQL stops last, after its clients.
    close: async () => {
      closing = true
      clearInterval(shortening)
      await restarting
      await running?.ownership.release()
      await running?.cluster.stop()
    },
  }
}

/** Whether a server that was started before archives as this one would. */
async function hasSettings(url: string, settings: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const names = ['archive_mode', 'basic_archive.archive_directory']
  const asked = names.map((name) => `coalesce(current_setting('${name}', true), '') AS "${name}"`)
  const [found] = await query<Record<string, string>>(url, `SELECT ${asked.join(', ')}`)
  return names.every((name) => found?.[name] === (settings[name] ?? (name === 'archive_mode' ? 'off' : '')))
}

// Stops the server, even if another process started it.

/**
 * Shutdown modes in order: fast (disconnects sessions, flushes data), immediate (crash recovery at the next
 * start), SIGKILL.
 */
const STEPS = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

type Server = { pid: number; run: string }

/** Stops `server` only. A server that replaced it in the meantime keeps running. */
async function stopServer(paths: PostgresPaths, server: Server): Promise<void> {
  if (process.platform === 'win32') {
    if (isServing(paths, server)) await stopByPgCtl(findBinaries().pgCtl, paths.pgdata)
    return
  }
  for (const { signal, waitMs } of STEPS) {
    if (isServing(paths, server)) await signalServer(paths, server, signal)
    if (await isGoneWithin(waitMs, paths, server)) return
  }
  throw new Error(`The PostgreSQL of ${paths.dataDir} does not stop.`)
}

async function signalServer(paths: PostgresPaths, { pid }: Server, signal: NodeJS.Signals): Promise<void> {
  if (serverProcesses(paths.pgdata).includes(pid) && sendSignal(pid, signal)) return
  // The process belongs to another user or pid namespace. Let the server signal its own postmaster.
  const answer = await probe(paths)
  if (answer.state !== 'ready' || answer.pid !== pid) return
  await query(answer.url, `COPY (SELECT) TO PROGRAM 'kill -s ${signal.slice(3)} ${pid}'`).catch(() => {})
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}

async function isGoneWithin(waitMs: number, paths: PostgresPaths, server: Server): Promise<boolean> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(LIMITS.clusterStopPollMs)) {
    if (await isGone(paths, server)) return true
  }
  return false
}

/** A postmaster removes its pid file last. A killed one leaves it, and its children live on for a moment. */
async function isGone(paths: PostgresPaths, server: Server): Promise<boolean> {
  const alive = serverProcesses(paths.pgdata)
  if (!isServing(paths, server)) return !alive.includes(server.pid)
  return alive.length === 0 && (await probe(paths)).state === 'absent'
}

/** The pid file goes with a data directory that was removed: its server then is the process of that pid. */
function isServing(paths: PostgresPaths, server: Server): boolean {
  const file = readPidFile(paths.pgdata)
  return file ? file.run === server.run : serverProcesses(paths.pgdata).includes(server.pid)
}
