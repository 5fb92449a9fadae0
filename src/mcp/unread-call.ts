import type { FastifyRequest } from 'fastify'
import { DomainError, withPaths } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { Calls } from './protocol/call-log.ts'
import { toContent } from './protocol/content.ts'
import { claimOf } from './protocol/modern/inbound.ts'
import { resultOf } from './protocol/modern/server.ts'
import type { Provider } from './protocol/provider.ts'
import { failure } from './protocol/result.ts'

/**
 * Answers a `tools/call` whose body fails the JSON pre-pass (NUL, `__proto__`, depth, numbers) with an error
 * result under the id of the call, like other invalid arguments. Undefined for other requests.
 */
export function answerUnreadCall(
  thrown: unknown,
  request: FastifyRequest,
  { about }: Provider,
): object | undefined {
  const { refusedBody } = request
  if (!(thrown instanceof DomainError) || refusedBody === undefined) return undefined
  const call = callIn(refusedBody)
  if (!call) return undefined
  const relative = withPaths(thrown, (path) => path.replace(/^\/params\/arguments/, ''))
  const result = toContent(failure(relative, request.id), () => {})
  const answer = {
    jsonrpc: '2.0',
    id: call.id,
    result: claimOf(call) === undefined ? result : resultOf(result, about),
  }
  const calls = new Calls(call)
  calls.answered(call.id, answer)
  request.about = (status) => calls.lines(status)
  return answer
}

type Call = { id: string | number; method: string }

/** Extracts the call from a body that is well-formed JSON nevertheless. Large bodies are not parsed again. */
function callIn(body: Buffer): Call | undefined {
  if (body.length > LIMITS.smallBodyBytes) return undefined
  try {
    const call = JSON.parse(body.toString()) as Call
    const { id, method } = call
    return method === 'tools/call' && (typeof id === 'string' || Number.isSafeInteger(id)) ? call : undefined
  } catch {
    return undefined
  }
}
