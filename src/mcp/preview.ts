import type { Context } from '../graphql/context.ts'
import { genericNames, listTools } from './core.ts'
import { openEndpoint } from './endpoint.ts'
import { endpointTools } from './endpoint-tools.ts'
import { readOptions } from './options.ts'
import { openSession } from './session.ts'
import { estimateTokens } from './tokens.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * What `tools/list` would answer this caller at the base's address with these options, and what it costs to read.
 * @throws VALIDATION_ERROR for an option the address would refuse; NOT_FOUND without the base
 */
export async function previewTools(caller: Context, base: string, query: Readonly<Record<string, string>>) {
  const { endpoint, ...rest } = query
  const options = readOptions(rest, endpoint === undefined ? genericNames(base) : null)
  const session =
    endpoint === undefined
      ? openSession(caller, base, options)
      : await openEndpoint(caller, base, endpoint, options)
  const tools = await listTools(session)
  return { data: tools.map(shown), meta: { tokens: estimateTokens(tools) } }
}

/** An endpoint's tools as clients see them, and what each is of. @throws FORBIDDEN without a grant on the base; NOT_FOUND */
export async function resolveTools(caller: Context, base: string, endpoint: string) {
  const tools = [...(await endpointTools(base, endpoint, caller, true)).values()]
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
