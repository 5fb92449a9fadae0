import { atEndpoint, type Context, mayRead } from '../graphql/context.ts'
import { estimateTokens } from './budget/fit.ts'
import { openEndpoint } from './endpoints/endpoint.ts'
import { endpointTools } from './endpoints/endpoint-tools.ts'
import { genericNames, listTools, plinth, warningsOf } from './plinth-provider.ts'
import { readOptions } from './protocol/address-options.ts'
import { openSession } from './protocol/address-session.ts'
import type { ToolDefinition } from './tool/tool-definition.ts'

/**
 * Previews `tools/list` and the instructions for a caller, address and options, with the token cost of the list.
 * @throws VALIDATION_ERROR for an option that the address rejects; NOT_FOUND without the base
 */
export async function previewTools(caller: Context, base: string, query: Readonly<Record<string, string>>) {
  const { endpoint, ...rest } = query
  const options = readOptions(rest, endpoint === undefined ? genericNames(base) : null)
  const session =
    endpoint === undefined
      ? openSession(caller, base, options)
      : await openEndpoint(caller, base, endpoint, options)
  const tools = await listTools(session)
  const instructions = await plinth.instructions(session)
  const warnings = await warningsOf(session)
  return {
    data: tools.map(shown),
    meta: { tokens: estimateTokens(tools), ...(warnings.length > 0 && { warnings }), instructions },
  }
}

/**
 * Resolves the tools of an endpoint as clients see them, with their record types. An endpoint grant shows
 * those that it allows.
 * @throws FORBIDDEN without a grant that reaches it; NOT_FOUND
 */
export async function resolveTools(caller: Context, base: string, endpoint: string) {
  // Only readers of the configuration see tools that they may not call, and those of a disabled endpoint.
  const whole = mayRead(caller, base, '*')
  const context = whole ? caller : await atEndpoint(caller, base, endpoint)
  const tools = [...(await endpointTools(base, endpoint, context, whole)).values()]
  return {
    tools: tools.map(({ definition, recordType, operation }) => {
      const { tokens, ...seen } = shown(definition)
      return { ...seen, record_type: recordType, operation, tokens }
    }),
    tokens: tools.reduce((sum, { definition }) => sum + estimateTokens(definition), 0),
  }
}

const shown = (tool: ToolDefinition) => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.inputSchema,
  output_schema: tool.outputSchema,
  annotations: tool.annotations,
  tokens: estimateTokens(tool),
})
