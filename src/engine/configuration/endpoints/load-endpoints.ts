import type { EndpointBatch, EndpointRelationship } from '../../../contract/endpoint-shapes.ts'
import { boundsOf, type CompiledEndpoint, type ServedTool } from '../../compiled-types/compiled-endpoint.ts'
import type { Scope } from '../../core/scope.ts'
import type { Endpoint as EndpointRow, Toolset as ToolsetRow } from '../../prisma/client.ts'
import { portableIdsOf } from './load-record-types.ts'
import type { FormerName } from './name-aliases.ts'
import { nameLinks, type PortableIds } from './named-tools.ts'
import { typedToolsOf } from './toolset-members.ts'

type Endpoints = ReadonlyMap<string, CompiledEndpoint>

/** All endpoints of a base by id, from memory when they are known there; none when there is no such base. */
export async function endpointsOf(scope: Scope, baseId: string): Promise<Endpoints> {
  const known = scope.caches.live() ? scope.caches.endpoints.get(baseId) : undefined
  return known ?? (await load(scope, baseId))
}

async function load(scope: Scope, baseId: string): Promise<Endpoints> {
  const before = scope.caches.forgotten()
  const { orm } = scope.db
  const [rows, toolsets, portableIds] = await Promise.all([
    orm.endpoint.findMany({ where: { baseId } }),
    orm.toolset.findMany({ where: { baseId } }),
    portableIdsOf(scope, baseId),
  ])
  const shared = new Map(toolsets.map((row) => [row.id, row]))
  const endpoints = new Map(rows.map((row) => [row.id, compiled(row, shared, portableIds)]))
  // What a transaction sees may never be committed.
  const isSettled = !scope.db.isTransaction && scope.caches.forgotten() === before
  if (isSettled) scope.caches.endpoints.set(baseId, endpoints)
  return endpoints
}

function compiled(
  row: EndpointRow,
  shared: ReadonlyMap<string, ToolsetRow>,
  portableIds: PortableIds,
): CompiledEndpoint {
  const { id, enabled, instructions, sqlQuery, resources } = row
  const batch = row.batch as EndpointBatch
  const toolsets = row.toolsets.flatMap((name) => shared.get(name) ?? [])
  const named = typedToolsOf(row, shared, portableIds)
  const former = [...toolsets, row].flatMap((each) => each.formerNames as FormerName[])
  return {
    ...{ id, enabled, instructions, sqlQuery, resources },
    // A row that is deleted and made again has another time.
    stamp: JSON.stringify([row, ...toolsets].map((each) => [each.id, each.createdAt, each.version])),
    tools: named.map(({ name, recordType, operation, selection }): ServedTool => {
      const isOnly = selection.operations.length === 1
      const text = selection.description_override ?? null
      return { name, recordType, operation, description: { text, isOnly }, bounds: boundsOf(selection) }
    }),
    links: nameLinks(row.relationships as EndpointRelationship[]).map(({ name, relType, operation }) => ({
      name,
      relType,
      operation,
    })),
    batch: batch.enabled ? { operations: batch.operations ?? null } : null,
    formerNames: new Map(former.map(({ name, now }) => [name, now])),
  }
}
