import type { Step } from '../../../contract/action-shapes.ts'
import {
  actionsOf,
  type EndpointBatch,
  type EndpointRelationship,
  type EndpointTool,
  type RunAs,
  toolsOfOperation,
} from '../../../contract/endpoint-shapes.ts'
import { compiledCache } from '../../core/compiled-cache.ts'
import type { Scope } from '../../core/scope.ts'
import type {
  Action as ActionRow,
  Endpoint as EndpointRow,
  Action as Row,
  Toolset as ToolsetRow,
} from '../../prisma/client.ts'
import {
  type AboutEndpoint,
  boundsOf,
  type CompiledEndpoint,
  type ServedAction,
  type ServedTool,
} from '../../schema/compiled-types/compiled-endpoint.ts'
import { typesNamed } from '../actions/index.ts'
import { impossibleSteps } from './impossible-steps.ts'
import { portableIdsOf } from './load-record-types.ts'
import type { FormerName } from './name-aliases.ts'
import { nameLinks, type PortableIds } from './named-tools.ts'
import { type RenamedIn, renamedIn, withCurrentNames } from './renamed-properties.ts'
import { actionToolName, typedToolsOf } from './toolset-members.ts'

type Endpoints = ReadonlyMap<string, CompiledEndpoint>

/** Loads all endpoints of a base by id, through the cache. Empty when the base is absent. */
export async function endpointsOf(scope: Scope, baseId: string): Promise<Endpoints> {
  return (await ENDPOINTS.get(scope, baseId)) ?? new Map()
}

/** The same from the cache alone; undefined if it is not there. */
export const cachedEndpointsOf = (scope: Pick<Scope, 'caches'>, baseId: string): Endpoints | undefined =>
  ENDPOINTS.cached(scope, baseId)

const ENDPOINTS = compiledCache<Endpoints>({
  max: 1000,
  per: 'base',
  // Tools of endpoints are named after the record types of the base.
  from: ['endpoint', 'toolset', 'action', 'record_type'],
  async load(scope, baseId) {
    const { orm } = scope.db
    const [rows, toolsets, actions, portableIds] = await Promise.all([
      orm.endpoint.findMany({ where: { baseId } }),
      orm.toolset.findMany({ where: { baseId } }),
      orm.action.findMany({ where: { baseId } }),
      portableIdsOf(scope, baseId),
    ])
    const shared = new Map(toolsets.map((row) => [row.id, row]))
    const byId = new Map(actions.map((row) => [row.id, row]))
    const selected = [...rows, ...toolsets].flatMap(({ tools }) => tools as EndpointTool[])
    const renamed = await renamedIn(scope, baseId, [
      ...new Set(selected.map(({ record_type }) => record_type)),
    ])
    return new Map(rows.map((row) => [row.id, compiled(row, shared, byId, portableIds, renamed)]))
  },
})

const aboutOf = ({ baseId: _, tools: _tools, formerNames: _names, ...row }: EndpointRow): AboutEndpoint => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

function compiled(
  row: EndpointRow,
  shared: ReadonlyMap<string, ToolsetRow>,
  known: ReadonlyMap<string, ActionRow>,
  portableIds: PortableIds,
  renamed: RenamedIn,
): CompiledEndpoint {
  const { id, enabled, instructions, sqlQuery, undo, resources } = row
  const batch = row.batch as EndpointBatch
  const toolsets = row.toolsets.flatMap((name) => shared.get(name) ?? [])
  const actions = actionsOf(row).flatMap(({ id: name, runAs }) => {
    const action = known.get(name)
    return action ? [{ action, runAs }] : []
  })
  const named = typedToolsOf(row, shared, portableIds)
  const former = [...toolsets, row].flatMap((each) => each.formerNames as FormerName[])
  return {
    ...{ id, enabled, instructions, sqlQuery, undo, resources },
    about: aboutOf(row),
    // A recreated row has another creation time.
    stamp: JSON.stringify(
      [row, ...toolsets, ...actions.map(({ action }) => action)].map((each) => [
        each.id,
        each.createdAt,
        each.version,
      ]),
    ),
    tools: named.map(({ name, recordType, operation, selection }): ServedTool => {
      const isOnly = selection.operations.flatMap(toolsOfOperation).length === 1
      const text = selection.description_override ?? null
      const bounds = withCurrentNames(boundsOf(selection), renamed.get(recordType))
      return { name, recordType, operation, description: { text, isOnly }, bounds }
    }),
    links: nameLinks(row.relationships as EndpointRelationship[]).map(({ name, relType, operation }) => ({
      name,
      relType,
      operation,
    })),
    actions: actions.map(({ action, runAs }) => servedAction(action, runAs)),
    warnings: impossibleSteps(actions, named),
    batch: batch.enabled ? { operations: batch.operations ?? null } : null,
    formerNames: new Map(former.map(({ name, now }) => [name, now])),
  }
}

/** Actions as tools of endpoints. */
function servedAction(row: Row, runAs: RunAs): ServedAction {
  const steps = row.steps as Step[]
  const typesOf = (of: readonly Step[]) => [
    ...new Set(typesNamed(of).flatMap(({ kind, id }) => (kind === 'record_type' ? [id] : []))),
  ]
  return {
    name: actionToolName(row.id),
    id: row.id,
    runAs,
    title: row.name,
    description: row.description,
    inputSchema: row.inputSchema,
    isRead: steps.every(({ type }) => type === 'query'),
    isOpen: steps.some(({ type }) => type === 'http'),
    reads: typesOf(steps.filter(({ type }) => type === 'query')),
    writes: typesOf(steps.filter(({ type }) => type !== 'query')),
    changesTypes: steps.some(({ type }) => type.endsWith('_type')),
  }
}
