import type { FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../foundation/limits.ts'

/**
 * Lingering close: when a response ends a connection while the client still sends the body, reads and
 * discards the rest, within limits. Otherwise a TCP reset could reach the client before the response.
 */
export function lingerOn({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  if (request.complete || socket.destroyed) return
  // Node calls this after such a response. Half-close the connection: the client sees the end of the
  // response.
  socket.destroySoon = () => void socket.end()
  let left = LIMITS.lingerBytes
  const late = setTimeout(() => socket.destroy(), LIMITS.lingerMs)
  request.on('data', ({ length }: Buffer) => {
    left -= length
    if (left < 0) socket.destroy()
  })
  request.once('close', () => {
    clearTimeout(late)
    Reflect.deleteProperty(socket, 'destroySoon')
    if (response.writableFinished) socket.destroySoon()
  })
  request.resume()
}
