import {
  BATCHED,
  type LinkOperation,
  type RunAs,
  type ServedOperation,
} from '../../../contract/endpoint-shapes.ts'
import type { PolicyInput } from '../../core/policy.ts'
import type { Scope } from '../../core/scope.ts'
import type {
  CompiledEndpoint,
  ServedAction,
  ServedLink,
  ServedTool,
} from '../../schema/compiled-types/compiled-endpoint.ts'
import { requirePermission, withProposals } from '../../storage/access/access.ts'
import type { Permission } from '../../storage/access/grants.ts'
import { relationshipTypesOf } from '../relationship-types/index.ts'
import { enterEndpoint, requireEndpoint } from './endpoint-scope.ts'
import { typesAtEnd } from './link-ends.ts'
import { followName } from './name-aliases.ts'

/** A link tool with the record types allowed at its ends; `*` is any. */
type OfferedLink = ServedLink & { sources: readonly string[]; targets: readonly string[] }

/** What an endpoint offers to one token, limited to the token's grants. */
export type ResolvedEndpoint = {
  /** Changes whenever the offer may have changed. */
  stamp: string
  /** Its configuration without the selections, which would show hidden fields and filters. */
  about: CompiledEndpoint['about']
  instructions: string | null
  resources: boolean
  sqlQuery: boolean
  undo: boolean
  tools: readonly ServedTool[]
  links: readonly OfferedLink[]
  actions: readonly ServedAction[]
  /** What can never work, for readers of the configuration. */
  warnings: readonly string[]
  /**
   * Operations that a batch allows on records of each type, and on links of each relationship type; null
   * without a batch tool.
   */
  batch: { records: Record<string, string[]>; relationships: Record<string, string[]> } | null
  /** Resolves a tool name or an alias; null if no offered tool has it. */
  find(name: string): string | null
  /** Whether a tool of that name exists that the token's grants do not allow. */
  withholds(name: string): boolean
}

const READING: readonly (ServedOperation | LinkOperation)[] = [
  'get',
  'list',
  'aggregate',
  'history',
  'attachments',
  'related',
]
const permissionOf = (operation: ServedOperation | LinkOperation): Permission =>
  READING.includes(operation) ? 'read' : 'write'

/** Whether the operation is allowed on the type. */
type May = (operation: ServedOperation | LinkOperation, recordType: string) => boolean

/**
 * Resolves the tools that an endpoint offers to the token, also those of what it may propose. With `whole`, resolves all tools,
 * even of a disabled endpoint, for readers of its configuration.
 * @throws FORBIDDEN without a grant that reaches it; NOT_FOUND when the endpoint is absent or disabled
 */
export async function servedEndpoint(
  asked: Scope,
  baseId: string,
  id: string,
  whole: boolean,
): Promise<ResolvedEndpoint> {
  if (whole) requirePermission(asked.access, 'read', baseId, '*')
  const scope = whole ? asked : await enterEndpoint(asked, baseId, id)
  const endpoint = await requireEndpoint(scope, baseId, id, whole)
  const may: May = (operation, type) => whole || scope.access.allows(permissionOf(operation), baseId, type)
  const proposed = withProposals(scope.access)
  const mayAlso: May = (operation, type) =>
    may(operation, type) || (Object.hasOwn(BATCHED, operation) && proposed.allows('write', baseId, type))
  const tools = endpoint.tools.filter(({ operation, recordType }) => mayAlso(operation, recordType))
  const links = await offeredLinks(scope, baseId, endpoint, mayAlso)
  const sqlQuery = endpoint.sqlQuery && wholeTypes(endpoint).some((type) => may('list', type))
  const undo = endpoint.undo && endpoint.tools.some((tool) => may('update', tool.recordType))
  const batch = batchOf(endpoint, tools, links)
  const actions = endpoint.actions.filter((action) => whole || mayRun(scope, baseId, id, action, mayAlso))
  const offered = new Set([...tools, ...links, ...actions].map(({ name }) => name))
  if (batch) offered.add('batch')
  if (sqlQuery) offered.add('sql_query')
  if (undo) offered.add('undo')
  const all = new Set([...endpoint.tools, ...endpoint.links, ...endpoint.actions].map(({ name }) => name))
  if (endpoint.batch) all.add('batch')
  if (endpoint.sqlQuery) all.add('sql_query')
  if (endpoint.undo) all.add('undo')
  const follow = (name: string) => followName(name, endpoint.formerNames, (each) => all.has(each))
  return {
    ...{ stamp: endpoint.stamp, about: endpoint.about },
    ...{ instructions: endpoint.instructions, resources: endpoint.resources },
    ...{ sqlQuery, undo, tools, links, actions, batch, warnings: whole ? endpoint.warnings : [] },
    find: (name) => {
      const current = follow(name)
      return current !== undefined && offered.has(current) ? current : null
    },
    withholds: (name) => {
      const current = follow(name)
      return current !== undefined && !offered.has(current)
    },
  }
}

