/** Says how to call a tool that the client has not seen in its list. */
import { DomainError } from '../../foundation/errors.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * Adds the arguments of a tool to an error about them. Errors inside an argument, such as that of one operation,
 * say themselves what to send.
 */
export function withUsage(thrown: unknown, definition: () => ToolDefinition | undefined): unknown {
  if (!(thrown instanceof DomainError) || thrown.code !== 'VALIDATION_ERROR') return thrown
  if (!thrown.details.some(({ path }) => /^\/[^/]+$/.test(path))) return thrown
  const tool = definition()
  if (!tool) return thrown
  const { name, description, inputSchema } = tool
  const usage = `${name}: ${description} Its arguments: ${JSON.stringify(inputSchema.properties ?? {})}`
  return new DomainError(thrown.code, thrown.message, {
    details: [...thrown.details, { path: '', code: 'usage', message: usage }],
    cause: thrown.cause,
  })
}
