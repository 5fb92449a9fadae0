/** Views at an endpoint: which of its tools open one, what a view calls there, and the tool that only views call. */
import { addressOf } from '../protocol/address-session.ts'
import type { ToolCall } from '../tool/tool.ts'
import { beyondGrants } from '../tool/unknown-tool.ts'
import { DECIDE, decideDefinition } from '../tools/decide.ts'
import { recordTools } from '../tools/records/writes.ts'
import { decidesInView, inView, onlyIn, type ViewPlace, viewOf } from '../views/views.ts'
import { type AtEndpoint, duringTool, isFreeName, presentName, toolsLeft } from './endpoint.ts'
import { type EndpointTools, named } from './endpoint-tools.ts'
import { PROPOSAL, proposalTool } from './proposal-tool.ts'

const UPDATE = 'update_record'

/** What the form of a view saves: properties of `data`, as the `update` tool of the type may. */
const form = named(recordTools, UPDATE).bind({
  name: UPDATE,
  title: 'Save a form',
  description: 'For the view of a record: what the person changed.',
  given: {},
  without: ['claim_id', 'external_id', 'external_source', 'append', 'remove'],
})
const formDefinition = { ...form.definition, _meta: onlyIn('records') }

/** Whether plans of the endpoint are decided in a view. A tool of its author that has the name keeps it. */
export const decidesAtEndpoint = async (session: AtEndpoint): Promise<boolean> =>
  session.hasViews && !session.readonly && (await isFreeName(session, DECIDE))

/** The tools that update records, if views save their forms. */
const savedBy = async (session: AtEndpoint, tools: EndpointTools) =>
  (await isFreeName(session, UPDATE)) ? [...tools.values()].filter((tool) => tool.operation === 'update') : []

/** Whether the caller proposes what it writes here: then there is something to see. */
const hasProposals = async (session: AtEndpoint): Promise<boolean> =>
  session.context.scope.proposal !== undefined &&
  (session.tools === null || session.tools.includes(PROPOSAL)) &&
  (await isFreeName(session, PROPOSAL))

/** The tool that shows them, if the endpoint has one. */
export async function resolveProposal(session: AtEndpoint, name: string): Promise<ToolCall | undefined> {
  if (name !== PROPOSAL || !session.hasViews || !(await hasProposals(session))) return undefined
  return async (args, caller) =>
    proposalTool.call(args, await inContext(session, 'records', PROPOSAL, caller), caller)
}

/** Where a tool that an endpoint does not list runs, with the rights of a part of it. */
const inContext = async (...during: Parameters<typeof duringTool>) => {
  const [session] = during
  const own = { base: session.base, at: addressOf(session), context: await duringTool(...during) }
  return { ...own, hasResources: false, hasViews: true }
}

/** The tools of an endpoint with their views, and what views call beside them. */
export async function listWithViews(session: AtEndpoint): Promise<object[]> {
  const tools = await toolsLeft(session)
  const decides = await decidesAtEndpoint(session)
  const shown = [...tools.values()].map(({ definition, of }) =>
    inView(definition, of !== undefined && (decides || !decidesInView(of)) ? of : undefined),
  )
  const views = new Set([...tools.values()].map(({ of = '' }) => viewOf(of)))
  return [
    ...shown,
    ...((await hasProposals(session)) ? [inView(proposalTool.definition, PROPOSAL)] : []),
    ...(decides && views.has('decide') ? [decideDefinition] : []),
    ...(views.has('records') && (await savedBy(session, tools)).length > 0 ? [formDefinition] : []),
  ]
}

/** What a view of a tool may call at the endpoint. */
export async function placeAtEndpoint(session: AtEndpoint, name: string): Promise<ViewPlace | undefined> {
  const tools = await toolsLeft(session)
  const { of, recordType } = tools.get(name) ?? tools.get(await presentName(session, name)) ?? {}
  if (name !== DECIDE && name !== PROPOSAL && (of === undefined || viewOf(of) === undefined)) return undefined
  const updates = (await savedBy(session, tools)).some((tool) => tool.recordType === recordType)
  const undo = [...tools.values()].find((tool) => tool.of === 'undo')
  return {
    tools: {
      ...(of === 'query_records' && { query_records: name }),
      ...(updates && { update_record: UPDATE }),
      ...(undo && (await decidesAtEndpoint(session)) && { undo: undo.definition.name }),
    },
    ...(recordType && { record_type: recordType }),
    undoes: session.context.scope.actor.tokenId,
  }
}

/** The tool that saves forms, if the endpoint has one: with the rights of the `update` tool of the type. */
export async function resolveForm(session: AtEndpoint, name: string): Promise<ToolCall | undefined> {
  if (name !== UPDATE || !session.hasViews) return undefined
  const updates = await savedBy(session, await toolsLeft(session))
  if (updates.length === 0) return undefined
  return async (args, caller) => {
    const tool = updates.find(({ recordType }) => recordType === args['record_type'])?.definition.name
    if (tool === undefined) throw beyondGrants(UPDATE, session.whole, session.base)
    return form.call(args, await inContext(session, { tool }, UPDATE, caller), caller)
  }
}
