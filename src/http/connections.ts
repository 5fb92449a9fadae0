import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { LIMITS } from '../foundation/limits.ts'

/**
 * Connection limit: closes each connection above `most` before reading from it, and those that wait for nothing, so that
 * the next one has a place. Logs at most once a minute.
 */
export function limitConnections(app: FastifyInstance, most: number, log: Logger): void {
  app.server.maxConnections = most
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  app.server.on('drop', () => {
    dropped++
    app.server.closeIdleConnections()
    if (performance.now() - loggedAt < LIMITS.connectionLogMs) return
    log.warn({ dropped, most }, 'connections were closed: PLINTH_MAX_CONNECTIONS are open')
    loggedAt = performance.now()
    dropped = 0
  })
}

/** Bytes that the client has taken, and the time of the last change. */
type Progress = { taken: string; since: number }

const CHECKS = 6

/**
 * Disconnects clients that read nothing for `stallMs`, because their responses stay in memory. Slow clients
 * that still make progress are kept.
 */
export function cutStalledReaders(app: FastifyInstance, stallMs: number): void {
  const open = socketsOf(app)
  const waiting = new WeakMap<Socket, Progress>()
  const checkSockets = () => {
    const now = performance.now()
    for (const socket of open) {
      if (socket.writableLength === 0) {
        waiting.delete(socket)
        continue
      }
      const taken = readOf(socket)
      const last = waiting.get(socket)
      if (last?.taken !== taken) waiting.set(socket, { taken, since: now })
      else if (now - last.since >= stallMs) socket.destroy()
    }
  }
  const timer = setInterval(checkSockets, stallMs / CHECKS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Progress marker: changes whenever the kernel accepts bytes of a write. */
function readOf(socket: Socket): string {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return `${socket.bytesWritten - socket.writableLength} ${_handle?.writeQueueSize ?? 0}`
}

/**
 * Closes, at shutdown, the connections that have sent nothing. Node does not count them as idle, so that they would
 * delay the shutdown until `LIMITS.finishMs`.
 */
export function closeSilentConnections(app: FastifyInstance): void {
  const open = socketsOf(app)
  app.addHook('preClose', async () => {
    // A request that was sent just before the shutdown is still read and answered.
    setTimeout(() => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    }, LIMITS.silentConnectionMs).unref()
  })
}

/** The open connections of the server, kept up to date. */
function socketsOf(app: FastifyInstance): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}
