import type { EndpointBatch, EndpointRelationship, EndpointTool } from '../../contract/endpoint-shapes.ts'
import type { Endpoint as EndpointRow } from '../prisma/client.ts'
import type { Scope } from '../scope.ts'
import { type NamedLink, type NamedTool, nameLinks, nameTools, type PortableIds } from './named-tools.ts'
import { toolsOf } from './toolset.ts'

/** What of an endpoint decides which tools it has. */
export type Members = Pick<EndpointRow, 'toolsets' | 'sqlQuery'> & {
  baseId: string
  tools: unknown
  relationships: unknown
  batch: unknown
}
type SharedTools = { id: string; tools: readonly EndpointTool[] }

/** The endpoints that have the toolset. */
export const usersOf = ({ db }: Scope, baseId: string, toolset: string): Promise<EndpointRow[]> =>
  db.orm.endpoint.findMany({ where: { baseId, toolsets: { has: toolset } }, orderBy: { id: 'asc' } })

/** All tools of one type that an endpoint has: its own, then those of its toolsets, in their order. */
export function typedToolsOf(
  own: readonly EndpointTool[],
  toolsets: readonly (SharedTools | undefined)[],
  portableIds: PortableIds,
): NamedTool[] {
  return [
    ...nameTools(own, portableIds, (i) => `/tools/${i}`),
    ...toolsets.flatMap((toolset, i) => nameTools(toolset?.tools ?? [], portableIds, () => `/toolsets/${i}`)),
  ]
}

type Named = NamedTool | NamedLink | { name: string; at: string }

/** Every tool name that an endpoint has, one toolset being as it is about to be. */
export async function toolsOfEndpoint(
  scope: Scope,
  endpoint: Members,
  portableIds: PortableIds,
  changed?: SharedTools,
): Promise<Named[]> {
  const { baseId, toolsets: ids } = endpoint
  const rows = await scope.db.orm.toolset.findMany({ where: { baseId, id: { in: ids } } })
  const toolsets = ids.map((id) => {
    if (id === changed?.id) return changed
    const row = rows.find((each) => each.id === id)
    return row && { id, tools: toolsOf(row) }
  })
  return [
    ...typedToolsOf(toolsOf(endpoint), toolsets, portableIds),
    ...nameLinks(endpoint.relationships as EndpointRelationship[]),
    ...sharedNames(endpoint),
  ]
}

/** The names of the tools that are of no one type. */
const sharedNames = ({ batch, sqlQuery }: Pick<Members, 'batch' | 'sqlQuery'>) => [
  ...((batch as EndpointBatch).enabled ? [{ name: 'batch', at: '/batch' }] : []),
  ...(sqlQuery ? [{ name: 'sql_query', at: '/sql_query' }] : []),
]
