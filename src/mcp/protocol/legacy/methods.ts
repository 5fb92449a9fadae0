import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { z } from 'zod'
import { LIMITS } from '../../../foundation/limits.ts'
import { splitCall } from '../call-arguments.ts'
import { toContent } from '../content.ts'
import { SKILL_GET, SKILL_LIST } from '../extension-shapes.ts'
import { type Caller, InvalidParams, type Provider } from '../provider.ts'
import type { ClientSession, LegacyExchange } from './client-sessions.ts'
import { RpcError, VALID_CALLS } from './messages.ts'

/** Everything that a request handler gets. */
type Serving = {
  provider: Provider
  exchange: LegacyExchange
  caller: Caller
  onInternal: (cause: unknown) => void
}
type Run<Params> = (params: Params, serving: Serving) => Promise<object>
export type Method = { shape: z.ZodType<{ params?: unknown }>; run: Run<never> }

const method = <Request extends { params?: unknown }>(
  shape: z.ZodType<Request>,
  run: Run<Request['params']>,
): Method => ({ shape, run: run as Run<never> })

/** Builds the method table of the legacy era from what the provider supports. */
export function methodsOf({
  tools,
  resources,
  prompts,
  skills,
  complete,
  watch,
}: Provider): Map<string, Method> {
  const methods: Record<string, Method> = {
    'tools/list': method(ListToolsRequestSchema, (params, { exchange }) =>
      tools.list(exchange.session, params?.cursor),
    ),
    'tools/call': method(CallToolRequestSchema, async (params, { exchange, caller, onInternal }) =>
      toContent(await tools.call(exchange.session, params.name, params.arguments ?? {}, caller), onInternal),
    ),
    ...(resources && {
      'resources/list': method(ListResourcesRequestSchema, (params, { exchange }) =>
        resources.list(exchange.session, params?.cursor),
      ),
      'resources/templates/list': method(ListResourceTemplatesRequestSchema, (params, { exchange }) =>
        resources.templates(exchange.session, params?.cursor),
      ),
      'resources/read': method(ReadResourceRequestSchema, ({ uri }, { exchange, caller }) =>
        resources.read(exchange.session, uri, caller),
      ),
    }),
    ...(resources &&
      watch && {
        'resources/subscribe': method(SubscribeRequestSchema, ({ uri }, { exchange }) =>
          subscribe(resources, exchange, uri),
        ),
        'resources/unsubscribe': method(UnsubscribeRequestSchema, async ({ uri }, { exchange }) => {
          const client = requireSession(exchange)
          client.uris.delete(uri)
          client.stream?.watch?.unfollow(uri)
          return {}
        }),
      }),
    ...(skills && {
      'skills/list': method(SKILL_LIST, (_, { exchange }) => skills.list(exchange.session)),
      'skills/get': method(SKILL_GET, ({ uri }, { exchange }) => skills.get(exchange.session, uri)),
    }),
    ...(prompts && {
      'prompts/list': method(ListPromptsRequestSchema, (params, { exchange }) =>
        prompts.list(exchange.session, params?.cursor),
      ),
      'prompts/get': method(GetPromptRequestSchema, (params, { exchange, caller }) =>
        prompts.get(exchange.session, params.name, params.arguments ?? {}, caller),
      ),
    }),
    ...(complete && {
      'completion/complete': method(
        CompleteRequestSchema,
        async ({ ref, argument, context }, { exchange }) => ({
          completion: await complete(exchange.session, { ref, argument, ...(context && { context }) }),
        }),
      ),
    }),
  }
  return new Map(Object.entries(methods))
}

/**
 * Validates the params of a request against the shape of its method.
 * @throws InvalidParams
 */
export function readParams(
  shape: Method['shape'],
  request: { method: string; params?: unknown },
): { params: unknown } {
  if (VALID_CALLS.verdictOn(request)) return { params: request.params }
  const { request: read, args } = splitCall(request)
  const parsed = shape.safeParse(read)
  if (parsed.success) {
    VALID_CALLS.keep(request, true)
    const { params } = parsed.data
    return { params: args ? { ...(params as object), arguments: args } : params }
  }
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || 'the request'
  throw new InvalidParams(
    `The params of ${request.method} are not valid: ${where}: ${issue?.message ?? 'not valid'}.`,
  )
}

async function subscribe(
  resources: NonNullable<Provider['resources']>,
  exchange: LegacyExchange,
  uri: string,
): Promise<object> {
  const client = requireSession(exchange)
  if (client.uris.size >= LIMITS.mcpSubscriptions && !client.uris.has(uri))
    throw new InvalidParams(
      `A session can subscribe to at most ${LIMITS.mcpSubscriptions} resources. Unsubscribe from one first.`,
    )
  const { watch } = client.stream ?? {}
  await (watch ? watch.follow(uri) : resources.checkSubscribable(exchange.session, uri))
  client.uris.add(uri)
  return {}
}

function requireSession({ client }: LegacyExchange): ClientSession {
  if (client) return client
  const message = 'This needs a session: send initialize first, and its Mcp-Session-Id with each request.'
  throw new RpcError(ErrorCode.InvalidRequest, message)
}
