/** Request bodies that stream through, for as long as they make progress. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mediaTypeOf } from '../contract/attachment-rules.ts'

/** Whether the body of the request streams. Such a body is not buffered, and has no time limit as a whole. */
export function hasStreamedBody({ headers, routeOptions }: FastifyRequest): boolean {
  const { streams } = routeOptions.config ?? {}
  if (streams === undefined) return false
  return streams === '*' || streams.includes(mediaTypeOf(headers['content-type'] ?? ''))
}

/**
 * Limits the time that a body may take to arrive, except for streamed ones. Node's own limit knows no exceptions. A
 * streamed body that makes no progress ends with the timeout of its connection.
 */
export function limitBodyTime(app: FastifyInstance, limitMs: number): void {
  const limitRest = (request: FastifyRequest) => {
    const { raw } = request
    if (raw.complete || hasStreamedBody(request)) return
    const late = setTimeout(() => {
      if (raw.complete || raw.destroyed) return
      const error = Object.assign(new Error('The body did not arrive in time.'), {
        code: 'ERR_HTTP_REQUEST_TIMEOUT',
      })
      app.server.emit('clientError', error, raw.socket)
    }, limitMs)
    raw.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late))
  }
  app.addHook('onRequest', (request, _reply, done) => {
    done()
    const { 'transfer-encoding': encoding, 'content-length': length = '0' } = request.raw.headers
    // Most bodies come with the headers, and are complete at the end of this turn.
    if (encoding !== undefined || length !== '0') setImmediate(limitRest, request)
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Media types of bodies that stream; `*` for any. */
    streams?: readonly string[] | '*'
  }
}
