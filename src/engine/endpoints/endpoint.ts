import type { EndpointBatch, EndpointRelationship, EndpointTool } from '../../contract/endpoint-shapes.ts'
import { DomainError } from '../../foundation/errors.ts'
import type { Endpoint as Row } from '../prisma/client.ts'
import { toolsOf } from './toolset.ts'

/** An endpoint as every surface shows it: the tools that an agent gets at an address of its own. */
export type Endpoint = {
  baseId: string
  id: string
  name: string
  description: string | null
  instructions: string | null
  toolsets: readonly string[]
  /** As they were put. */
  tools: readonly EndpointTool[]
  relationships: readonly EndpointRelationship[]
  batch: EndpointBatch
  sqlQuery: boolean
  resources: boolean
  enabled: boolean
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

export const toEndpoint = (row: Row): Endpoint => ({
  baseId: row.baseId,
  id: row.id,
  name: row.name,
  description: row.description,
  instructions: row.instructions,
  toolsets: row.toolsets,
  tools: toolsOf(row),
  relationships: row.relationships as EndpointRelationship[],
  batch: row.batch as EndpointBatch,
  sqlQuery: row.sqlQuery,
  resources: row.resources,
  enabled: row.enabled,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The same whether it is absent or switched off. */
export const endpointNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no endpoint "${id}".`, {
    details: [
      {
        path: '/id',
        code: 'endpoint_not_found',
        message: 'List the endpoints of the base, or PUT this one first.',
      },
    ],
  })
