/** Plinth as an MCP server: which tools, resources and prompts an address has. */
import { nearest } from '../contract/suggest.ts'
import { toDomainError } from '../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { endSpan, type Span, startSpan, within } from '../foundation/tracing.ts'
import { isAtChangeSet } from '../graphql/change-sets.ts'
import { type Context, duringCall, endingWith, mayAnywhere, mayPropose, tasksOf } from '../graphql/context.ts'
import { leanError, leanWritten } from './budget/lean.ts'
import { complete } from './completion.ts'
import { isAtEndpoint, listEndpointTools, resolveEndpointTool } from './endpoints/endpoint.ts'
import {
  decidesAtEndpoint,
  listWithViews,
  placeAtEndpoint,
  resolveForm,
  resolveProposal,
} from './endpoints/endpoint-views.ts'
import { instructionsOf, type Listing, misnamed, type Unknown } from './outline/base-instructions.ts'
import { getPrompt, listPrompts } from './prompts/prompts.ts'
import { type AddressSession, addressOf } from './protocol/address-session.ts'
import { LEAN_REQUESTS, MCP_REQUESTS } from './protocol/advised-tools.ts'
import { about } from './protocol/instructions.ts'
import { type Caller, InvalidParams, isOfProtocol, type Provider } from './protocol/provider.ts'
import { failure, success, type ToolResult } from './protocol/result.ts'
import { listResources, listTemplates, readResource } from './resources/resources.ts'
import { getSkill, listSkills } from './resources/skill.ts'
import { watch } from './subscriptions/list-changed.ts'
import { checkSubscribable } from './subscriptions/resource-subscriptions.ts'
import type { Tool, ToolCall, TwoSided } from './tool/tool.ts'
import type { ToolDefinition } from './tool/tool-definition.ts'
import { beyondGrants, unknownTool } from './tool/unknown-tool.ts'
import { withUsage } from './tool/usage.ts'
import { aggregateTool } from './tools/aggregates.ts'
import { baseTools } from './tools/bases.ts'
import { batchTool } from './tools/batch.ts'
import { callTyped } from './tools/call-typed-tool.ts'
import { changesTool } from './tools/changes.ts'
import { workTools } from './tools/claims/claims.ts'
import { configurationTool } from './tools/configuration.ts'
import { configureTool } from './tools/configure.ts'
import { DECIDE, decideCall, decideDefinition } from './tools/decide.ts'
import { defineTool } from './tools/define.ts'
import { definitionTool } from './tools/delete-definition.ts'
import { profileTool } from './tools/describe-type/describe-type.ts'
import { previewTool, promoteTool } from './tools/environments.ts'
import { fileTools, seesFileTypes } from './tools/files/files.ts'
import { historyTool } from './tools/history.ts'
import { asking, proposeTools } from './tools/propose.ts'
import { recordTypeTool } from './tools/record-types.ts'
import { recordTools } from './tools/records/writes.ts'
import { relatedTool } from './tools/related.ts'
import { relationshipTool } from './tools/relationships.ts'
import { reviewTool } from './tools/review.ts'
import { rollbackPromotionTool } from './tools/rollback-promotion.ts'
import { runActionTool } from './tools/run-action.ts'
import { knowledgeTools, leanSearch } from './tools/search-fetch/search-and-fetch.ts'
import { sqlTool } from './tools/sql.ts'
import { sqlWriteTool } from './tools/sql-write.ts'
import { allTypes, listedOf, typedTool, typedTools } from './tools/typed-tools.ts'
import { undoTool } from './tools/undo.ts'
import { whoamiTool } from './tools/whoami.ts'
import {
  CALLED_IN_VIEWS,
  decidesInView,
  inPlace,
  inView,
  reviewUrl,
  type ViewPlace,
  viewOf,
} from './views/views.ts'

/** Tools of every base, with any types. */
export const GENERIC: readonly TwoSided[] = [
  recordTypeTool,
  profileTool,
  ...recordTools,
  relationshipTool,
  relatedTool,
  historyTool,
  changesTool,
  undoTool,
  aggregateTool,
  batchTool,
  sqlTool,
  sqlWriteTool,
  defineTool,
  ...workTools,
  previewTool,
  ...proposeTools,
  reviewTool,
  promoteTool,
  rollbackPromotionTool,
  whoamiTool,
  configurationTool,
  configureTool,
  runActionTool,
  ...fileTools,
]
/** Tools for clients that support no others. Listed only at addresses that name them. */
export const NAMED_ONLY: readonly Tool[] = knowledgeTools
/** Account tools, on `/mcp` only. */
export const ACCOUNT: readonly Tool[] = [...baseTools, definitionTool]

