import { z } from 'zod'
import type { Context } from '../graphql/context.ts'
import { injectedRead } from './route/injected-read.ts'
import type { Route } from './route/route.ts'
import { baseAccess, baseId } from './route/shapes.ts'

/** Previews MCP tools. Injected by the server, so that REST and MCP do not depend on each other. */
type PreviewTools = (
  caller: Context,
  base: string,
  query: Readonly<Record<string, string>>,
) => Promise<object>

declare module 'fastify' {
  interface FastifyInstance {
    previewTools: PreviewTools
  }
}

const option = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, schema: { type: 'string' } })

/** An MCP tool in responses. */
export const SeenTool = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  output_schema: z.record(z.string(), z.unknown()),
  annotations: z.record(z.string(), z.unknown()),
  tokens: z.int().meta({ description: 'Estimated tokens of context: bytes / 4.' }),
})

const spec = {
  tag: 'MCP',
  summary: 'Preview the tools that an MCP address offers to this token',
  need: baseAccess,
  params: z.strictObject({ base_id: baseId() }),
  query: z.strictObject({
    types: option('Only these record types: comma-separated ids.'),
    readonly: option('`1`: read-only tools only.'),
    tools: option('Only these tools: comma-separated names.'),
    profile: option('`lean`: the list of at most six tools.'),
    endpoint: option('The tools of this endpoint.'),
  }),
  renamed: { id: 'endpoint' },
  answers: z.object({
    data: z.array(SeenTool),
    meta: z.object({
      tokens: z.int().meta({ description: 'The same of the whole list.' }),
      warnings: z
        .array(z.string())
        .optional()
        .meta({ description: 'Names in `types` and `tools` that this address does not have.' }),
      instructions: z.string().meta({ description: 'What a client gets when it connects to the address.' }),
    }),
  }),
}

/** REST route that previews the tool list of an MCP address. */
export const mcpTools: readonly Route[] = [
  injectedRead('/:base_id/mcp/tools', spec, ({ params, query }, request) => {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return request.server.previewTools(request.caller, params.base_id, Object.fromEntries(given))
  }),
]
