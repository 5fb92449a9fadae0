import type { TestServer } from './server.ts'

type Ask = { token: string | null; body?: object; headers?: Record<string, string>; quietMs: number }

/** What a stream says first: its first event, or the answer in place of a stream. Nothing if it is quiet for so long. */
export async function firstEvent(
  server: TestServer,
  path: string,
  { token, body, headers, quietMs }: Ask,
): Promise<{ status: number; text: string }> {
  const cutting = new AbortController()
  const response = await fetch(server.url + path, {
    method: body ? 'POST' : 'GET',
    signal: cutting.signal,
    headers: {
      accept: 'text/event-stream',
      ...headers,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  let text = ''
  const timer = setTimeout(() => cutting.abort(), quietMs)
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (/^data: ?.+\n/m.test(text)) break
    }
  } catch (thrown) {
    if (!cutting.signal.aborted) throw thrown
  } finally {
    clearTimeout(timer)
    cutting.abort()
  }
  return { status: response.status, text }
}
