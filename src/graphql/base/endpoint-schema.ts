/** The schema of an endpoint: its types with their operations, within its row and field policies. */
import { servedEndpoint } from '../../engine/configuration/endpoints/index.ts'
import { atAddress } from '../change-sets.ts'
import { atEndpoint, type Context, duringCall, throughEndpoint } from '../context.ts'
import type { Offer } from './base-view.ts'
import type { LazySchema } from './lazy-schema.ts'
import { schemaOf } from './schemas.ts'

/**
 * The schema of an endpoint for the token, and the context in which its queries run.
 * @throws FORBIDDEN without a grant that reaches the endpoint; NOT_FOUND if it is absent or disabled
 */
export async function endpointSchema(
  caller: Context,
  { base, endpoint }: { base: string; endpoint: string },
  isWrite: boolean,
): Promise<{ schema: LazySchema; context: Context }> {
  const entered = await atEndpoint(caller, base, endpoint)
  const offer = await offerOf(entered, base, endpoint)
  // Changes made here belong to the endpoint, as those of its tools do, so that they can be taken back here.
  const call = { id: caller.scope.requestId, tool: 'graphql', endpoint, client: null, traceId: null }
  const narrow = await throughEndpoint(duringCall(entered, call), base, endpoint, 'records')
  const { context } = await atAddress(narrow, base, isWrite)
  return { schema: await schemaOf(context, base, offer), context }
}

/**
 * Relationships are followed where the endpoint has a tool for it, and records where they are resources, as in MCP.
 */
async function offerOf({ scope }: Context, base: string, endpoint: string): Promise<Offer> {
  const { stamp, tools, links, resources, undo } = await servedEndpoint(scope, base, endpoint, false)
  const byType = Map.groupBy(tools, ({ recordType }) => recordType)
  const types = new Map([...byType].map(([id, own]) => [id, new Set(own.map(({ operation }) => operation))]))
  const isRead = (operations: ReadonlySet<string>) => operations.has('get') || operations.has('list')
  const having = (operation: string) =>
    new Set(links.filter((link) => link.operation === operation).map(({ relType }) => relType))
  return {
    stamp: `${endpoint} ${stamp}`,
    undo,
    types,
    followed: new Set(resources ? [...types].flatMap(([id, own]) => (isRead(own) ? [id] : [])) : []),
    relTypes: having('related'),
    linkTypes: having('link'),
  }
}
