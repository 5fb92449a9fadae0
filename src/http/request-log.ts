import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { readTrace, type Trace } from './trace-context.ts'

/** What a surface says of a request beside what all say: of one message of it, where it may hold several. */
export type Said = { trace?: Trace | undefined } & Record<string, unknown>

/** Writes a line for each request; more than one where the request was several messages. */
export function logRequests(app: FastifyInstance, log: Logger): void {
  app.decorateRequest('about')
  app.addHook('onRequest', (request, reply, done) => {
    // And not when it is answered: of a client that has gone the call may have done its work.
    if (log.isLevelEnabled('info')) reply.raw.once('close', () => write(request, reply))
    done()
  })
}

function write(request: FastifyRequest, reply: FastifyReply): void {
  // The route's pattern, not its address: a query may hold what belongs in no log.
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

/** No answer was begun. Proxies call it so; no client ever sees it. */
export const CLIENT_GONE = 499

const traceOf = ({ headers }: FastifyRequest): Trace | undefined =>
  readTrace(headers['traceparent'], headers['tracestate'])

declare module 'fastify' {
  interface FastifyRequest {
    /** What its surface says of it once it is answered; not asked where nothing is logged. At least one. */
    about: ((status: number) => readonly Said[]) | undefined
  }
}
