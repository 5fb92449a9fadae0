/** Configured endpoints as MCP addresses with tools of their own. */
import { DomainError } from '../../foundation/errors.ts'
import {
  atEndpoint,
  type Context,
  duringCall,
  endingWith,
  rightsName,
  throughEndpoint,
} from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { type AddressSession, addressOf, type Options, openSession } from '../protocol/address-session.ts'
import { endpointInstructions } from '../protocol/instructions.ts'
import type { Caller } from '../protocol/provider.ts'
import type { ToolCall } from '../tool/tool.ts'
import type { ToolDefinition } from '../tool/tool-definition.ts'
import { beyondGrants, unknownTool } from '../tool/unknown-tool.ts'
import { type EndpointTools, endpointTools } from './endpoint-tools.ts'

const readInstructions = staticOperation(`query EndpointInstructions($base: String!, $id: String!) {
  servedEndpoint(base: $base, id: $id) { instructions }
}`)
const findTool = staticOperation(`query EndpointTool($base: String!, $id: String!, $name: String!) {
  servedEndpoint(base: $base, id: $id) { tool(name: $name) withholds(name: $name) resources }
}`)

/** A session at an endpoint. Its `context` is narrowed to what the endpoint's resources show. */
export type AtEndpoint = AddressSession & {
  base: string
  endpoint: string
  /**
   * The caller with the rights that the options leave. Each tool narrows this context to its own
   * restrictions.
   */
  asking: Context
  /** Opens the session again, with the endpoint as it is now. */
  reopen: () => Promise<AtEndpoint>
}
export const isAtEndpoint = (session: AddressSession): session is AtEndpoint =>
  session.base !== null && session.endpoint !== null && 'asking' in session

/**
 * Opens the session of a caller at an endpoint.
 * @throws FORBIDDEN without a grant that reaches it; NOT_FOUND if it does not exist or is disabled
 */
export async function openEndpoint(
  caller: Context,
  base: string,
  endpoint: string,
  options: Options,
  publicUrl?: string,
): Promise<AtEndpoint> {
  const whole = await atEndpoint(caller, base, endpoint)
  const { instructions } = (await readInstructions({ base, id: endpoint }, whole)).servedEndpoint
  const tools =
    options.tools &&
    (await Promise.all(options.tools.map((name) => presentName({ base, endpoint, whole }, name))))
  const session = openSession(whole, base, { ...options, tools }, publicUrl)
  return {
    ...{ ...session, base, endpoint, asking: session.context },
    reopen: () => openEndpoint(caller, base, endpoint, options, publicUrl),
    context: await throughEndpoint(session.context, base, endpoint, 'resources'),
    instructions: endpointInstructions(instructions),
  }
}

/**
 * Whether the endpoint still gives an open session the rights that it began with.
 * @throws errors other than a refusal
 */
export async function isUnchanged(session: AtEndpoint): Promise<boolean> {
  const rights = ({ asking, context }: AtEndpoint) => `${rightsName(asking)} ${rightsName(context)}`
  try {
    return rights(await session.reopen()) === rights(session)
  } catch (thrown) {
    if (thrown instanceof DomainError) return false
    throw thrown
  }
}

type Place = Pick<AtEndpoint, 'base' | 'endpoint' | 'whole'>

/** The name that a tool has now; as given, if no tool had it. */
export const presentName = async ({ base, endpoint, whole }: Place, name: string): Promise<string> =>
  (await findTool({ base, id: endpoint, name }, whole)).servedEndpoint.tool ?? name

/** Lists the tools of an endpoint that the token may use and the options allow. */
export async function listEndpointTools(session: AtEndpoint): Promise<ToolDefinition[]> {
  return [...(await toolsLeft(session)).values()].map(({ definition }) => definition)
}

const isLeft = ({ name, annotations }: ToolDefinition, { tools, readonly }: AddressSession) =>
  (tools === null || tools.includes(name)) && (!readonly || annotations.readOnlyHint)

/** The tools of an endpoint that the token may use and the options allow, by name. */
export async function toolsLeft(session: AtEndpoint): Promise<EndpointTools> {
  const tools = await endpointTools(session.base, session.endpoint, session.asking)
  return new Map([...tools].filter(([, { definition }]) => isLeft(definition, session)))
}

/** Whether no tool of the endpoint has the name, or had it before. */
export async function isFreeName({ base, endpoint, whole }: Place, name: string): Promise<boolean> {
  const { tool, withholds } = (await findTool({ base, id: endpoint, name }, whole)).servedEndpoint
  return tool === null && !withholds
}

/**
 * Finds a tool of an endpoint by its name or an alias. A call runs in a context narrowed to what the tool may
 * read and write.
 * @param logged what the change log says, if a view calls
 * @throws FORBIDDEN beyond the grants; InvalidParams for an unknown name
 */
export async function resolveEndpointTool(
  session: AtEndpoint,
  name: string,
  { hasViews = false, logged }: { hasViews?: boolean; logged?: string } = {},
): Promise<ToolCall> {
  const { base, endpoint, asking } = session
  const asked = { base, id: endpoint, name }
  const { tool: meant, resources } = (await findTool(asked, asking)).servedEndpoint
  const tool = meant === null ? undefined : (await endpointTools(base, endpoint, asking)).get(meant)
  if (!tool || meant === null || !isLeft(tool.definition, session)) throw await unknown(session, name)
  return async (args, caller) => {
    const context = await duringTool(session, { tool: meant }, logged ?? meant, caller)
    const place = { base, at: addressOf(session), context, hasResources: resources, hasViews }
    return tool.call(args, place, caller)
  }
}

/** The context of a call at the endpoint: what the tool, or what serves its records, may read and write. */
export function duringTool(
  { base, endpoint, asking }: AtEndpoint,
  part: Parameters<typeof throughEndpoint>[3],
  logged: string,
  { ended, origin }: Caller,
): Promise<Context> {
  const calling = duringCall(
    endingWith(asking, () => ended.signal),
    { ...origin, tool: logged, endpoint },
  )
  return throughEndpoint(calling, base, endpoint, part)
}

const OF_A_TYPE =
  /^(create|get|list|update|upsert|delete|cancel|aggregate|history|claim|complete|release|attach|attachments|link|unlink|related)_./

/**
 * FORBIDDEN or unknown tool. A type tool outside the grants is always FORBIDDEN, so that the error does not
 * reveal whether the type exists.
 */
async function unknown(session: AtEndpoint, name: string): Promise<Error> {
  const { base, endpoint, whole } = session
  const { tool, withholds } = (await findTool({ base, id: endpoint, name }, whole)).servedEndpoint
  const isHidden = OF_A_TYPE.test(name) && !whole.scope.access.allows('write', base, '*')
  if (tool === null && (withholds || isHidden)) return beyondGrants(name, whole, base)
  return unknownTool(
    name,
    (await listEndpointTools(session)).map((each) => each.name),
  )
}
