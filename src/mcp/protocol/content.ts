import { errorBody, toDomainError } from '../../foundation/errors.ts'
import { MCP_REQUESTS } from './advised-tools.ts'
import { InvalidParams, MissingCapability } from './provider.ts'
import type { Content, ToolResult } from './result.ts'

/**
 * Converts a tool result to MCP content, in the form that both eras share. Errors are text only, because
 * clients reject structured content that does not match the output schema.
 */
export function toContent(
  result: ToolResult,
  onInternal: (cause: unknown) => void,
): {
  content: readonly Content[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
  _meta?: object
} {
  if ('body' in result)
    return {
      content: [{ type: 'text', text: result.text }, ...(result.content ?? [])],
      structuredContent: result.body as Record<string, unknown>,
      ...(result.meta && { _meta: result.meta }),
    }
  if ('content' in result) return result
  if (result.internal !== undefined) onInternal(result.internal)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(result.error) }] }
}

/** The REST error code and the message of an error result; `error` if it has none. */
export function failureIn({
  content,
}: Readonly<Record<string, unknown>>): [code: string, message: string | null] {
  const [{ text = '' } = {}] = (Array.isArray(content) ? content : []) as { text?: string }[]
  const [, code = 'error', message] = FAILURE.exec(text) ?? []
  return [code, message === undefined ? null : String(JSON.parse(message))]
}
const FAILURE = /^\{"error":\{"code":"([A-Z_]+)"(?:,"message":("(?:[^"\\]|\\.)*"))?/

/**
 * Wraps a failure outside a tool call in a JSON-RPC error that carries the REST error. The raw error message
 * is never sent, because it may contain internals such as driver messages.
 */
export function toProtocolFailure(
  thrown: unknown,
  requestId: string,
  onInternal: (cause: unknown) => void,
): { code: number; message: string; data?: object } {
  if (thrown instanceof MissingCapability)
    return { code: -32021, message: thrown.message, data: { requiredCapabilities: thrown.needs } }
  if (thrown instanceof InvalidParams)
    return { code: -32602, message: thrown.message, ...(thrown.data && { data: thrown.data }) }
  const error = toDomainError(thrown)
  const ours = error.code === 'INTERNAL_ERROR'
  if (ours) onInternal(error.cause ?? thrown)
  const data = errorBody(error, requestId, MCP_REQUESTS)
  return { code: ours ? -32603 : -32000, message: data.error.message, data }
}
