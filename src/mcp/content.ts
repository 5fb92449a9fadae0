import { errorBody, toDomainError } from '../errors.ts'
import { InvalidParams } from './core.ts'
import type { ToolResult } from './result.ts'

type Content = { type: 'text'; text: string }

/** A tool's result in the form both protocol eras share. Errors are text alone: clients refuse other structured content. */
export function toContent(
  result: ToolResult,
  onInternal: (cause: unknown) => void,
): { content: Content[]; structuredContent?: Record<string, unknown>; isError?: boolean } {
  if ('body' in result)
    return {
      content: [{ type: 'text', text: result.text }],
      structuredContent: result.body as Record<string, unknown>,
    }
  if (result.internal !== undefined) onInternal(result.internal)
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(result.error) }] }
}

/**
 * A failure that no tool can carry, as a JSON-RPC error around REST's. Thrown as it came, its message would be sent, and
 * what a driver says is nobody's business.
 */
export function toProtocolFailure(thrown: unknown, requestId: string, onInternal: (cause: unknown) => void) {
  if (thrown instanceof InvalidParams) return { code: -32602, message: thrown.message }
  const error = toDomainError(thrown)
  const ours = error.code === 'INTERNAL_ERROR'
  if (ours) onInternal(error.cause ?? thrown)
  return { code: ours ? -32603 : -32000, message: error.message, data: errorBody(error, requestId) }
}
