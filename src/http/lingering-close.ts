import type { FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../foundation/limits.ts'

/**
 * Lingering close: where an answer ends a connection whose body is still being sent, the rest of the body is read and
 * discarded first, within bounds. Closed at once, the connection is reset, and the client sees that instead of the answer.
 */
export function lingerOn({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  if (request.complete || socket.destroyed) return
  // What Node calls at the end of such an answer. Ending our side alone tells the client that there is no more to read.
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
