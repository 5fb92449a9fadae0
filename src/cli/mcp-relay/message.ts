/** The parts of JSON-RPC and MCP headers that the relay needs. Everything else passes through unchanged. */
import { NAMED_BY } from '../../contract/named-methods.ts'
import { own } from '../../foundation/own.ts'

export type Id = string | number
export type Message = {
  id?: Id | null
  method?: string
  params?: { _meta?: Record<string, unknown>; requestId?: unknown; [name: string]: unknown }
  result?: { protocolVersion?: unknown }
  error?: unknown
}

/**
 * Parses a line: one message, or a batch.
 * @throws if it is not JSON-RPC
 */
export function readMessages(text: string): Message[] {
  const value: unknown = JSON.parse(text)
  const messages = Array.isArray(value) ? value : [value]
  if (messages.length === 0 || messages.some((message) => typeof message !== 'object' || message === null))
    throw new Error('not a JSON-RPC message')
  return messages as Message[]
}

export const isRequest = (message: Message): message is Message & { id: Id; method: string } =>
  typeof message.method === 'string' && message.id !== undefined && message.id !== null

export const isResponse = ({ id, method }: Message): boolean =>
  method === undefined && id !== undefined && id !== null

/** Protocol version inside a message (from 2026-07-28). Earlier versions negotiate it in `initialize`. */
export function ownVersion({ params }: Message): string | undefined {
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  return typeof version === 'string' ? version : undefined
}

/**
 * Session state that a message sets or clears: a subscription or the log level. A replacement session needs
 * it again.
 */
export function replayedState({ method, params }: Message): { about: string; isActive: boolean } | undefined {
  if (method === 'logging/setLevel') return { about: 'level', isActive: true }
  if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return undefined
  return { about: `uri ${String(params?.['uri'])}`, isActive: method === 'resources/subscribe' }
}

/** Headers that repeat parts of a self-contained message. The server rejects mismatches. */
export function ownHeaders(message: Message, version: string): Record<string, string> {
  const { method = '', params } = message
  const field = own(NAMED_BY, method)
  const name = field === undefined ? undefined : params?.[field]
  return {
    'mcp-protocol-version': version,
    ...(/^[\x21-\x7e]+$/.test(method) && { 'mcp-method': method }),
    ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
  }
}

/** Encodes a header value; in Base64 if it is not plain ASCII or looks like Base64 encoding already. */
function headerText(text: string): string {
  const isPlain = /^[\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/i.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** One line of output. Line breaks in JSON are only white space between tokens. */
export const asLine = (json: string): string => `${json.replace(/[\r\n]+/g, ' ').trim()}\n`

export function errorLine(id: Id | null, code: number, message: string, data?: unknown): string {
  return asLine(
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }),
  )
}
