import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  type StandardSchemaV1Sync,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { Cancellation } from '../../../foundation/cancellation.ts'
import { splitCall } from '../call-arguments.ts'
import { clientName, originOf } from '../call-origin.ts'
import { toContent } from '../content.ts'
import { eliciting, requireCapabilities } from '../elicitation.ts'
import type { Exchange } from '../exchange.ts'
import { SKILL_GET, SKILL_LIST } from '../extension-shapes.ts'
import { PlainCalls } from '../plain-calls.ts'
import {
  type Caller,
  capabilitiesOf,
  InputNeeded,
  InvalidParams,
  type Provider,
  type Questions,
  type Wire,
} from '../provider.ts'
import { MODERN_VERSIONS } from './inbound.ts'
import { openRounds, type Rounds } from './input-rounds.ts'

/** Everything that a request handler gets. */
type Serving = {
  id: string | number
  exchange: Exchange<object>
  /** `_meta` of the request: client info and protocol version. */
  envelope: Wire
  ended: Cancellation
  onInternal: (cause: unknown) => void
}
type Shape<Request> = StandardSchemaV1Sync<unknown, Request>
type Method = {
  shape: Shape<unknown>
  run(params: never, serving: Serving): Promise<object>
}

/**
 * Cache hint for lists. They depend on the token and change with the types, so clients refetch after a
 * minute.
 */
const CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const
/** No caching for reads and server info. */
const FRESH = { ttlMs: 0, cacheScope: 'private' } as const

const method = <Request extends { params?: unknown }>(
  shape: Shape<Request>,
  run: (params: Request['params'], serving: Serving) => Promise<object>,
): Method => ({ shape, run })

const shapes = specTypeSchemas

/** A shape of an extension. Nothing in it validates later. */
const own = <Request>(shape: z.ZodType<Request>) => shape as unknown as Shape<Request>

/** Builds the method table of the modern era from what the provider supports. */
export function methodsOf(provider: Provider): Map<string, Method> {
  const { tools, resources, prompts, skills, complete } = provider
  const methods: Record<string, Method> = {
    'server/discover': method(shapes.DiscoverRequest, async (_, { exchange: { session } }) => ({
      supportedVersions: MODERN_VERSIONS,
      capabilities: capabilitiesOf(provider),
      instructions: await provider.instructions(session),
      ...FRESH,
    })),
    'tools/list': method(shapes.ListToolsRequest, async (params, { exchange }) => ({
      ...(await tools.list(exchange.session, params?.cursor)),
      ...CACHE,
    })),
    'tools/call': method(shapes.CallToolRequest, (params, serving) => {
      const { name, arguments: args = {} } = params
      return inRounds(['tools/call', name, args], params, serving, async (caller) =>
        toContent(await tools.call(serving.exchange.session, name, args, caller), serving.onInternal),
      )
    }),
    ...(resources && {
      'resources/list': method(shapes.ListResourcesRequest, async (params, { exchange }) => ({
        ...(await resources.list(exchange.session, params?.cursor)),
        ...CACHE,
      })),
      'resources/templates/list': method(
        shapes.ListResourceTemplatesRequest,
        async (params, { exchange }) => ({
          ...(await resources.templates(exchange.session, params?.cursor)),
          ...CACHE,
        }),
      ),
      'resources/read': method(shapes.ReadResourceRequest, (params, serving) => {
        const { uri } = params
        return inRounds(['resources/read', uri], params, serving, async (caller) => ({
          ...(await resources.read(serving.exchange.session, uri, caller)),
          ...FRESH,
        }))
      }),
    }),
    ...(skills && {
      'skills/list': method(own(SKILL_LIST), async (_, { exchange }) => ({
        ...(await skills.list(exchange.session)),
        ...CACHE,
      })),
      'skills/get': method(own(SKILL_GET), async ({ uri }, { exchange }) => ({
        ...(await skills.get(exchange.session, uri)),
        ...CACHE,
      })),
    }),
    ...(prompts && {
      'prompts/list': method(shapes.ListPromptsRequest, async (params, { exchange }) => ({
        ...(await prompts.list(exchange.session, params?.cursor)),
        ...CACHE,
      })),
      'prompts/get': method(shapes.GetPromptRequest, (params, serving) => {
        const { name, arguments: args = {} } = params
        return inRounds(['prompts/get', name, args], params, serving, (caller) =>
          prompts.get(serving.exchange.session, name, args, caller),
        )
      }),
    }),
    ...(complete && {
      'completion/complete': method(
        shapes.CompleteRequest,
        async ({ ref, argument, context }, { exchange }) => ({
          completion: await complete(exchange.session, {
            ref: ref as Wire,
            argument,
            ...(context && { context: context as Wire }),
          }),
        }),
      ),
    }),
  }
  return new Map(Object.entries(methods))
}

/** Runs a call that may elicit: it returns `input_required` with its questions, or its result. */
async function inRounds(
  call: unknown,
  sent: object,
  { id, exchange, envelope, ended }: Serving,
  run: (caller: Caller) => Promise<object>,
): Promise<object> {
  const rounds = openRounds(exchange.session, call, sent)
  try {
    return await run(callerOf(id, envelope, exchange, ended, rounds))
  } catch (thrown) {
    if (!(thrown instanceof InputNeeded)) throw thrown
    const { questions } = thrown
    return {
      resultType: 'input_required',
      inputRequests: questions,
      requestState: rounds.stateFor(questions),
    }
  }
}

/** Calls that have passed their shape. */
const VALID_CALLS = new PlainCalls<true>()

/** @throws InvalidParams if the request does not match the shape of its method */
export function checkShape({ shape }: Method, request: { method: string }): void {
  if (VALID_CALLS.verdictOn(request)) return
  const [issue] = shape['~standard'].validate(splitCall(request).request).issues ?? []
  if (!issue) {
    VALID_CALLS.keep(request, true)
    return
  }
  const where = issue.path?.map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  throw new InvalidParams(
    `The params of ${request.method} are not valid: ${where || 'the request'}: ${issue.message}.`,
  )
}

/** Log levels by rising severity. Source: RFC 5424, as adopted by MCP. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/**
 * Request handle of the modern era: notifications go to the stream of the response, questions end the call.
 * @param envelope `_meta` of the request
 */
function callerOf(
  id: string | number,
  envelope: Wire,
  exchange: Exchange<object>,
  ended: Cancellation,
  rounds: Rounds,
): Caller {
  const ask = async (questions: Questions) => {
    requireCapabilities(questions, (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Wire)
    return rounds.ask(questions)
  }
  const say = (method: string, params: object) => exchange.say({ jsonrpc: '2.0', method, params })
  const { progressToken } = envelope
  const level = envelope[LOG_LEVEL_META_KEY]
  return {
    origin: originOf(id, clientName(envelope[CLIENT_INFO_META_KEY]), envelope, exchange.headers),
    ended,
    progress: (progress, total, message) => {
      if (progressToken === undefined) return
      const how = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      say('notifications/progress', { progressToken, progress, ...how })
    },
    log: (of, data) => {
      if (typeof level !== 'string' || LEVELS.indexOf(of) < LEVELS.indexOf(level)) return
      say('notifications/message', { level: of, data })
    },
    elicit: eliciting(ask),
    ask,
  }
}
