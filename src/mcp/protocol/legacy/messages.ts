/** Parses and classifies the JSON-RPC messages of a body. Later code distinguishes them by their keys. */
import {
  isInitializeRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import { PlainCalls } from '../plain-calls.ts'

/** Calls whose message and params have passed their shapes. */
export const VALID_CALLS = new PlainCalls<true>()

/** Validates the messages of a body, or returns the reason for a refusal. */
export function readMessages(body: unknown): { messages: JSONRPCMessage[]; isBatch: boolean } | string {
  const isBatch = Array.isArray(body)
  const raw: unknown[] = isBatch ? body : [body]
  if (raw.length === 0 || raw.length > LIMITS.mcpBatch)
    return `A batch must have 1 to ${LIMITS.mcpBatch} messages.`
  const messages: JSONRPCMessage[] = []
  for (const each of raw) {
    if (VALID_CALLS.verdictOn(each)) {
      messages.push(each as JSONRPCMessage)
      continue
    }
    const parsed = JSONRPCMessageSchema.safeParse(each)
    if (!parsed.success) return 'The body is not a JSON-RPC 2.0 message.'
    messages.push(parsed.data)
  }
  const ids = messages.filter(isRequest).map(({ id }) => id)
  return new Set(ids).size === ids.length ? { messages, isBatch } : 'Two requests of one batch share an id.'
}

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message

export const isNotification = (message: JSONRPCMessage): message is JSONRPCNotification =>
  'method' in message && !('id' in message)

/** Whether the message is a valid `initialize` request. */
export const isOpening = (message: JSONRPCMessage | undefined): boolean =>
  message !== undefined &&
  'method' in message &&
  message.method === 'initialize' &&
  isInitializeRequest(message)

/** A request error with its own JSON-RPC code. */
export class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
