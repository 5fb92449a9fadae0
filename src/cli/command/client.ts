/** HTTP client of the commands, with retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, misused, unreachable } from './failure.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Call = {
  method: Method
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  /** JSON text; undefined sends no body. */
  body: string | undefined
  /** A body that streams, in place of the JSON text. */
  content?: NonNullable<RequestInit['body']>
  /** The connections of the request, if not those of all. */
  dispatcher?: object
  /** The local file for the content of the response. */
  output?: string
  /** The response is an endless stream, so no timeout applies. */
  streams: boolean
  patienceMs?: number
}
/** A success: the body as text and parsed. */
export type Answer = { text: string; body: unknown; replayed: boolean }

/** A GET of a path below /v1. */
export const get = (path: string, query = new URLSearchParams()): Call => ({
  method: 'GET',
  path,
  query,
  headers: {},
  body: undefined,
  streams: false,
})

/** Client timeout, above the server's request timeout of 30 s. */
export const PATIENCE_MS = 35_000
const RETRIES = 3
const LONGEST_WAIT_S = 60
const REPEATABLE: readonly Method[] = ['GET', 'PUT', 'DELETE']

/**
 * Sends an API request and retries when rate-limited.
 * @throws Failure unless it succeeds
 */
export async function call(url: string, token: string | undefined, request: Call): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const response = await send(url, token, request)
    const wait = Number(response.headers.get('retry-after') ?? 1)
    const isOnce = REPEATABLE.includes(request.method) || 'idempotency-key' in request.headers
    const mayRepeat = isOnce && attempt < RETRIES && wait <= LONGEST_WAIT_S
    if (response.status === 429 && mayRepeat) await sleep(wait * 1000)
    else return read(response, url, token)
  }
}

async function send(url: string, token: string | undefined, request: Call): Promise<Received> {
  const { patienceMs = PATIENCE_MS } = request
  try {
    return await received(await open(url, token, request, AbortSignal.timeout(patienceMs)))
  } catch (error) {
    throw noAnswer(url, error, patienceMs)
  }
}

/** Sends the request. The response body is not read yet. */
export function open(
  url: string,
  token: string | undefined,
  { method, path, query, headers, body, content, dispatcher }: Call,
  signal: AbortSignal,
): Promise<Response> {
  const all = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  }
  const search = query.size > 0 ? `?${query}` : ''
  const init: RequestInit & { dispatcher?: object } = {
    method,
    headers: checkHeaders(all),
    body: content ?? body ?? null,
    ...(content && { duplex: 'half' as const }),
    ...(dispatcher && { dispatcher }),
    redirect: 'manual',
    signal,
  }
  return fetch(`${url}/v1${path}${search}`, init)
}

/** Reads the whole response. */
export const received = async (response: Response): Promise<Received> => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
})

function checkHeaders(headers: Record<string, string>): Headers {
  const checked = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    try {
      checked.set(name, value)
    } catch {
      // Do not print the value: it may be the token.
      throw misused(
        `The value for the header "${name}" contains characters that are not allowed in a header.`,
      )
    }
  }
  return checked
}

export function noAnswer(url: string, error: unknown, patienceMs = PATIENCE_MS): Failure {
  if (error instanceof Error && error.name === 'TimeoutError')
    return unreachable(`The server at ${url} did not answer within ${patienceMs / 1000} seconds.`, error)
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  if (cause?.code === 'ECONNREFUSED')
    return unreachable(
      `No server listens at ${url}. Start one with "plinth serve", or name another with PLINTH_URL or --url.`,
      error,
    )
  return unreachable(
    `The server at ${url} cannot be reached (${cause?.code ?? cause?.message ?? 'no connection'}).`,
    error,
  )
}

type Received = { status: number; headers: Headers; text: string }

/**
 * Parses a response.
 * @throws Failure unless it is a success
 */
export function read({ status, headers, text }: Received, url: string, token: string | undefined): Answer {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw unreachable(`The server at ${url} is not Plinth (HTTP ${status}). Check PLINTH_URL and --url.`)
  }
  if (status >= 200 && status < 300)
    return { text, body, replayed: headers.get('idempotency-replayed') === 'true' }
  const error = (body as { error?: { code?: unknown; message?: unknown } } | null)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string')
    throw unreachable(`The server at ${url} is not Plinth (HTTP ${status}). Check PLINTH_URL and --url.`)
  const advice =
    status === 401 && token === undefined
      ? 'No token was sent: set PLINTH_TOKEN, or pass --token.'
      : undefined
  throw new Failure(body as Failure['body'], { advice })
}
