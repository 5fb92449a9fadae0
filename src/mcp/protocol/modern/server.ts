/** The stateless protocol from 2026-07-28, as a table of methods. */
import { type JSONRPCRequest, ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { Cancellation } from '../../../foundation/cancellation.ts'
import { toProtocolFailure } from '../content.ts'
import type { Exchange } from '../exchange.ts'
import type { Provider, Wire } from '../provider.ts'
import { checkShape, methodsOf } from './methods.ts'
import { openTasks } from './tasks.ts'

/** A JSON-RPC response of the stateless era, from 2026-07-28. */
export type Answer = { jsonrpc: '2.0'; id: string | number } & (
  | { result: object }
  | { error: { code: number; message: string; data?: object } }
)
export type ModernServer = (
  request: JSONRPCRequest,
  exchange: Exchange<object>,
  ended: Cancellation,
) => Promise<Answer>

/** Stateless server shared by all clients. All state of a request comes with the request. `settled`: no task runs. */
export function openModernServer(
  provider: Provider,
  onInternal: (cause: unknown) => void,
): { serve: ModernServer; settled(): Promise<void> } {
  const tasks = openTasks(provider)
  const methods = methodsOf(provider, tasks)
  const { about } = provider
  const serve: ModernServer = async (request, exchange, ended) => {
    const { id } = request
    try {
      const method = methods.get(request.method)
      if (!method) return { jsonrpc: '2.0', id, error: NO_METHOD }
      checkShape(method, request)
      // Use the original params, not zod's copy: validation must not change them.
      const params = request.params ?? {}
      const envelope = (params['_meta'] ?? {}) as Wire
      const result = await method.run(params as never, { id, exchange, envelope, ended, onInternal })
      return { jsonrpc: '2.0', id, result: resultOf(result, about) }
    } catch (thrown) {
      const { requestId } = exchange.session.context.scope
      return { jsonrpc: '2.0', id, error: toProtocolFailure(thrown, requestId, onInternal) }
    }
  }
  return { serve, settled: tasks.settled }
}

const NO_METHOD = { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' }

/** Adds the fields that every result has: `resultType` and server info. */
export const resultOf = (result: { _meta?: object }, about: Provider['about']): object => ({
  resultType: 'complete',
  ...result,
  _meta: { ...result._meta, [SERVER_INFO_META_KEY]: about },
})
