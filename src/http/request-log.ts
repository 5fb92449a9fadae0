import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { endSpan, isTraced, type Span, startSpan, within } from '../foundation/tracing.ts'
import { uuidv7 } from '../foundation/uuid.ts'

/** Additional log fields of a request, or of one message of it. */
export type Said = { trace?: Trace | undefined } & Record<string, unknown>

type RecordCalls = (request: FastifyRequest, reply: FastifyReply, status: number) => void

/** Access log: one line per request, or per message of a multi-message request. Calls are recorded at the same time. */
export function logRequests(app: FastifyInstance, log: Logger, record: RecordCalls): void {
  app.decorateRequest('about')
  app.decorateRequest('calls')
  app.decorateRequest('calledBase')
  app.decorateRequest('failure')
  app.decorateRequest('span')
  app.decorateRequest('sentBefore', 0)
  app.decorateRequest('readBefore', 0)
  app.addHook('onRequest', (request, reply, done) => {
    const { socket, headers } = request.raw
    request.sentBefore = socket.bytesWritten
    if (headers['transfer-encoding'] !== undefined) request.readBefore = socket.bytesRead
    const span = isTraced ? spanOf(request) : undefined
    request.span = span
    // On close, not on response: a call of a disconnected client may have had effects too.
    reply.raw.on('close', () => {
      const failed = (err: unknown) => request.log.error({ err }, 'a request was not recorded')
      try {
        record(request, reply, statusOf(reply))
      } catch (err) {
        // The request is answered: what it sent must not end the process.
        failed(err)
      }
      if (span) endSpan(span, { 'http.response.status_code': statusOf(reply) }, statusOf(reply) >= 500)
      if (log.isLevelEnabled('info')) write(request, reply).catch(failed)
    })
    within(span, done)
  })
  // The events of a body are not within the span that its listeners were added in.
  if (isTraced) app.addHook('preHandler', (request, _reply, done) => within(request.span, done))
}

/** The span of a request, within that of its client. */
function spanOf({ method, routeOptions, id, headers }: FastifyRequest): Span | undefined {
  const { traceparent } = headers
  const isSound = readTrace(traceparent, undefined) !== undefined
  const attributes = {
    'http.request.method': method,
    'http.route': routeOptions.url ?? '',
    'plinth.request_id': id,
  }
  return startSpan(
    `${method} ${routeOptions.url ?? ''}`,
    'server',
    attributes,
    isSound ? String(traceparent) : undefined,
  )
}

/** The entries take turns: those of large calls take long to make. */
async function write(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  // Log the route pattern and not the URL, because a query may contain secrets.
  const { method, routeOptions, caller } = request
  const status = statusOf(reply)
  const line = {
    method,
    route: routeOptions.url,
    status,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    token: caller?.scope.actor.tokenId,
  }
  const ofHeaders = traceOf(request)
  const say = ({ trace = ofHeaders, ...said }: Said) => {
    request.log.info({ ...line, ...trace, ...said }, 'request')
  }
  const entries = request.about?.(status)
  if (!entries) return say({})
  for (const said of entries) {
    say(said)
    if (turnIsOver()) await nextTurn()
  }
}

/** The status that was sent. */
const statusOf = ({ raw, statusCode }: FastifyReply): number => (raw.headersSent ? statusCode : CLIENT_GONE)

/** Status for requests whose client disconnected before the response, as proxies log it. Never sent. */
export const CLIENT_GONE = 499

const traceOf = ({ headers }: FastifyRequest): Trace | undefined =>
  readTrace(headers['traceparent'], headers['tracestate'])

declare module 'fastify' {
  interface FastifyRequest {
    /** Its span, if there are spans. */
    span: Span | undefined
    /**
     * Returns the surface's log fields, one per message and at least one. Called only if the line is logged.
     */
    about: ((status: number) => Iterable<Said>) | undefined
  }
}

const SOUND = /^[A-Za-z0-9._:-]{1,128}$/

/** Ordered by time, because the change log is indexed by it. */
export const newRequestId = (): string => uuidv7()

/** The client's `X-Request-Id` if it is valid, else a new id. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && SOUND.test(sent) ? sent : newRequestId()
}

/** W3C Trace Context of a request, from the headers traceparent and tracestate. */
type Trace = { trace_id: string; parent_span_id: string; trace_state?: string }

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/
const KEY = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/
/** Printable ASCII without comma and equals sign, not ending in a space. */
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * Parses the trace context. Malformed headers are ignored, as the specification requires. Unknown versions
 * are parsed as far as version 00 goes.
 */
export function readTrace(parent: unknown, state: unknown): Trace | undefined {
  if (typeof parent !== 'string') return undefined
  const [, version, traceId = '', spanId = '', more] = PARENT.exec(parent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return {
    trace_id: traceId,
    parent_span_id: spanId,
    ...(isState(state) && { trace_state: state }),
  }
}

function isState(state: unknown): state is string {
  if (typeof state !== 'string' || state.length > LIMITS.loggedStateChars) return false
  const members = state.split(',').map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
  const given = members.filter((member) => member !== '')
  const keys = given.map((member) => member.slice(0, Math.max(0, member.indexOf('='))))
  return (
    given.length > 0 &&
    members.length <= LIMITS.loggedStateMembers &&
    new Set(keys).size === keys.length &&
    given.every((member, i) => KEY.test(keys[i] ?? '') && VALUE.test(member.slice(member.indexOf('=') + 1)))
  )
}
