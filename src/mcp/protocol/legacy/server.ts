import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Result,
} from '@modelcontextprotocol/sdk/types.js'
import { toProtocolFailure } from '../content.ts'
import { capabilitiesOf, type Provider, ResourceNotFound } from '../provider.ts'
import type { LegacyExchange } from './client-sessions.ts'
import { RpcError } from './messages.ts'
import { type Method, methodsOf, readParams } from './methods.ts'
import { callerOf } from './request-handle.ts'
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
      const fault = faultOfInitialize(message)
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

/** Returns the error for an `initialize` with invalid params. The SDK would report an internal error. */
function faultOfInitialize(message: JSONRPCMessage) {
  if (!('method' in message) || message.method !== 'initialize' || !('id' in message)) return undefined
  try {
    readParams(InitializeRequestSchema, message)
    return undefined
  } catch (thrown) {
    const { id } = message as JSONRPCRequest
    const error = { code: ErrorCode.InvalidParams, message: (thrown as Error).message }
    return { jsonrpc: '2.0' as const, id, error }
  }
}
