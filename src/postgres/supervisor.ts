/** Supervises the embedded PostgreSQL while this process serves its data directory. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, type ClusterLog, openCluster } from './cluster.ts'
import { claimOwnership, type Ownership } from './ownership.ts'

export type Supervised = { url: string; close(): Promise<void> }

const RETRY_MS = 1000
/** Interval of log rotation. A server process that runs out of memory writes some kilobytes. */
const LOG_CHECK_MS = 60_000

/**
 * Opens the cluster and acquires the ownership lock. Restarts the server if it dies; its address stays the
 * same, so connection pools reconnect. Returns null if another live process serves the directory.
 */
export async function supervise(options: { dataDir: string; log: ClusterLog }): Promise<Supervised | null> {
  const { log } = options
  let running: { cluster: Cluster; ownership: Ownership } | undefined
  let closing = false
  let restarting: Promise<void> | undefined

  const open = async (): Promise<boolean> => {
    const cluster = await openCluster(options)
    const ownership = await claimOwnership(cluster.url, { onLost })
    running = ownership ? { cluster, ownership } : undefined
    return ownership !== null
  }
  function onLost(): void {
    if (closing) return
    log.warn({}, 'the embedded PostgreSQL stopped and is restarted')
    restarting ??= restart().finally(() => {
      restarting = undefined
    })
  }
  const restart = async (): Promise<void> => {
    while (!closing) {
      try {
        if (await open()) return
      } catch (err) {
        log.warn({ err }, 'the embedded PostgreSQL did not start; retrying')
      }
      await sleep(RETRY_MS)
    }
  }

  await open()
  if (!running) return null
  const truncateLog = () => {
    try {
      running?.cluster.truncateLog()
    } catch (err) {
      log.warn({ err }, 'the log of the embedded PostgreSQL could not be truncated')
    }
  }
  const shortening = setInterval(truncateLog, LOG_CHECK_MS).unref()
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
