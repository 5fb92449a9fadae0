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
