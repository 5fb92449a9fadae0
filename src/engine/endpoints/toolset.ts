import type { EndpointTool } from '../../contract/endpoint-shapes.ts'
import { DomainError } from '../../foundation/errors.ts'
import type { Toolset as Row } from '../prisma/client.ts'

/** A toolset as every surface shows it: a named list of tools, for endpoints to share. */
export type Toolset = {
  baseId: string
  id: string
  name: string
  description: string | null
  /** As they were put. */
  tools: readonly EndpointTool[]
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

export const toToolset = (row: Row): Toolset => ({
  baseId: row.baseId,
  id: row.id,
  name: row.name,
  description: row.description,
  tools: toolsOf(row),
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The selections of tools that a row holds. */
export const toolsOf = ({ tools }: { tools: unknown }): readonly EndpointTool[] =>
  tools as readonly EndpointTool[]

export const toolsetNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no toolset "${id}".`, {
    details: [
      {
        path: '/id',
        code: 'toolset_not_found',
        message: 'List the toolsets of the base, or PUT this one first.',
      },
    ],
  })
