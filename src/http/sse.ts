import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { LIMITS } from '../foundation/limits.ts'

/** The bytes of one Server-Sent Event; may be shared by several streams. */
export type ServerEvent = Buffer

/**
 * Serializes an event. Source: WHATWG HTML, "Server-sent events". JSON has no raw line breaks, so `data` is
 * one line.
 */
export const serverEvent = (name: string, id: number, data: object): ServerEvent =>
  Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

/** An event without an id, for streams that cannot be resumed. */
export const serverMessage = (data: object): ServerEvent =>
  Buffer.from(`event: message\ndata: ${JSON.stringify(data)}\n\n`)

/**
 * Start of a stream: reconnect delay, and the id to resume from before the first event. Without an id the
 * stream cannot be resumed.
 */
const opening = (id: number | null) => Buffer.from(id === null ? ': open\n\n' : `retry: 1000\nid: ${id}\n\n`)
const HEARTBEAT = Buffer.from(': alive\n\n')

/** Prepares the connection for an endless response, and counts it as open. */
export function openEnded(reply: FastifyReply): void {
  const { openStreams } = reply.server
  const { via } = reply.request.caller.scope
  const count = (by: 1 | -1) => openStreams.set(via, (openStreams.get(via) ?? 0) + by)
  count(1)
  reply.raw.once('close', () => count(-1))
  // Disable the socket timeout: a stream may be idle.
  reply.request.raw.socket.setTimeout(0)
  // Do not reuse the connection: keep-alive would delay shutdown.
  reply.header('connection', 'close').header('x-accel-buffering', 'no')
}

/**
 * The body of an event stream, with backpressure: it takes the next event only after the client has read the
 * last. A slow client lags and costs no memory. A stalled one is disconnected and can resume.
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

declare module 'fastify' {
  interface FastifyInstance {
    /** The number of open event streams by surface. */
    openStreams: Map<string, number>
  }
}
