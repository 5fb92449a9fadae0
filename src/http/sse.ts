import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { LIMITS } from '../foundation/limits.ts'

/** One event; its bytes may be shared with other streams. */
export type ServerEvent = Buffer

/** The bytes of an event. Source: WHATWG HTML, "Server-sent events". JSON text has no line ends, so data is one line. */
export const serverEvent = (name: string, id: number, data: object): ServerEvent =>
  Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

/** A message without a place in an order that a reader could go on from. */
export const serverMessage = (data: object): ServerEvent =>
  Buffer.from(`event: message\ndata: ${JSON.stringify(data)}\n\n`)

/** A client that is cut off comes back after a second, and has a place to go on from before the first event; without a number there is none. */
const opening = (id: number | null) => Buffer.from(id === null ? ': open\n\n' : `retry: 1000\nid: ${id}\n\n`)
const HEARTBEAT = Buffer.from(': alive\n\n')

/** Readies the connection for an answer without end. */
export function openEnded(reply: FastifyReply): void {
  // Nothing comes for as long as nothing happens: no time-out of requests is meant.
  reply.request.raw.socket.setTimeout(0)
  // A connection that lived on after its stream would hold up the end of the process.
  reply.header('connection', 'close').header('x-accel-buffering', 'no')
}

/**
 * The body of an event stream. It takes the next event when the client has taken the last ones, so a slow client is
 * behind and costs no memory; one that takes nothing for long is disconnected, and may go on from its last event.
 */
export function eventStream(
  startsAfter: number | null,
  events: AsyncIterator<ServerEvent>,
  onError: (thrown: unknown) => void,
): Readable {
  let pulling = false
  const body = new Readable({
    highWaterMark: 64 * 1024,
    read: () => void pull(),
    destroy: (error, done) => {
      clearInterval(heartbeat)
      events.return?.().then(() => done(error), done)
    },
  })
  const pull = async (): Promise<void> => {
    if (pulling) return
    pulling = true
    try {
      for (let wants = true; wants && !body.destroyed; ) {
        const { done, value } = await events.next()
        if (body.destroyed) return
        if (done) return void body.push(null)
        wants = body.push(value)
      }
    } catch (thrown) {
      onError(thrown)
      body.destroy()
    } finally {
      pulling = false
    }
  }
  const heartbeat = setInterval(() => {
    if (body.readableLength === 0) body.push(HEARTBEAT)
  }, LIMITS.streamHeartbeatMs).unref()
  body.push(opening(startsAfter))
  return body
}
