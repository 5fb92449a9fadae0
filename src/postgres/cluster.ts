/** The embedded PostgreSQL: one server for each data directory, whichever processes use it. */
import { boundLog } from './launch.ts'
import { preparePlace } from './place.ts'
import { joinOrStart } from './start.ts'
import { stopServer } from './stop.ts'

/** `adopted` when the server was already there: an orphan of a killed process, or another process' own. */
export type Cluster = {
  url: string
  stop(): Promise<void>
  adopted: boolean
  /** Keeps the log of the running server to its size. */
  boundLog(): void
}

export type ClusterLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * Opens the cluster in `<dataDir>/postgres`, making and starting it when needed. Several processes may open
 * one at a time: `claimOwnership` tells which of them serves it, and only that one should call `stop`.
 */
export async function openCluster(options: { dataDir: string; log: ClusterLog }): Promise<Cluster> {
  const { dataDir, log } = options
  const begun = performance.now()
  const place = await preparePlace(dataDir)
  const { server, adopted } = await joinOrStart(place)
  const ms = Math.round(performance.now() - begun)
  if (adopted) log.warn({ pid: server.pid, ms }, 'joined a PostgreSQL that was already running')
  else log.info({ pid: server.pid, ms }, 'PostgreSQL is ready')

  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopServer(place, server)
    return stopped
  }
  return { url: server.url, stop, adopted, boundLog: () => boundLog(place.logFile) }
}
