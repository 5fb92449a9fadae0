/** Requests with retries. */
import { errorOf, PlinthError, unreachable } from './errors.ts'

export type HttpOptions = {
  /** Where the server is: `http://127.0.0.1:4000`. */
  url: string
  /** An API token, or a function that returns a fresh one. */
  token: string | (() => string | Promise<string>)
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** How often a request is sent again: 3 by default. */
  retries?: number
  /** How long one try of a request may take: 35 s by default. */
  timeoutMs?: number
}

export type Sent = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  headers?: Record<string, string | undefined>
  signal?: AbortSignal | undefined
  /** A POST that writes nothing gets no idempotency key. */
  reads?: boolean
}

const RETRIES = 3
const TIMEOUT_MS = 35_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 60_000
/** Rate limits, and proxies without a server behind them. */
const PASSING = [429, 502, 503, 504]
/**
 * A server whose database is away answers 500, and says when to try again. Where it does not know whether a write was
 * applied, the key of the write makes it safe to send it again.
 */
const mayPass = ({ status, headers }: Response, { details }: PlinthError): boolean =>
  PASSING.includes(status) ||
  (status === 500 && (headers.has('retry-after') || details.some(({ code }) => code === 'outcome_unknown')))

export class Http {
  readonly #options: HttpOptions

  constructor(options: HttpOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') }
  }

  /**
   * Sends a request to a path below `/v1` until it is answered. A write has an idempotency key, so that it takes
   * effect once even if its answer was lost.
   * @throws PlinthError
   */
  async request<Answer>(path: string, sent: Sent = {}): Promise<Answer> {
    const key = isWrite(sent) ? { 'idempotency-key': newKey() } : {}
    const headers = { ...key, ...sent.headers }
    const { retries = RETRIES, timeoutMs = TIMEOUT_MS } = this.#options
    for (let tries = 0; ; tries++) {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = sent.signal ? AbortSignal.any([sent.signal, timeout]) : timeout
      const outcome = await this.#try(path, { ...sent, headers, signal })
      if (!(outcome instanceof Failed)) return outcome as Answer
      sent.signal?.throwIfAborted()
      if (!outcome.mayPass || tries >= retries || outcome.pauseMs(tries) > LONGEST_PAUSE_MS)
        throw outcome.error
      await pause(outcome.pauseMs(tries), sent.signal)
    }
  }

  async #try(path: string, sent: Sent): Promise<unknown> {
    let status = 0
    try {
      const response = await this.open(path, sent)
      status = response.status
      const text = await response.text()
      if (response.ok) return text === '' ? undefined : JSON.parse(text)
      const error = errorOf(status, text)
      return new Failed(error, mayPass(response, error), response.headers.get('retry-after'))
    } catch (error) {
      return new Failed(
        error instanceof PlinthError ? error : unreachable(this.#options.url, error),
        true,
        null,
      )
    }
  }

  /** Sends a request once, without reading the response. */
  async open(
    path: string,
    { method = 'GET', query = {}, body, headers = {}, signal }: Sent,
  ): Promise<Response> {
    const { url, token, fetch = globalThis.fetch } = this.#options
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, String(value))
    const all: Record<string, string> = {
      accept: 'application/json',
      authorization: `Bearer ${typeof token === 'function' ? await token() : token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all[name] = value
    return fetch(`${url}/v1${path}${search.size > 0 ? `?${search}` : ''}`, {
      method,
      headers: all,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
  }
}

/** A try that did not succeed. */
class Failed {
  readonly error: PlinthError
  readonly mayPass: boolean
  readonly #retryAfter: number | undefined

  constructor(error: PlinthError, mayPass: boolean, retryAfter: string | null) {
    this.error = error
    this.mayPass = mayPass
    this.#retryAfter =
      retryAfter === null || !/^\d+$/.test(retryAfter) ? undefined : Number(retryAfter) * 1000
  }

  pauseMs(tries: number): number {
    return this.#retryAfter ?? FIRST_PAUSE_MS * 2 ** tries
  }
}

const isWrite = ({ method = 'GET', reads }: Sent): boolean => method !== 'GET' && !reads

/** Also on pages without a secure context, which have no `randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

/** A segment of a path. */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`"${id}" is not an id.`)
  return `/${encodeURIComponent(id)}`
}

/** @throws the reason of the signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}
