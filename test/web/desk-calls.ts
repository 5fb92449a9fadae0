/** Requests of authors: by REST, and calls of tools as a real client sends them, so that the log names both. */
import type { Body, Call } from '../support/caller.ts'

const META = 'io.modelcontextprotocol'
const VERSION = '2026-07-28'

export type Client = { name: string; version: string }
type Tool = (name: string, args: object) => Promise<Body>

/** Sends a request that must succeed. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Body>

export const sender =
  (call: Call): Send =>
  async (method, path, body, headers) => {
    const answer = await call(method, path, body, headers)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 800)}`)
    return answer.body
  }

let serial = 0

/** Calls a tool; the result may be an error of the tool. */
export const toolCaller =
  (call: Call, path: string, client: Client): Tool =>
  async (name, args) => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    }
    const _meta = {
      [`${META}/protocolVersion`]: VERSION,
      [`${META}/clientCapabilities`]: {},
      [`${META}/clientInfo`]: client,
    }
    const params = { name, arguments: args, _meta }
    const { body, text } = await call(
      'POST',
      path,
      { jsonrpc: '2.0', id: `call-${++serial}`, method: 'tools/call', params },
      headers,
    )
    if (!body.result) throw new Error(`${name}: ${text.slice(0, 800)}`)
    return body.result
  }

/** Calls a tool that must succeed, and returns its structured content. */
export const using =
  (tool: Tool): Tool =>
  async (name, args) => {
    const result = await tool(name, args)
    if (result.isError) throw new Error(`${name}: ${result.content[0].text.slice(0, 800)}`)
    return result.structuredContent
  }
