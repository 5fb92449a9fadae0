import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListRootsResultSchema,
  type Result,
  type ServerRequest,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import { originOf } from '../call-origin.ts'
import { toProtocolFailure } from '../content.ts'
import { eliciting, requireCapabilities } from '../elicitation.ts'
import {
  type Answers,
  type Caller,
  capabilitiesOf,
  MissingCapability,
  type Provider,
  type Questions,
  ResourceNotFound,
  Unanswered,
  type Wire,
} from '../provider.ts'
import type { LegacyExchange } from './client-sessions.ts'
import { RpcError } from './messages.ts'
import { type Method, methodsOf, readParams } from './methods.ts'
import { type Outcome, type Run, SharedTransport } from './shared-transport.ts'

/** MCP server of the `initialize` era, 2024-11-05 to 2025-11-25: one SDK server shared by all clients. */
export type LegacyServer = {
  /** Handles a message of a client. Responses go to its exchange. */
  take(message: JSONRPCMessage, exchange: LegacyExchange): void
  /** Cancels running requests of a disconnected client. */
  abandon(exchange: LegacyExchange): void
  /** Ends all waits for client responses, during shutdown. */
  endQuestions(): void
  /** Cancels everything that runs. */
  close(): Promise<void>
}

type Request = [request: JSONRPCRequest, exchange: LegacyExchange, run: Run]

export async function openLegacyServer(
  provider: Provider,
  onInternal: (cause: unknown) => void,
): Promise<LegacyServer> {
  const methods = methodsOf(provider)
  const server = new Server(provider.about, { capabilities: capabilitiesOf(provider) })
  const run = async (method: Method, ...[request, exchange, running]: Request): Promise<Outcome> => {
    try {
      const { params } = readParams(method.shape, request)
      const caller = callerOf(request, exchange, running, { transport, server })
      return {
        result: (await method.run(params as never, { provider, exchange, caller, onInternal })) as Result,
      }
    } catch (thrown) {
      return { error: errorOf(thrown, exchange.session.context.scope.requestId, onInternal) }
    }
  }
  // The SDK handles `initialize`, `ping` and requests to clients. All other requests bypass it, because it
  // would parse each request and each result two more times.
  const transport: SharedTransport = new SharedTransport((...request) => {
    const method = methods.get(request[0].method)
    return method && run(method, ...request)
  })
  server.onerror = onInternal
  await server.connect(transport)
  return {
    take: (message, exchange) => {
      const fault = faultOfParams(message)
      if (fault) exchange.answer(fault.id, fault)
      else transport.take(message, exchange)
    },
    abandon: (exchange) => transport.abandon(exchange),
    endQuestions: () => transport.endQuestions(),
    close: () => server.close(),
  }
}

/** Maps errors to JSON-RPC. This era has a code of its own for unknown resources. */
function errorOf(...[thrown, requestId, onInternal]: Parameters<typeof toProtocolFailure>) {
  if (thrown instanceof RpcError) return { code: thrown.code, message: thrown.message }
  const failure = toProtocolFailure(thrown, requestId, onInternal)
  return { ...failure, ...(thrown instanceof ResourceNotFound && { code: NOT_FOUND }) }
}
const NOT_FOUND = -32002

/** The requests with params that the SDK handles. */
const HANDLED_BY_SDK = new Map<string, typeof InitializeRequestSchema | typeof SetLevelRequestSchema>([
  ['initialize', InitializeRequestSchema],
  ['logging/setLevel', SetLevelRequestSchema],
])

/** Returns the error for a request to the SDK with invalid params. The SDK would report an internal error. */
function faultOfParams(message: JSONRPCMessage) {
  const shape = 'method' in message && 'id' in message && HANDLED_BY_SDK.get(message.method)
  if (!shape) return undefined
  try {
    readParams(shape, message)
    return undefined
  } catch (thrown) {
    const { id } = message as JSONRPCRequest
    const error = { code: ErrorCode.InvalidParams, message: (thrown as Error).message }
    return { jsonrpc: '2.0' as const, id, error }
  }
}

/**
 * Outgoing channels: the shared transport sends notifications, the SDK server sends requests and awaits
 * responses.
 */
type Ways = { transport: SharedTransport; server: Server }

const RESULTS = {
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
}

/**
 * Request handle of the legacy era: sends progress, logs and elicitations over the stream that answers the
 * POST.
 */
function callerOf(
  { id, params }: JSONRPCRequest,
  exchange: LegacyExchange,
  { number, ended }: Run,
  { transport, server }: Ways,
): Caller {
  const token = params?._meta?.progressToken
  const notify = (method: string, params: Record<string, unknown>) =>
    void transport.send({ jsonrpc: '2.0', method, params }, { relatedRequestId: number })
  const ask = async (questions: Questions): Promise<Answers> => {
    requireInputSupport(questions, exchange)
    const answered = Object.entries(questions).map(async ([name, { method, params }]) => {
      const { signal } = ended
      const options = { timeout: LIMITS.mcpAnswerMs, signal, relatedRequestId: number }
      const answer = server.request({ method, params } as ServerRequest, RESULTS[method], options)
      return [name, (await answer.catch(unanswered)) as Wire] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }
  return {
    origin: originOf(id, exchange.client?.name ?? null, params?._meta, exchange.headers),
    ended,
    progress: (progress, total, message) => {
      if (token === undefined) return
      notify('notifications/progress', {
        progressToken: token,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      })
    },
    log: (level, data) => notify('notifications/message', { level, data }),
    elicit: eliciting(ask),
    ask,
  }
}

const unanswered = (cause: unknown): never => {
  throw new Unanswered('The client did not answer.', { cause })
}

/** @throws MissingCapability if the client cannot answer, or has too many open questions */
function requireInputSupport(questions: Questions, exchange: LegacyExchange): void {
  const declared = exchange.canAsk ? (exchange.client?.capabilities ?? {}) : {}
  requireCapabilities(questions, declared)
  const open = exchange.client?.questions.size ?? 0
  if (open + Object.keys(questions).length > LIMITS.mcpQuestions)
    throw new MissingCapability({ elicitation: {} })
}
