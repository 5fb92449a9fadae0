import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Bytes that the client has taken, and the time of the last change. */
type Progress = { taken: string; since: number }

const CHECKS = 6

/**
 * Disconnects clients that read nothing for `stallMs`, because their responses stay in memory. Slow clients
 * that still make progress are kept.
 */
export function cutStalledReaders(app: FastifyInstance, stallMs: number): void {
  const open = new Set<Socket>()
  const waiting = new WeakMap<Socket, Progress>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
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