/** The MCP provider for Plinth. */
export const plinth: Provider = {
  about,
  instructions: (session) => instructionsOf(session, (base) => listing(session, base)),
  tools: {
    async list(session, cursor) {
      if (cursor !== undefined) throw new InvalidParams('tools/list has one page. Leave cursor out.')
      return { tools: session.hasViews ? await listInViews(session) : await listTools(session) }
    },
    call: callTool,
  },
  resources: {
    list: listResources,
    templates: listTemplates,
    read: (session, uri, caller) => readResource(whileAsked(session, caller), uri),
    checkSubscribable,
  },
  tasks: ({ context }) => tasksOf(context),
  skills: { list: listSkills, get: getSkill },
  prompts: { list: listPrompts, get: getPrompt },
  complete,
  watch,
}

/** The tools with their views, and what the views call beside them. */
async function listInViews(session: AddressSession): Promise<readonly object[]> {
  if (isAtEndpoint(session)) return listWithViews(session)
  const tools = await listTools(session)
  const hasPlans = !session.readonly && tools.some(({ name }) => decidesInView(name))
  return [...tools.map((tool) => inView(tool, tool.name)), ...(hasPlans ? [decideDefinition] : [])]
}

/** What the view of an answer may call at the address; undefined if the tool has no view. */
async function viewPlace(session: AddressSession, name: string): Promise<ViewPlace | undefined> {
  if (isAtEndpoint(session)) return placeAtEndpoint(session, name)
  if (name !== DECIDE && viewOf(name) === undefined) return undefined
  const rows = rowsAt(session.base)
  const isAvailable = await availableAt(session)
  const callable = CALLED_IN_VIEWS.filter((each) => {
    const row = rows.get(each)
    return row !== undefined && accessTo(row, session) === 'callable' && isAvailable(row)
  })
  return { tools: Object.fromEntries(callable.map((each) => [each, each])) }
}

const byName = (rows: readonly TwoSided[]): ReadonlyMap<string, TwoSided> =>
  new Map(rows.map((row) => [row.name, row]))
const ANYWHERE = byName([...ACCOUNT, ...GENERIC])
const IN_BASE = byName([...GENERIC, ...NAMED_ONLY])
const rowsAt = (base: string | null) => (base === null ? ANYWHERE : IN_BASE)

/** The tools that the profile `lean` lists; on `/mcp`, the bases too. */
const LEAN = new Set(['list_bases', 'sql_query', 'sql_write', 'define', 'undo', 'work', 'search'])

const NAMES = { anywhere: [...ANYWHERE.keys()], inBase: [...IN_BASE.keys()] }
/** Names of the tools that an address has independently of types and token. */
export const genericNames = (base: string | null): readonly string[] =>
  base === null ? NAMES.anywhere : NAMES.inBase

/**
 * Lists the tools that the token may use at this address, in a stable order. Depends only on grants and
 * address.
 */
export async function listTools(session: AddressSession): Promise<ToolDefinition[]> {
  if (isAtEndpoint(session)) return listEndpointTools(session)
  const { context, base, profile } = session
  const isAvailable = await availableAt(session)
  const callable = [...rowsAt(base).values()]
    .filter((row) => isListed(row, session))
    .map((row) => sideOf(row, session))
    .filter((row) => accessTo(row, session) === 'callable' && isAvailable(row))
  const hasFiles =
    callable.some((row) => row.ofFiles) && (session.tools !== null || (await seesFileTypes(context, base)))
  const generic = callable.filter((row) => !row.ofFiles || hasFiles).map((row) => row.define(base === null))
  if (base === null || profile !== null) return generic
  return [...generic, ...listedOf(await typedTools(base, context), session)]
}

/** What `listTools` lists, for the instructions. */
async function listing(session: AddressSession, base: string): Promise<Listing> {
  const { context, tools, types, profile } = session
  const isAvailable = await availableAt(session)
  const lists = (name: string) => {
    const row = IN_BASE.get(name)
    return row !== undefined && isNamed(name, session) && isListed(row, session) && isAvailable(row)
  }
  const isDefault = tools === null && types === null && profile === null
  const hasCreates = isDefault && (await typedTools(base, context)).creates.length > 0
  const writesDirectly = !mayPropose(context, base) && !(await isAtChangeSet(context, base))
  return { lists, hasCreates, writesDirectly, unknown: await unknownIn(session, base) }
}

