/** What a relay has to know of JSON-RPC and of MCP's HTTP headers; everything else passes through unread. */

export type Id = string | number
export type Message = {
  id?: Id | null
  method?: string
  params?: { _meta?: Record<string, unknown>; requestId?: unknown; [name: string]: unknown }
  result?: { protocolVersion?: unknown }
  error?: unknown
}

/** The messages of a line: one, or the members of a batch. @throws when it is not JSON-RPC */
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

/** The version a message names for itself, from 2026-07-28 on; earlier ones agree on it once, in `initialize`. */
export function ownVersion({ params }: Message): string | undefined {
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  return typeof version === 'string' ? version : undefined
}

/**
 * What a message asks a session for from then on, and whether it still does after it: a session that takes the place of
 * another is asked for it again.
 */
export function standingWish({ method, params }: Message): { about: string; stands: boolean } | undefined {
  if (method === 'logging/setLevel') return { about: 'level', stands: true }
  if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return undefined
  return { about: `uri ${String(params?.['uri'])}`, stands: method === 'resources/subscribe' }
}

const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** The headers that repeat a self-contained message; the server refuses any that disagree with it. */
export function ownHeaders(message: Message, version: string): Record<string, string> {
  const { method = '', params } = message
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const name = field === undefined ? undefined : params?.[field]
  return {
    'mcp-protocol-version': version,
    ...(/^[\x21-\x7e]+$/.test(method) && { 'mcp-method': method }),
    ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
  }
}

/** Text as a header can carry it: in Base64 where it is not plain, or looks as if it were Base64 already. */
function headerText(text: string): string {
  const isPlain = /^[\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/i.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** One line of standard output. Line breaks in JSON text are only ever space between its parts. */
export const asLine = (json: string): string => `${json.replace(/[\r\n]+/g, ' ').trim()}\n`

export function errorLine(id: Id | null, code: number, message: string, data?: unknown): string {
  return asLine(
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }),
  )
}
