import type { Answer, Body, TestServer } from './server.ts'
import { type OpenStream, openStream } from './sse.ts'

/** A raw HTTP session of the `initialize` era, without an SDK. */
export type McpSession = {
  id: string
  initialized: Body
  headers: Record<string, string>
  send(body: object, headers?: Record<string, string>): Promise<Answer>
  request(method: string, params?: object, id?: number | string): Promise<Answer>
  /** Sends a request that is answered with a stream. */
  streaming(method: string, params: object, id?: number | string): Promise<OpenStream>
  /** Opens the GET stream for server-initiated messages. */
  listen(): Promise<OpenStream>
  end(): Promise<Answer>
}

type Options = { token?: string; path?: string; capabilities?: object; version?: string }
const BOTH = 'application/json, text/event-stream'

/** Opens a session with `initialize`. */
export async function openSession(server: TestServer, options: Options = {}): Promise<McpSession> {
  const { token = server.adminToken, path = '/mcp/crm', capabilities = {}, version = '2025-11-25' } = options
  const call = server.as(token)
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'raw', version: '0' } }
  const message = (method: string, given?: object, id?: number | string) => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    ...(given && { params: given }),
  })
  const opened = await call('POST', path, message('initialize', params, 'open'), { accept: BOTH })
  const id = opened.headers.get('mcp-session-id') ?? ''
  const headers = { accept: BOTH, 'mcp-session-id': id, 'mcp-protocol-version': version }
  const send: McpSession['send'] = (body, more = {}) => call('POST', path, body, { ...headers, ...more })
  await send(message('notifications/initialized'))
  return {
    id,
    initialized: opened.body.result,
    headers,
    send,
    request: (method, given, number = 1) => send(message(method, given, number)),
    streaming: (method, given, number = 1) =>
      openStream(server, path, { token, headers, body: message(method, given, number) }),
    listen: () => openStream(server, path, { token, headers: { ...headers, accept: 'text/event-stream' } }),
    end: () => call('DELETE', path, undefined, headers),
  }
}
