/** The one way to the server: JSON over REST, with the token of the tab. */
import { Failure, failureOf, OFFLINE } from './failure.ts'
import { ended, token } from './session.ts'

type Init = { signal?: AbortSignal; headers?: Record<string, string> }

/** @throws Failure */
export async function send<T>(method: string, path: string, body?: unknown, init: Init = {}): Promise<T> {
  const answer = await request(method, path, body, init)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}

/** As `send`, for answers that are not JSON, such as contents and streams. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  { signal, headers }: Init = {},
): Promise<Response> {
  const sent = token()
  const isRaw = body instanceof Blob
  const answer = await fetch(path, {
    method,
    redirect: 'error',
    headers: {
      ...(sent !== undefined && { authorization: `Bearer ${sent}` }),
      ...(body !== undefined && { 'content-type': isRaw ? body.type || BINARY : 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Failure(OFFLINE, { code: 'OFFLINE', message: (error as Error).message })
  })
  if (answer.ok) return answer
  const failure = await failureOf(answer)
  // Another token than that of the tab may be wrong without ending the sign-in.
  if (failure.status === 401 && headers?.['authorization'] === undefined) ended(sent, failure.message)
  throw failure
}

const BINARY = 'application/octet-stream'

/** A path of segments that may have any character, with the parameters that have a value. */
export function pathOf(
  segments: readonly string[],
  parameters: Record<string, string | number | boolean | undefined> = {},
): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return `/v1/${segments.map(encodeURIComponent).join('/')}${search && `?${search}`}`
}

/** A key for a write that a double click must not repeat. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
