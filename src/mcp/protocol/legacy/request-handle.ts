import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  type JSONRPCRequest,
  ListRootsResultSchema,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import { originOf } from '../call-origin.ts'
import { eliciting, requireCapabilities } from '../elicitation.ts'
import {
  type Answers,
  type Caller,
  MissingCapability,
  type Questions,
  Unanswered,
  type Wire,
} from '../provider.ts'
import type { LegacyExchange } from './client-sessions.ts'
import type { Run, SharedTransport } from './shared-transport.ts'

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
export function callerOf(
  { id, params }: JSONRPCRequest,
  exchange: LegacyExchange,
  { number, signal }: Run,
  { transport, server }: Ways,
): Caller {
  const token = params?._meta?.progressToken
  const notify = (method: string, params: Record<string, unknown>) =>
    void transport.send({ jsonrpc: '2.0', method, params }, { relatedRequestId: number })
  const ask = async (questions: Questions): Promise<Answers> => {
    requireInputSupport(questions, exchange)
    const answered = Object.entries(questions).map(async ([name, { method, params }]) => {
      const options = { timeout: LIMITS.mcpAnswerMs, signal, relatedRequestId: number }
      const answer = server.request({ method, params } as ServerRequest, RESULTS[method], options)
      return [name, (await answer.catch(unanswered)) as Wire] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }
  return {
    origin: originOf(id, exchange.client?.name ?? null, params?._meta, exchange.headers),
    signal,
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