async function unknownIn({ context, whole, tools, types }: AddressSession, base: string): Promise<Unknown> {
  const ids = async (of: Context) => (await allTypes(base, of)).map(({ id }) => id)
  const absentOf = (named: readonly string[], known: readonly string[], meant = known) =>
    new Map(named.filter((name) => !known.includes(name)).map((name) => [name, nearest(name, meant)]))
  const typed = tools?.filter((name) => !IN_BASE.has(name)) ?? []
  const seen = types === null ? [] : await ids(context)
  const isAllSeen = types?.every((id) => seen.includes(id)) ?? true
  return {
    tools: absentOf(typed, typed.length > 0 ? [...(await typedTools(base, context)).all.keys()] : []),
    types: isAllSeen ? new Map() : absentOf(types ?? [], seen, await ids(whole)),
  }
}

/** What the options of an address name that it does not have, in words. */
export const warningsOf = async (session: AddressSession): Promise<string[]> =>
  session.base === null || isAtEndpoint(session) ? [] : misnamed(await unknownIn(session, session.base))

/**
 * Calls a tool by name.
 * @throws InvalidParams
 */
async function callTool(
  asking: AddressSession,
  name: string,
  args: Record<string, unknown>,
  caller: Caller,
): Promise<ToolResult> {
  const session = logged(whileAsked(asking, caller), name, caller)
  // The protocol has read the arguments in this turn.
  if (turnIsOver()) await nextTurn()
  let span: Span | undefined
  let outcome = 'ok'
  try {
    const call = await resolveTool(session, name)
    // A name that no tool has is a value of the caller.
    span = startSpan(
      `tools/call ${name}`,
      'internal',
      { 'gen_ai.tool.name': name },
      caller.origin.traceparent,
    )
    // Before the call: what was done is answered, whatever becomes of the address meanwhile.
    const place = session.hasViews ? await viewPlace(session, name) : undefined
    const result = await within(span, () => call(args, caller))
    if (!place) return result
    const { publicUrl, base } = session
    return inPlace(result, { ...place, ...(publicUrl && base && { url: reviewUrl(publicUrl, base) }) })
  } catch (thrown) {
    outcome = isOfProtocol(thrown) ? 'protocol_error' : toDomainError(thrown).code
    if (isOfProtocol(thrown)) throw thrown
    const seen = withUsage(thrown, () => unlistedDefinition(session, name))
    const { requestId } = session.context.scope
    if (session.profile !== 'lean') return failure(seen, requestId, MCP_REQUESTS)
    return failure(leanError(toDomainError(seen)), requestId, LEAN_REQUESTS)
  } finally {
    endSpan(span, { 'plinth.outcome': outcome }, outcome === 'INTERNAL_ERROR')
  }
}

/** The definition of a generic tool that the address does not list, though it can be called. */
function unlistedDefinition(session: AddressSession, name: string): ToolDefinition | undefined {
  const { base } = session
  const row = isAtEndpoint(session) ? undefined : rowsAt(base).get(name)
  return row === undefined || isListed(row, session) ? undefined : row.define(base === null)
}

/**
 * Finds the tool of a name: of the endpoint, of every base, or of a record type. Type tools that exceed the
 * list limit are callable too.
 * @throws FORBIDDEN beyond the grants; InvalidParams for an unknown name
 */
async function resolveTool(session: AddressSession, name: string): Promise<ToolCall> {
  if (isAtEndpoint(session)) {
    const hasViews = await decidesAtEndpoint(session)
    const how = { hasViews, logged: DECIDE }
    if (name === DECIDE && hasViews)
      return decideCall(session, (planned) => resolveEndpointTool(session, planned, how))
    const own = (await resolveForm(session, name)) ?? (await resolveProposal(session, name))
    return own ?? resolveEndpointTool(session, name, { hasViews })
  }
  if (name === DECIDE && session.hasViews && !session.readonly)
    return decideCall(session, (planned) => resolveTool(session, planned))
  const { base, context } = session
  const known = rowsAt(base).get(name)
  if (known) {
    const row = sideOf(known, session)
    const access = accessTo(row, session)
    if (access === 'callable') return (args, caller) => row.call(args, session, caller)
    throw access === 'forbidden' ? beyondGrants(name, context, base) : await unknown(session, name)
  }
  if (base === null || !isNamed(name, session)) throw await unknown(session, name)
  const typed = await typedTool(base, name, context)
  if (!typed) throw await unknown(session, name)
  const place = { base, at: addressOf(session), context, hasResources: true }
  const shape = session.profile === 'lean' ? leanWritten : undefined
  return async (args) => success(await callTyped(typed, place, args), true, shape)
}

