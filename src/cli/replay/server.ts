/** What a replay asks the server: below /v1, and a tool at an MCP address. */
import { setTimeout as sleep } from 'node:timers/promises'
import { call, get, type Method, PATIENCE_MS, read, received } from '../command/client.ts'
import { Failure, unreachable } from '../command/failure.ts'
import { readEvents } from '../command/sse.ts'
import { mcpPath } from '../mcp-relay/address-path.ts'
import { Http, isEventStream } from '../mcp-relay/http.ts'

/** How a call of a tool ended: `ok`, or the code of its failure. */
export type Ended = { outcome: string; message: string | null; requestId: string | null }

export type Server = ReturnType<typeof serverAt>

export function serverAt(url: string, token: string | undefined) {
  const path = (parts: readonly string[]) => parts.map((part) => `/${encodeURIComponent(part)}`).join('')
  const list = async <T>(parts: readonly string[], query: Record<string, string>) =>
    (await call(url, token, get(path(parts), new URLSearchParams(query)))).body as {
      data: T[]
      meta: { next_after?: number; has_more: boolean }
    }
  /** A resource; null where it is none, or was none in that version. */
  const find = async <T>(parts: readonly string[], query: Record<string, string> = {}) =>
    call(url, token, get(path(parts), new URLSearchParams(query))).then(
      ({ body }) => body as T,
      (thrown: unknown) => {
        if (thrown instanceof Failure && thrown.body.error.code === 'NOT_FOUND') return null
        throw thrown
      },
    )
  const send = async <T>(method: Method, parts: readonly string[], body: object): Promise<T> => {
    const request = { ...get(path(parts)), method, body: JSON.stringify(body) }
    return (await call(url, token, { ...request, headers: { 'content-type': 'application/json' } })).body as T
  }
  return {
    list,
    find,
    send,
    toolsOf: (base: string) =>
      toolsAt(new Http(async () => ({ url, token }), mcpPath({ base, isReadOnly: false })), url, token),
  }
}

type Said = {
  error?: { code: number; message: string }
  result?: { isError?: boolean; content?: readonly { text?: string }[] }
}

/** Calls tools of an address, one after the other. A call that was refused for its rate comes again. */
const toolsAt = (http: Http, url: string, token: string | undefined) =>
  async function callTool(name: string, args: object): Promise<Ended> {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const text = JSON.stringify(message)
    const response = await http.send('POST', { text, signal: AbortSignal.timeout(PATIENCE_MS) })
    const wait = Number(response.headers.get('retry-after') ?? 1)
    if (response.status === 429 && wait <= LONGEST_WAIT_S) {
      await response.body?.cancel()
      await sleep(wait * 1000)
      return callTool(name, args)
    }
    const requestId = response.headers.get('x-request-id')
    const said = isEventStream(response)
      ? await lastEvent(response)
      : (read(await received(response), url, token).body as Said)
    if (said.error) return { outcome: `${said.error.code}`, message: said.error.message, requestId }
    if (said.result?.isError !== true) return { outcome: 'ok', message: null, requestId }
    const { error } = JSON.parse(said.result.content?.[0]?.text ?? '{}') as Partial<Failure['body']>
    return { outcome: error?.code ?? 'failed', message: error?.message ?? null, requestId }
  }
const LONGEST_WAIT_S = 60

async function lastEvent({ body }: Response): Promise<Said> {
  let last = ''
  if (body) for await (const { data } of readEvents(body)) last = data || last
  if (last === '') throw unreachable('The server has ended the answer to a call.')
  return JSON.parse(last) as Said
}
