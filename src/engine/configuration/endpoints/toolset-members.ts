import {
  actionsOf,
  type EndpointBatch,
  type EndpointRelationship,
  type EndpointTool,
} from '../../../contract/endpoint-shapes.ts'
import type { Endpoint as EndpointRow } from '../../prisma/client.ts'
import type { Loaded } from '../lifecycle/kind.ts'
import { type NamedLink, type NamedTool, nameLinks, nameTools, type PortableIds } from './named-tools.ts'

/** The fields of an endpoint that determine its tools. */
type Members = {
  readonly toolsets: readonly string[]
  readonly sqlQuery: boolean
  readonly undo: boolean
  readonly actions: unknown
  readonly tools: unknown
  readonly relationships: unknown
  readonly batch: unknown
}
/** Toolsets by id. */
type Toolsets = ReadonlyMap<string, { readonly tools: unknown }>

/** Parses the tool selections of a row. */
export const toolsOf = ({ tools }: { tools: unknown }): readonly EndpointTool[] =>
  tools as readonly EndpointTool[]

const ENDPOINTS = {
  name: 'endpoint',
  label: 'an endpoint',
  codes: { notFound: 'endpoint_not_found' },
} as const

/** Finds the endpoints that use a toolset, as the changes leave them. */
export async function usersOf(loaded: Loaded, toolset: string): Promise<EndpointRow[]> {
  const { scope, baseId } = loaded
  const where = { baseId, toolsets: { has: toolset } }
  const stored = await scope.db.orm.endpoint.findMany({ where, orderBy: { id: 'asc' } })
  const written = loaded.written(ENDPOINTS)
  const changed = [...written.values()].flatMap((row) => (row ? [row as EndpointRow] : []))
  return [
    ...stored.filter(({ id }) => !written.has(id)),
    ...changed.filter(({ toolsets }) => toolsets.includes(toolset)),
  ]
}

/** All typed tools of an endpoint: its own, then those of its toolsets, in order. */
export const typedToolsOf = (
  endpoint: Pick<Members, 'tools' | 'toolsets'>,
  toolsets: Toolsets,
  portableIds: PortableIds,
): NamedTool[] => [
  ...nameTools(toolsOf(endpoint), portableIds, (i) => `/tools/${i}`),
  ...endpoint.toolsets.flatMap((id, i) =>
    nameTools(toolsOf(toolsets.get(id) ?? { tools: [] }), portableIds, () => `/toolsets/${i}`),
  ),
]

type Named = NamedTool | NamedLink | { name: string; at: string }

/** All tools of an endpoint. */
export const toolsOfEndpoint = (endpoint: Members, toolsets: Toolsets, portableIds: PortableIds): Named[] => [
  ...typedToolsOf(endpoint, toolsets, portableIds),
  ...nameLinks(endpoint.relationships as EndpointRelationship[]),
  ...actionsOf(endpoint).map(({ id }, i) => ({
    name: actionToolName(id),
    at: `/actions/${i}`,
  })),
  ...sharedNames(endpoint),
]

/** The name of the tool of an action: its id, in characters that all clients accept. */
export const actionToolName = (id: string): string => id.replaceAll('.', '_')

/** Names of the tools that belong to no single type. */
const sharedNames = ({ batch, sqlQuery, undo }: Pick<Members, 'batch' | 'sqlQuery' | 'undo'>) => [
  ...((batch as EndpointBatch).enabled ? [{ name: 'batch', at: '/batch' }] : []),
  ...(sqlQuery ? [{ name: 'sql_query', at: '/sql_query' }] : []),
  ...(undo ? [{ name: 'undo', at: '/undo' }] : []),
]