/** Whether the token may run the action, as far as its steps name their types. */
function mayRun({ access }: Scope, baseId: string, id: string, action: ServedAction, may: May): boolean {
  const hasOwnRights = action.runAs === 'action'
  if (action.changesTypes && (hasOwnRights || !access.allows('manage', baseId, '*'))) return false
  // Entering the endpoint turned its grants into rights on types.
  const atEndpoint = (access.whole ?? access).atEndpoint(baseId, id)
  // It does more than its caller could: so it is for those who have the endpoint, or as many rights as it has.
  if (hasOwnRights)
    return action.isRead
      ? atEndpoint !== null || access.allows('read', baseId, '*')
      : (atEndpoint !== null && atEndpoint !== 'read') || access.allows('write', baseId, '*')
  const mayWrite = access.allows('write', baseId, '*') || (atEndpoint !== null && atEndpoint !== 'read')
  return (
    (action.isRead || mayWrite || action.writes.length > 0) &&
    action.reads.every((type) => may('list', type)) &&
    action.writes.every((type) => may('create', type))
  )
}

/** Offers only link tools between record types that the endpoint has tools for. */
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
      typesAtEnd(named, own).filter((id) => may(link.operation, id))
    const [sources, targets] = [within(type.sourceRecordTypes), within(type.targetRecordTypes)]
    return sources.length > 0 && targets.length > 0 ? [{ ...link, sources, targets }] : []
  })
}

/** A batch allows the operations of the tools, restricted to its own `operations`. */
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

/** Groups the values of the items by key. Omits empty groups. */
function grouped<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  wordsOf: (of: readonly T[]) => string[],
) {
  const entries = [...Map.groupBy(items, keyOf)].map(([key, of]) => [key, wordsOf(of)] as const)
  return Object.fromEntries(entries.filter(([, words]) => words.length > 0))
}

/** The types that no tool restricts by a policy. */
function wholeTypes({ tools }: CompiledEndpoint): string[] {
  const isBounded = ({ bounds }: ServedTool) => bounds.filter !== null || bounds.fields !== null
  const bounded = new Set(tools.filter(isBounded).map(({ recordType }) => recordType))
  return [...new Set(tools.map(({ recordType }) => recordType))].filter((type) => !bounded.has(type))
}

/**
 * The scope that a tool of the endpoint may access. A typed tool: its type under its policy. `sql_query`: all
 * types without a policy. Any other tool, and `records`: all types of the endpoint, each under all its policies. Resources:
 * the same, limited to types with read tools; nothing if the endpoint has no resources.
 * @throws NOT_FOUND as servedEndpoint
 */
export async function endpointPolicy(
  scope: Scope,
  baseId: string,
  id: string,
  what: { tool: string } | 'resources' | 'records',
): Promise<PolicyInput[]> {
  const endpoint = await requireEndpoint(scope, baseId, id)
  if (what === 'resources') {
    const read = endpoint.tools.filter(({ operation }) => permissionOf(operation) === 'read')
    const types = new Set(endpoint.resources ? read.map(({ recordType }) => recordType) : [])
    return endpoint.tools.filter(({ recordType }) => types.has(recordType)).map(inputOf)
  }
  if (what === 'records') return endpoint.tools.map(inputOf)
  const { tool } = what
  const own = endpoint.tools.find(({ name }) => name === tool)
  if (own) return [inputOf(own), ...farEnds(endpoint, own)]
  const action = endpoint.actions.find(({ name }) => name === tool)
  if (action) return inputsOf(endpoint, action)
  if (tool === 'sql_query') return wholeTypes(endpoint).map((recordType) => ({ recordType }))
  return endpoint.tools.map(inputOf)
}

/** The other types of the endpoint, which a read of a record reaches by the relationships that the endpoint follows. */
const farEnds = ({ tools, links }: CompiledEndpoint, own: ServedTool): PolicyInput[] =>
  own.operation === 'get' && links.some(({ operation }) => operation === 'related')
    ? tools.filter(({ recordType }) => recordType !== own.recordType).map(inputOf)
    : []

/** The types of an action: each under the policies that the endpoint has for it, if any. */
function inputsOf(
  { tools }: CompiledEndpoint,
  { runAs, reads, writes }: Pick<ServedAction, 'runAs' | 'reads' | 'writes'>,
): PolicyInput[] {
  if (runAs === 'action') return []
  return [...new Set([...reads, ...writes])].flatMap((recordType) => {
    const own = tools.filter((tool) => tool.recordType === recordType)
    return own.length > 0 ? own.map(inputOf) : [{ recordType }]
  })
}

/**
 * The action behind a tool of the endpoint, with what its queries reach whose record type is a template: beside the types of
 * its steps, those that a tool of the endpoint lists. Null if it is another tool.
 */
export async function actionOfTool(
  scope: Scope,
  baseId: string,
  id: string,
  tool: string,
): Promise<{ id: string; runAs: RunAs; listing: PolicyInput[] } | null> {
  const endpoint = await requireEndpoint(scope, baseId, id)
  const action = endpoint.actions.find(({ name }) => name === tool)
  if (!action) return null
  const lists = endpoint.tools.filter(({ operation }) => operation === 'list')
  const reads = [...action.reads, ...lists.map(({ recordType }) => recordType)]
  const { runAs, writes } = action
  return { id: action.id, runAs, listing: inputsOf(endpoint, { runAs, reads, writes }) }
}

const inputOf = ({ recordType, bounds }: ServedTool): PolicyInput => ({
  recordType,
  filter: bounds.filter,
  writeFilter: bounds.writeFilter,
  fields: bounds.fields,
  defaults: bounds.defaults as Readonly<Record<string, unknown>> | null,
  attachments: bounds.attachments,
  renamedIn: bounds.renamedIn,
})
