import { BATCHED, type LinkOperation, type ToolOperation } from '../../../contract/endpoint-shapes.ts'
import { demand, demandSight, type Permission } from '../../access/access.ts'
import type { CompiledEndpoint, ServedLink, ServedTool } from '../../compiled-types/compiled-endpoint.ts'
import type { LensInput } from '../../core/policy.ts'
import type { Scope } from '../../core/scope.ts'
import { demandBase } from '../bases/index.ts'
import { notFound } from '../lifecycle/read.ts'
import { relationshipTypesOf } from '../relationship-types/index.ts'
import { ENDPOINT } from './endpoint.ts'
import { endpointsOf } from './load-endpoints.ts'
import { followName } from './name-aliases.ts'

/** A link tool with the record types that its ends may be of; `*` is any. */
type OfferedLink = ServedLink & { sources: readonly string[]; targets: readonly string[] }

/** What an endpoint offers to one token: nothing that its grants do not reach. */
export type Served = {
  /** Differs whenever what is offered may. */
  stamp: string
  instructions: string | null
  resources: boolean
  sqlQuery: boolean
  tools: readonly ServedTool[]
  links: readonly OfferedLink[]
  /** What a batch may do to records of each type, and to links of each relationship type; null without a batch. */
  batch: { records: Record<string, string[]>; relationships: Record<string, string[]> } | null
  /** The tool that a name means, which may be one that it had before; null for none that is offered. */
  find(name: string): string | null
  /** Is there a tool of the name that the token's grants do not reach? */
  withholds(name: string): boolean
}

const READING: readonly (ToolOperation | LinkOperation)[] = ['get', 'list', 'aggregate', 'related']
const permissionOf = (operation: ToolOperation | LinkOperation): Permission =>
  READING.includes(operation) ? 'read' : 'write'

/** May the operation be done to the type? */
type May = (operation: ToolOperation | LinkOperation, recordType: string) => boolean

/**
 * What it offers to the token; `whole`, what it offers to any, and even if it is switched off, for those who may read it.
 * @throws FORBIDDEN without sight of the base; NOT_FOUND when the endpoint is absent or switched off
 */
export async function servedEndpoint(
  scope: Scope,
  baseId: string,
  id: string,
  whole: boolean,
): Promise<Served> {
  if (whole) demand(scope.access, 'read', baseId, '*')
  else demandSight(scope.access, baseId)
  const endpoint = await demandEndpoint(scope, baseId, id, whole)
  const may: May = (operation, type) => whole || scope.access.allows(permissionOf(operation), baseId, type)
  const tools = endpoint.tools.filter(({ operation, recordType }) => may(operation, recordType))
  const links = await offeredLinks(scope, baseId, endpoint, may)
  const sqlQuery = endpoint.sqlQuery && wholeTypes(endpoint).some((type) => may('list', type))
  const batch = batchOf(endpoint, tools, links)
  const offered = new Set([...tools, ...links].map(({ name }) => name))
  if (batch) offered.add('batch')
  if (sqlQuery) offered.add('sql_query')
  const all = new Set([...endpoint.tools, ...endpoint.links].map(({ name }) => name))
  if (endpoint.batch) all.add('batch')
  if (endpoint.sqlQuery) all.add('sql_query')
  const follow = (name: string) => followName(name, endpoint.formerNames, (each) => all.has(each))
  return {
    ...{ stamp: endpoint.stamp, instructions: endpoint.instructions, resources: endpoint.resources },
    ...{ sqlQuery, tools, links, batch },
    find: (name) => {
      const meant = follow(name)
      return meant !== undefined && offered.has(meant) ? meant : null
    },
    withholds: (name) => {
      const meant = follow(name)
      return meant !== undefined && !offered.has(meant)
    },
  }
}

async function demandEndpoint(
  scope: Scope,
  baseId: string,
  id: string,
  evenOff = false,
): Promise<CompiledEndpoint> {
  const endpoint = (await endpointsOf(scope, baseId)).get(id)
  if (endpoint && (endpoint.enabled || evenOff)) return endpoint
  await demandBase(scope, baseId)
  throw notFound(ENDPOINT, id)
}

