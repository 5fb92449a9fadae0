import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Result,
} from '@modelcontextprotocol/sdk/types.js'
import { capabilitiesOf } from '../capabilities.ts'
import { toProtocolFailure } from '../content.ts'
import { type Provider, ResourceNotFound } from '../provider.ts'
import { callerOf, type Extra } from './caller.ts'
import type { LegacyExchange } from './exchange.ts'
import { methodsOf, readParams } from './methods.ts'
import { Mux } from './mux.ts'
import { RpcError } from './rpc-error.ts'

/** The protocol's `initialize` era, 2024-11-05 to 2025-11-25: one server of the SDK for all clients. */
export type LegacyServer = {
  /** Takes a message of a client; what comes of it is said to its exchange. */
  take(message: JSONRPCMessage, exchange: LegacyExchange): void
  /** Ends what still runs for somebody who has gone. */
  abandon(exchange: LegacyExchange): void
  /** No call waits for a client's answer any more. */
  endQuestions(): void
  /** Ends all that runs. */
  close(): Promise<void>
}

export async function openLegacyServer(
  provider: Provider,
  onInternal: (cause: unknown) => void,
): Promise<LegacyServer> {
  const mux = new Mux()
  const server = new Server(provider.about, {
    capabilities: capabilitiesOf(provider),
    instructions: provider.instructions,
  })
  const methods = methodsOf(provider)
  // The SDK's own handlers would read each request, and check each result, a second time.
  server.fallbackRequestHandler = async (request, extra) => {
    const exchange = mux.exchangeOf(extra.requestId)
    const { requestId } = exchange.session.context.scope
    try {
      const method = methods.get(request.method)
      if (!method) throw new RpcError({ code: ErrorCode.MethodNotFound, message: 'Method not found' })
      const { params } = readParams(method.shape, request)
      const caller = callerOf(extra as Extra, exchange)
      return (await method.run(params as never, { provider, exchange, caller, onInternal })) as Result
    } catch (thrown) {
      throw thrown instanceof RpcError ? thrown : failureOf(thrown, requestId, onInternal)
    }
  }
  server.onerror = onInternal
  await server.connect(mux)
  return {
    take: (message, exchange) => {
      const fault = faultOfInitialize(message)
      if (fault) exchange.answer(fault.id, fault)
      else mux.take(message, exchange)
    },
    abandon: (exchange) => mux.abandon(exchange),
    endQuestions: () => mux.endQuestions(),
    close: () => server.close(),
  }
}

/** A resource that is not there has a code of its own in this era. */
function failureOf(...[thrown, requestId, onInternal]: Parameters<typeof toProtocolFailure>): RpcError {
  const failure = toProtocolFailure(thrown, requestId, onInternal)
  return new RpcError({ ...failure, ...(thrown instanceof ResourceNotFound && { code: NOT_FOUND }) })
}
const NOT_FOUND = -32002

/** The answer to an `initialize` whose params are none: the SDK, whose method it is, would call it a fault of ours. */
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
