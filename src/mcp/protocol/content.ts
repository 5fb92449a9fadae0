import { errorBody, toDomainError } from '../../foundation/errors.ts'
import { InvalidParams, MissingCapability } from './provider.ts'
import type { Content, ToolResult } from './result.ts'

/** A tool's result in the form both protocol eras share. Errors are text alone: clients refuse other structured content. */
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

/** The code of a result that is an error; of one that is not in our words, just that. */
export function failureCodeOf({ content }: Readonly<Record<string, unknown>>): string {
  const [{ text = '' } = {}] = (Array.isArray(content) ? content : []) as { text?: string }[]
  return /^\{"error":\{"code":"([A-Z_]+)"/.exec(text)?.[1] ?? 'error'
}

/**
 * A failure that no tool can carry, as a JSON-RPC error around REST's. Thrown as it came, its message would be sent, and
 * what a driver says is nobody's business.
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
  return { code: ours ? -32603 : -32000, message: error.message, data: errorBody(error, requestId) }
}
