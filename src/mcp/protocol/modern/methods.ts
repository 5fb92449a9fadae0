import { type StandardSchemaV1Sync, specTypeSchemas } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { splitCall } from '../call-arguments.ts'
import { TASKS } from '../client-extensions.ts'
import { SKILL_GET, SKILL_LIST, TASK, TASK_UPDATE } from '../extension-shapes.ts'
import { PlainCalls } from '../plain-calls.ts'
import { capabilitiesOf, InvalidParams, type Provider, type Wire } from '../provider.ts'
import { inRounds, type Serving } from './call.ts'
import { MODERN_VERSIONS } from './inbound.ts'
import type { Tasks } from './tasks.ts'

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

/** The capabilities of this era: only it has tasks. */
function withTasks(provider: Provider): object {
  const { extensions, ...capabilities } = capabilitiesOf(provider)
  const all = { ...extensions, ...(provider.tasks && { [TASKS]: {} }) }
  return { ...capabilities, ...(Object.keys(all).length > 0 && { extensions: all }) }
}

/** Builds the method table of the modern era from what the provider supports. */
export function methodsOf(provider: Provider, tasks: Tasks): Map<string, Method> {
  const { tools, resources, prompts, skills, complete } = provider
  const methods: Record<string, Method> = {
    'server/discover': method(shapes.DiscoverRequest, async (_, { exchange: { session } }) => ({
      supportedVersions: MODERN_VERSIONS,
      capabilities: withTasks(provider),
      instructions: await provider.instructions(session),
      ...FRESH,
    })),
    'tools/list': method(shapes.ListToolsRequest, async (params, { exchange }) => ({
      ...(await tools.list(exchange.session, params?.cursor)),
      ...CACHE,
    })),
    'tools/call': method(shapes.CallToolRequest, (params, serving) => tasks.call(params, serving)),
    ...(provider.tasks && {
      'tasks/get': method(own(TASK), ({ taskId }, serving) => tasks.get(taskId, serving)),
      'tasks/update': method(own(TASK_UPDATE), (params, serving) => tasks.update(params, serving)),
      'tasks/cancel': method(own(TASK), ({ taskId }, serving) => tasks.cancel(taskId, serving)),
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
