/** The embedded PostgreSQL cluster: one server per data directory, shared by the processes that use it. */
import { truncateLog } from './launch.ts'
import { preparePlace } from './paths.ts'
import { joinOrStart } from './start.ts'
import { stopServer } from './stop.ts'

/** `adopted` means that the server was running already, started by a killed or by another process. */
export type Cluster = {
  url: string
  stop(): Promise<void>
  adopted: boolean
  /** Rotates the log of the running server. */
  truncateLog(): void
}

export type ClusterLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * Opens the cluster in `<dataDir>/postgres`: creates and starts it if necessary. Several processes may do so
 * at the same time. `claimOwnership` determines which of them serves it, and only that one may call `stop`.
 */
export async function openCluster(options: { dataDir: string; log: ClusterLog }): Promise<Cluster> {
  const { dataDir, log } = options
  const begun = performance.now()
  const paths = await preparePlace(dataDir)
  const { server, adopted } = await joinOrStart(paths)
  const ms = Math.round(performance.now() - begun)
  if (adopted) log.warn({ pid: server.pid, ms }, 'joined a PostgreSQL that was already running')
  else log.info({ pid: server.pid, ms }, 'PostgreSQL is ready')

  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopServer(paths, server)
    return stopped
  }
  return { url: server.url, stop, adopted, truncateLog: () => truncateLog(paths.logFile) }
}
