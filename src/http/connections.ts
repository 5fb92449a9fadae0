import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

const LOG_EVERY_MS = 60_000

/**
 * Connection limit: closes each connection above `most` before reading from it. Logs at most once a minute.
 */
export function limitConnections(app: FastifyInstance, most: number, log: Logger): void {
  app.server.maxConnections = most
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  app.server.on('drop', () => {
    dropped++
    if (performance.now() - loggedAt < LOG_EVERY_MS) return
    log.warn({ dropped, most }, 'connections were closed: PLINTH_MAX_CONNECTIONS are open')
    loggedAt = performance.now()
    dropped = 0
  })
}