/** Links join records of types that the endpoint has tools of: what it has none of is out of its sight. */
async function offeredLinks(
  scope: Scope,
  baseId: string,
  endpoint: CompiledEndpoint,
  may: May,
): Promise<OfferedLink[]> {
  if (endpoint.links.length === 0) return []
  const types = await relationshipTypesOf(scope, baseId)
  const own = [...new Set(endpoint.tools.map(({ recordType }) => recordType))]
  return endpoint.links.flatMap((link) => {
    const type = types.get(link.relType)
    if (!type) return []
    const within = (named: readonly string[]) =>
      own.filter((id) => (named.includes('*') || named.includes(id)) && may(link.operation, id))
    const [sources, targets] = [within(type.sourceRecordTypes), within(type.targetRecordTypes)]
    return sources.length > 0 && targets.length > 0 ? [{ ...link, sources, targets }] : []
  })
}

/** A batch does what the tools do, and of that what it is told. */
function batchOf({ batch }: CompiledEndpoint, tools: readonly ServedTool[], links: readonly ServedLink[]) {
  if (!batch) return null
  const word = (operation: string): string => (BATCHED as Record<string, string>)[operation] ?? operation
  const enabled = batch.operations?.map(word)
  const wordsOf = (of: readonly { operation: string }[]) => [
    ...new Set(
      of
        .filter(({ operation }) => Object.hasOwn(BATCHED, operation))
        .map(({ operation }) => word(operation))
        .filter((each) => !enabled || enabled.includes(each)),
    ),
  ]
  const records = grouped(tools, ({ recordType }) => recordType, wordsOf)
  const relationships = grouped(links, ({ relType }) => relType, wordsOf)
  return Object.keys({ ...records, ...relationships }).length > 0 ? { records, relationships } : null
}

/** What each key's items come to, without those that come to nothing. */
function grouped<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  wordsOf: (of: readonly T[]) => string[],
) {
  const entries = [...Map.groupBy(items, keyOf)].map(([key, of]) => [key, wordsOf(of)] as const)
  return Object.fromEntries(entries.filter(([, words]) => words.length > 0))
}

/** The types that nothing bounds in any tool. */
function wholeTypes({ tools }: CompiledEndpoint): string[] {
  const isBounded = ({ bounds }: ServedTool) => bounds.filter !== null || bounds.fields !== null
  const bounded = new Set(tools.filter(isBounded).map(({ recordType }) => recordType))
  return [...new Set(tools.map(({ recordType }) => recordType))].filter((type) => !bounded.has(type))
}

/**
 * What of the base a tool of the endpoint reaches: its one type within its bounds; `sql_query`, all types that nothing
 * bounds; any other, all types of the endpoint, each within all of its bounds. Its resources reach those too, of the types
 * that tools of it read, and nothing where it has none.
 * @throws NOT_FOUND as servedEndpoint
 */
export async function endpointReach(
  scope: Scope,
  baseId: string,
  id: string,
  what: { tool: string } | 'resources',
): Promise<LensInput[]> {
  const endpoint = await demandEndpoint(scope, baseId, id)
  if (what === 'resources') {
    const read = endpoint.tools.filter(({ operation }) => permissionOf(operation) === 'read')
    const types = new Set(endpoint.resources ? read.map(({ recordType }) => recordType) : [])
    return endpoint.tools.filter(({ recordType }) => types.has(recordType)).map(inputOf)
  }
  const { tool } = what
  const own = endpoint.tools.find(({ name }) => name === tool)
  if (own) return [inputOf(own)]
  if (tool === 'sql_query') return wholeTypes(endpoint).map((recordType) => ({ recordType }))
  return endpoint.tools.map(inputOf)
}

const inputOf = ({ recordType, bounds }: ServedTool): LensInput => ({
  recordType,
  filter: bounds.filter,
  fields: bounds.fields,
  defaults: bounds.defaults as Readonly<Record<string, unknown>> | null,
})
