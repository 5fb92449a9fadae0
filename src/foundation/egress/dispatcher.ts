/** Sends every request of this server to an address that a user chose. It connects to public addresses only. */
import { Agent, errors } from 'undici'
import { LIMITS } from '../limits.ts'
import { endSpan, startSpan, traceHeader } from '../tracing.ts'
import type { PrivateHosts } from './allowed-addresses.ts'
import { BlockedAddress, guardedLookup, type Resolve, systemResolver } from './guarded-lookup.ts'
import { urlFault } from './url-fault.ts'

type Outgoing = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** How much of an answer is kept, and how long it may take; by default, what a receiver of events needs. */
  readonly answerBytes?: number
  readonly timeoutMs?: number
}

/** The result of a request. `body` is the part of the answer that is kept; `error` says why there is no answer. */
export type Sent = {
  readonly status: number | null
  readonly body: string
  readonly isCut: boolean
  readonly durationMs: number
  readonly error: SendError | null
}
type SendError = { readonly reason: string; readonly message: string }

export type Egress = {
  readonly privateHosts: PrivateHosts
  /** Sends a request. Never throws for what the receiver does. Follows no redirect. */
  send(request: Outgoing, signal?: AbortSignal): Promise<Sent>
  close(): Promise<void>
}

const HELD: SendError = {
  reason: 'held',
  message: 'This is a restored copy: nothing is sent until "plinth deliveries resume".',
}

/** Opens the dispatcher. It has connections of its own, and no proxy. While it is held, nothing is sent. */
export function openEgress(
  privateHosts: PrivateHosts,
  resolve: Resolve = systemResolver(),
  isHeld: () => boolean = () => false,
): Egress {
  const agent = new Agent({
    connect: { lookup: guardedLookup(privateHosts, resolve), timeout: LIMITS.egressTimeoutMs },
    // No limit for an origin, which slow requests could use up for others. Callers limit what is in flight.
    connections: null,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: LIMITS.egressHeaderBytes,
    headersTimeout: LIMITS.egressTimeoutMs,
    bodyTimeout: LIMITS.egressTimeoutMs,
    keepAliveTimeout: LIMITS.egressIdleMs,
    keepAliveMaxTimeout: LIMITS.egressIdleMs,
  })
  return {
    privateHosts,
    send: async (request, stopped) => {
      const { url, method, headers, body } = request
      const { answerBytes = LIMITS.egressAnswerBytes, timeoutMs = LIMITS.egressTimeoutMs } = request
      const startedAt = performance.now()
      const after = () => Math.round(performance.now() - startedAt)
      const failed = (error: SendError): Sent => ({
        ...{ status: null, body: '', isCut: false, durationMs: after(), error },
      })
      if (isHeld()) return failed(HELD)
      // A socket does not look up an address, so an address is checked here.
      const fault = urlFault(url, privateHosts)
      if (fault) return failed({ reason: fault.code, message: fault.message })
      const { origin, pathname, search, hostname } = new URL(url)
      const span = startSpan(method, 'client', { 'http.request.method': method, 'server.address': hostname })
      const deadline = AbortSignal.timeout(timeoutMs)
      const signal = stopped ? AbortSignal.any([deadline, stopped]) : deadline
      try {
        const asked = agent.request({
          ...{
            origin,
            path: pathname + search,
            method,
            headers: { ...traceHeader(span), ...headers },
            signal,
            body: body ?? null,
          },
        })
        const { statusCode, body: answer } = await unlessAborted(asked, signal)
        endSpan(span, { 'http.response.status_code': statusCode }, statusCode >= 500)
        return {
          status: statusCode,
          ...(await firstBytes(answer, answerBytes)),
          durationMs: after(),
          error: null,
        }
      } catch (thrown) {
        endSpan(span, {}, true)
        return failed(describe(thrown, deadline.aborted, timeoutMs))
      }
    },
    close: () => agent.destroy(),
  }
}

/** The agent itself looks at a signal only once it is connected, and names can take long to look up. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

type Answer = AsyncIterable<Uint8Array> | Iterable<never>

/** Reads the start of an answer, and gives up the connection if there is more. */
export async function firstBytes(answer: Answer, most: number): Promise<Pick<Sent, 'body' | 'isCut'>> {
  const chunks: Uint8Array[] = []
  let left = most
  for await (const chunk of answer) {
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left < 0) break
  }
  return { body: Buffer.concat(chunks).toString('utf8'), isCut: left < 0 }
}

/** The failure in words of the operator: no stack, no addresses of this network. */
function describe(thrown: unknown, isLate: boolean, timeoutMs: number): SendError {
  const causes = causesOf(thrown)
  if (causes.some((each) => each instanceof BlockedAddress))
    return { reason: 'blocked_address', message: 'The name leads to an address that is not public.' }
  const isTimeout = causes.some(
    (each) =>
      each instanceof errors.ConnectTimeoutError ||
      each instanceof errors.HeadersTimeoutError ||
      each instanceof errors.BodyTimeoutError,
  )
  if (isLate || isTimeout)
    return {
      reason: 'timeout',
      message: `There was no whole answer within ${timeoutMs / 1000} s.`,
    }
  if (causes.some((each) => each.name === 'HTTPParserError'))
    return { reason: 'connection_failed', message: 'The answer is not HTTP.' }
  const code = causes.map((each) => (each as NodeJS.ErrnoException).code).find((each) => each !== undefined)
  return {
    reason: 'connection_failed',
    message: MEANINGS[code ?? ''] ?? `The connection failed (${code ?? 'unknown'}).`,
  }
}

/** An error, its causes, and those of each address that was tried. */
function causesOf(thrown: unknown): Error[] {
  const found: Error[] = []
  const add = (each: unknown): void => {
    if (!(each instanceof Error) || found.includes(each)) return
    if (each instanceof AggregateError) for (const one of each.errors) add(one)
    found.push(each)
    add(each.cause)
  }
  add(thrown)
  return found
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection before it answered.',
  UND_ERR_SOCKET: 'The receiver closed the connection before it answered.',
  EHOSTUNREACH: 'The receiver is not reachable.',
  ENETUNREACH: 'The receiver is not reachable.',
  EPIPE: 'The receiver closed the connection before it answered.',
  ENOTFOUND: 'The name of the receiver does not exist.',
  EBADNAME: 'The name of the receiver is not one that can exist.',
  EAI_AGAIN: 'The name of the receiver could not be looked up.',
  ETIMEOUT: 'The name of the receiver could not be looked up in time.',
  ESERVFAIL: 'The name of the receiver could not be looked up.',
  EREFUSED: 'The name of the receiver could not be looked up.',
  EBADRESP: 'The name of the receiver could not be looked up.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer is not HTTP: it has two lengths.',
  UND_ERR_HEADERS_OVERFLOW: 'The answer has too large headers.',
}
