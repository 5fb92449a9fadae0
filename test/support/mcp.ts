import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Answer, Body, TestServer } from './server.ts'

/** The part of the client interface that tests use, common to both SDKs. */
export type McpClient = {
  listTools(): Promise<{ tools: Body[] }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<Body>
  listResources(page?: { cursor: string }): Promise<Body>
  listResourceTemplates(): Promise<Body>
  readResource(params: { uri: string }): Promise<Body>
  listPrompts(): Promise<Body>
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<Body>
  complete(params: Body): Promise<Body>
  getInstructions(): string | undefined
  close(): Promise<void>
}

/** The client variants in use: SDK v1, and SDK v2 in three modes. */
export const DIALECTS = ['v1', 'legacy', 'auto', 'modern'] as const
export type Dialect = (typeof DIALECTS)[number]

const INFO = { name: 'test', version: '1.0.0' }
const MODES = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } } as const

/** Connects an SDK client: v1, or v2 in one of its modes. */
export async function connect(
  url: string,
  token: string,
  dialect: Dialect = 'v1',
  path = '/mcp',
): Promise<McpClient> {
  const at = new URL(path, url)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  if (dialect === 'v1') {
    const client = new Client(INFO)
    await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as Transport)
    return client as McpClient
  }
  const client = new ModernClient(INFO, { versionNegotiation: { mode: MODES[dialect] } })
  await client.connect(new ModernTransport(at, { requestInit }))
  return client as McpClient
}

type Send = { token?: string | null; headers?: Record<string, string>; id?: number | string }

/** Sends one raw JSON-RPC request, without an SDK. */
export const rpc = (
  server: TestServer,
  path: string,
  method: string,
  params?: object,
  { token = server.adminToken, headers = {}, id = 1 }: Send = {},
): Promise<Answer> =>
  server.as(token)('POST', path, { jsonrpc: '2.0', id, method, ...(params && { params }) }, headers)

/** Calls a tool. Returns its structured content, its text without the warning, and its error. */
export async function callTool(
  server: TestServer,
  path: string,
  name: string,
  args: Record<string, unknown> = {},
  send: Send = {},
): Promise<{ body: Body; text: string; error: Body; result: Body; rpcError: Body }> {
  const answer = await rpc(server, path, 'tools/call', { name, arguments: args }, send)
  const { result, error: rpcError } = answer.body
  const text: string = result?.content[0].text ?? ''
  return {
    result,
    rpcError,
    text,
    body: result?.structuredContent,
    error: result?.isError ? JSON.parse(text).error : undefined,
  }
}

/** Parses the JSON in a text result, with or without a preceding warning line. */
export const jsonOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf('{')))