/** Ends reads when the request is cancelled or the client disconnects. */
const whileAsked = (session: AddressSession, { ended, withdrawn }: Caller): AddressSession => ({
  ...session,
  context: endingWith(session.context, () => ended.signal, withdrawn && (() => withdrawn.signal)),
})

/** Has the change log name the call in every entry that it writes. */
const logged = (session: AddressSession, tool: string, { origin }: Caller): AddressSession => ({
  ...session,
  context: duringCall(session.context, { ...origin, tool, endpoint: session.endpoint }),
})

const may = (row: Tool, context: Context, base: string | null) =>
  mayAnywhere(context, row.permission, base === null ? null : row.decidesAt(base))

/** The variant of a tool for the address, or the read-only one if the session may not write anywhere. */
const sideOf = (row: TwoSided, session: AddressSession): Tool => {
  const { context, base, profile } = session
  if (row.name === asking.name && session.tools === null && endsByProposing(session)) return asking
  if (profile === 'lean' && row.name === leanSearch.name) return leanSearch
  return row.reads && (!may(row, context, base) || isUnproposed(row, session)) ? row.reads : row
}

/** Whether the tool writes what the token could only propose, and no proposal holds. */
const isUnproposed = (row: Tool, { base, context }: AddressSession) =>
  row.notInChangeSets && row.permission !== 'read' && base !== null && mayPropose(context, base)

/** Which tools that the token may call can succeed at the address. A call of another one explains why not. */
async function availableAt(session: AddressSession): Promise<(row: Tool) => boolean> {
  const { context, base } = session
  const isInDrafts = base !== null && (await isAtChangeSet(context, base))
  return (row) =>
    row.available(context, base) && !(isInDrafts && row.notInChangeSets) && !isUnproposed(row, session)
}

/** Whether the `tools` option of the address allows the name. */
const isNamed = (name: string, { tools }: AddressSession) => tools === null || tools.includes(name)

/** Whether an option of the address asks for the tool. */
const isChosen = (name: string, { tools, profile }: AddressSession) =>
  tools !== null || (profile !== null && LEAN.has(name))

/** Whether the address lists the tool, if the session may call it. */
const isListed = (row: Tool, session: AddressSession) =>
  row.isUnlisted
    ? session.tools !== null || (row.name === 'propose' && endsByProposing(session))
    : session.profile === null || LEAN.has(row.name)

/** Whether what the token writes here waits for its proposal: many clients call what is listed only. */
const endsByProposing = ({ base, context, profile }: AddressSession) =>
  base !== null && profile === null && mayPropose(context, base)

/**
 * What a session may do with a tool. `hidden`: the address does not have it. `forbidden`: the address has it,
 * and the token has no right to it.
 */
function accessTo(row: Tool, session: AddressSession): 'callable' | 'forbidden' | 'hidden' {
  const { context, whole, base, readonly } = session
  if (!isNamed(row.name, session) || (row.onlyNamed && !isChosen(row.name, session))) return 'hidden'
  if (readonly && row.permission !== 'read') return 'hidden'
  if (may(row, context, base)) return 'callable'
  // The options of the address take rights away. What they take is hidden, not forbidden.
  return may(row, whole, base) ? 'hidden' : 'forbidden'
}

/**
 * FORBIDDEN or unknown tool. A type tool outside the grants is always FORBIDDEN, so that the error does not
 * reveal whether the type exists.
 */
async function unknown(session: AddressSession, name: string): Promise<Error> {
  const { context, base, readonly } = session
  if (base !== null && !readonly && (await isOutsideGrants(session, base, name)))
    return beyondGrants(name, context, base)
  const names = (await listTools(session)).map((tool) => tool.name)
  const typed = base === null ? [] : [...(await typedTools(base, context)).all.keys()]
  const isAvailable = await availableAt(session)
  const unlisted = [...rowsAt(base).values()]
    .map((row) => sideOf(row, session))
    .filter((row) => accessTo(row, session) === 'callable' && isAvailable(row))
    .map((row) => row.name)
  return unknownTool(name, [...names, ...typed.filter((each) => isNamed(each, session))], unlisted)
}

/** Whether the name is a type tool that the grants forbid, rather than one that the address hides. */
async function isOutsideGrants({ whole }: AddressSession, base: string, name: string): Promise<boolean> {
  if (!/^(create|update)_./.test(name) || whole.scope.access.allows('write', base, '*')) return false
  return (await typedTool(base, name, whole)) === undefined
}
