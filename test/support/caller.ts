// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely; that is what tests are for.
export type Body = any
export type Answer = { status: number; body: Body; text: string; headers: Headers }
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>

/** Sends requests to a server with a token, or with none. */
export function caller(url: string, token: string | null): Call {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: parse(text), headers: response.headers }
  }
}

function parse(text: string): Body {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
