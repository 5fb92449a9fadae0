import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Detail,
  DomainError,
  errorBody,
  FAILURES,
  invalid,
  oneFault,
  toDomainError,
} from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { logFailure } from '../foundation/log.ts'
import { asksForPage, HTML, htmlPage, TEXT_POLICY } from './html-page.ts'
import { newRequestId, requestIdOf } from './request-log.ts'
import { addVary } from './shared-document.ts'
import { hasStreamedBody } from './streamed-bodies.ts'

/** Maps Fastify's own errors to domain errors. */
const FRAMEWORK: Record<string, (request: FastifyRequest) => DomainError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions: { bodyLimit } }) =>
    invalid({
      path: '',
      code: 'body_too_large',
      message: `The body exceeds ${bodyLimit} bytes. Send less, or several requests.`,
      expected: bodyLimit,
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ routeOptions }) =>
    unsupportedMedia(routeOptions.config.accepts ?? ['application/json']),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    invalid({
      path: 'header/Content-Length',
      code: 'malformed',
      message: 'The body length differs from Content-Length.',
    }),
  FST_ERR_BAD_URL: () =>
    invalid({
      path: '',
      code: 'malformed_url',
      message: 'The path is malformed. Check its percent-encoding.',
    }),
}

export const unsupportedMedia = (allowed: readonly string[]): DomainError =>
  invalid({
    path: 'header/Content-Type',
    code: 'unsupported_media_type',
    message: `Send the body as ${allowed.join(' or ')}.`,
    allowed,
  })

/** Maps any thrown value to a domain error. */
function asDomainError(thrown: unknown, request: FastifyRequest): DomainError {
  if (thrown instanceof DomainError) return thrown
  const { code = '', statusCode = 500 } = (thrown ?? {}) as Partial<FastifyError>
  const known = FRAMEWORK[code]
  if (known) return known(request)
  if (statusCode === 404) return notFound(request)
  if (statusCode >= 400 && statusCode < 500)
    return invalid({ path: '', code: 'malformed_request', message: 'The request is malformed.' })
  return toDomainError(thrown)
}

/** What an unknown route may mean, by its method and path. */
type RouteAdvice = (method: string, path: string) => Pick<Detail, 'message' | 'hint' | 'allowed'> | undefined

/** NOT_FOUND for an unknown route. Omits the query, because it may contain secrets. */
export function notFound(
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
  advise?: RouteAdvice,
): DomainError {
  const [path = ''] = url.split('?', 1)
  // HEAD returns the headers of GET, including Content-Length.
  const verb = method === 'HEAD' ? 'GET' : method
  const { message = '', ...advice } = advise?.(verb, path) ?? {}
  return oneFault('NOT_FOUND', `No route matches ${verb} ${path.slice(0, LIMITS.routeShownChars)}.`, {
    path: '',
    code: UNKNOWN_ROUTE,
    message: message === '' ? ALL : `${message} ${ALL}`,
    ...advice,
  })
}
const UNKNOWN_ROUTE = 'unknown_route'
const ALL = 'GET / lists the surfaces of this server, GET /openapi.json all routes of REST.'

/**
 * Prepares an error response: logs internal errors with their cause, sets `Retry-After` if a retry helps, and
 * `WWW-Authenticate` if a token is needed.
 */
export function refusal(thrown: unknown, request: FastifyRequest, reply: FastifyReply): DomainError {
  const error = asDomainError(thrown, request)
  request.failure = error
  // The rest of a refused transfer is not read.
  if (!request.raw.complete && hasStreamedBody(request)) reply.header('connection', 'close')
  if (reply.getHeader('connection') === 'close') lingerOn(request, reply)
  logFailure(request.log, error, thrown)
  if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="plinth"')
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
  return error
}

/** Sends the error body. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  try {
    const error = refusal(thrown, request, reply)
    if ((thrown as { replayed?: unknown } | null)?.replayed === true)
      reply.header('idempotency-replayed', 'true')
    sendBody(error, request, reply)
  } catch (fault) {
    // Fastify would answer in a form of its own, with the message of the fault.
    request.log.error({ err: fault }, 'a failure could not be sent')
    sendBody(toDomainError(fault), request, reply)
  }
}

function sendBody(error: DomainError, request: FastifyRequest, reply: FastifyReply): void {
  const isPage = error.details[0]?.code === UNKNOWN_ROUTE && isOfPeople(request)
  const body = isPage ? NO_PAGE : JSON.stringify(errorBody(error, request.id))
  if (isPage) {
    addVary(reply, 'Accept')
    reply.header('content-security-policy', TEXT_POLICY)
  }
  // Serialized by hand, so that the serializer of the route does not run.
  reply
    .code(FAILURES[error.code].status)
    .header('content-type', isPage ? HTML : 'application/json; charset=utf-8')
    .header('x-request-id', request.id)
    .serializer((text: string) => text)
    .send(body)
}

/** Whether a browser opens an address that is none of the API. */
const isOfPeople = (request: FastifyRequest): boolean =>
  ['GET', 'HEAD'].includes(request.method) && !request.url.startsWith('/v1') && asksForPage(request)

const NO_PAGE = htmlPage(
  'No such page',
  '<h1>There is no such page.</h1><p><a href="/">To the start</a> · <a href="/guides">Guides</a></p>',
)

const MALFORMED: Detail = {
  path: '',
  code: 'malformed_http',
  message: 'The request is malformed HTTP.',
}
const SOCKET_FAULTS: Readonly<Record<string, Detail>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    path: '',
    code: 'request_too_slow',
    message: 'The request did not arrive in time. Send its headers and its body at once.',
  },
  HPE_HEADER_OVERFLOW: {
    path: '',
    code: 'headers_too_large',
    message: 'The URL and the headers are too large. Send less than 64 KiB of them.',
  },
}

/** Sockets whose refusal waits for a response. */
const waiting = new WeakSet<Socket>()

/**
 * Answers unparsable HTTP on the raw socket. A request before it that was read whole may have effects, so its response
 * is sent first.
 */
export function refuseSocket(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || waiting.has(socket)) return
  const response = responseOn(socket)
  if (response?.req.complete) {
    waiting.add(socket)
    response.once('close', () => {
      waiting.delete(socket)
      refuseSocket(error, socket)
    })
    return
  }
  const requestId = newRequestId()
  const body = JSON.stringify(errorBody(invalid(SOCKET_FAULTS[error.code ?? ''] ?? MALFORMED), requestId))
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** The response that the socket sends next; Node keeps those after it. */
const responseOn = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage

/** Node answers an unknown `Expect` with 417 and no error body. Send our error body instead. */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const requestId = requestIdOf(request)
  const refused = invalid({
    path: 'header/Expect',
    code: 'unsupported_expectation',
    message: 'Only "Expect: 100-continue" is supported. Leave the header out.',
    received: request.headers.expect?.slice(0, 64),
    allowed: ['100-continue'],
  })
  response
    .writeHead(400, {
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': requestId,
      connection: 'close',
    })
    .end(JSON.stringify(errorBody(refused, requestId)))
}

/**
 * Lingering close: when a response ends a connection while the client still sends the body, reads and
 * discards the rest, within limits. Otherwise a TCP reset could reach the client before the response.
 */
function lingerOn({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
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
