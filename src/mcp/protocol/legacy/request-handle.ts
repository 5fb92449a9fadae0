import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  type JSONRPCRequest,
  ListRootsResultSchema,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import { demandCapabilities, eliciting } from '../elicitation.ts'
import {
  type Answers,
  type Caller,
  MissingCapability,
  type Questions,
  Unanswered,
  type Wire,
} from '../provider.ts'
import type { LegacyExchange } from './exchange.ts'
import type { Mux, Run } from './shared-transport.ts'

/** The ways to a client: what is said goes out as it is, what is asked is held until it is answered. */
type Ways = { mux: Mux; server: Server }

const RESULTS = {
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
}

/** Who waits for a request of this era: it is told and asked over the stream that its POST is answered with. */
export function callerOf(
  { params }: JSONRPCRequest,
  exchange: LegacyExchange,
  { number, signal }: Run,
  { mux, server }: Ways,
): Caller {
  const token = params?._meta?.progressToken
  const notify = (method: string, params: Record<string, unknown>) =>
    void mux.send({ jsonrpc: '2.0', method, params }, { relatedRequestId: number })
  const ask = async (questions: Questions): Promise<Answers> => {
    demandQuestions(questions, exchange)
    const answered = Object.entries(questions).map(async ([name, { method, params }]) => {
      const options = { timeout: LIMITS.mcpAnswerMs, signal, relatedRequestId: number }
      const answer = server.request({ method, params } as ServerRequest, RESULTS[method], options)
      return [name, (await answer.catch(unanswered)) as Wire] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }
  return {
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

/** @throws MissingCapability where the client cannot answer, or is asked too much already */
function demandQuestions(questions: Questions, exchange: LegacyExchange): void {
  const declared = exchange.canAsk ? (exchange.kept?.capabilities ?? {}) : {}
  demandCapabilities(questions, declared)
  const open = exchange.kept?.questions.size ?? 0
  if (open + Object.keys(questions).length > LIMITS.mcpQuestions)
    throw new MissingCapability({ elicitation: {} })
}
