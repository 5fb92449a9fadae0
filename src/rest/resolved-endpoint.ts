import { z } from 'zod'
import { type Context, mayRead } from '../graphql/context.ts'
import { staticOperation } from '../graphql/execute.ts'
import { Endpoint } from './endpoints.ts'
import { SeenTool } from './mcp-tools.ts'
import { injectedRead } from './route/injected-read.ts'
import type { Route } from './route/route.ts'
import { baseId, endpointId } from './route/shapes.ts'

/**
 * Resolves the tools of an endpoint. Injected by the server, so that REST and MCP do not depend on each
 * other.
 */
type ResolveTools = (caller: Context, base: string, endpoint: string) => Promise<object>

declare module 'fastify' {
  interface FastifyInstance {
    resolveTools: ResolveTools
  }
}

const readEndpoint = staticOperation(`query ResolvedEndpoint($base: String!, $id: String!, $whole: Boolean) {
  servedEndpoint(base: $base, id: $id, whole: $whole) {
    about {
      id name description instructions toolsets relationships batch actions sql_query: sqlQuery undo resources enabled
      version created_at: createdAt updated_at: updatedAt
    }
    warnings
  }
}`)

const spec = {
  tag: 'Endpoints',
  summary: 'Get an endpoint with its tools as clients see them',
  need: ({ base_id: base = '', id = '' }: Record<string, string>) => ({ endpoint: { base, id } }),
  params: z.strictObject({ base_id: baseId(), id: endpointId }),
  answers: Endpoint.omit({ tools: true, dry_run: true }).extend({
    tools: z.array(
      SeenTool.extend({
        record_type: z
          .string()
          .nullable()
          .meta({ description: 'Null for a tool that is not of one record type.' }),
        operation: z.string(),
      }),
    ),
    tokens: z.int().meta({ description: 'Estimated tokens of context for all tools.' }),
    meta: z
      .object({ warnings: z.array(z.string()) })
      .optional()
      .meta({ description: 'Present if steps of its actions can never succeed.' }),
  }),
}

/** REST route of a resolved endpoint: its tools, with the schemas of their types. */
export const resolvedEndpoint: readonly Route[] = [
  injectedRead('/:base_id/endpoints/:id/resolved', spec, async ({ params }, { caller, server }) => {
    const { base_id: base, id } = params
    const whole = mayRead(caller, base, '*')
    const { servedEndpoint } = await readEndpoint({ base, id, whole }, caller)
    const { about, warnings } = servedEndpoint
    const tools = await server.resolveTools(caller, base, id)
    return { ...about, ...tools, ...(warnings.length > 0 && { meta: { warnings } }) }
  }),
]
