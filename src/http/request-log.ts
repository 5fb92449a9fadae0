import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { readTrace, type Trace } from './trace-context.ts'

/** Additional log fields of a request, or of one message of it. */
export type Said = { trace?: Trace | undefined } & Record<string, unknown>

/** Access log: one line per request, or per message of a multi-message request. */
export function logRequests(app: FastifyInstance, log: Logger): void {
  app.decorateRequest('about')
  app.addHook('onRequest', (request, reply, done) => {
    // On close, not on response: a call of a disconnected client may have had effects too.
    if (log.isLevelEnabled('info')) reply.raw.once('close', () => write(request, reply))
    done()
  })
}

function write(request: FastifyRequest, reply: FastifyReply): void {
  // Log the route pattern and not the URL, because a query may contain secrets.
  const { method, routeOptions, caller } = request
  const status = reply.raw.headersSent ? reply.statusCode : CLIENT_GONE
  const line = {
    method,
    route: routeOptions.url,
    status,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    token: caller?.scope.actor.tokenId,
  }
  const ofHeaders = traceOf(request)
  for (const { trace = ofHeaders, ...said } of request.about?.(status) ?? [{}])
    request.log.info({ ...line, ...trace, ...said }, 'request')
}

/** Status for requests whose client disconnected before the response, as proxies log it. Never sent. */
export const CLIENT_GONE = 499

const traceOf = ({ headers }: FastifyRequest): Trace | undefined =>
  readTrace(headers['traceparent'], headers['tracestate'])

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Returns the surface's log fields, one per message and at least one. Called only if the line is logged.
     */
    about: ((status: number) => readonly Said[]) | undefined
  }
}
