import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../limits.ts'
import {
  type Answers,
  type Caller,
  MissingCapability,
  type Questions,
  Unanswered,
  type Wire,
} from '../provider.ts'
import { demandCapabilities, eliciting } from '../questions.ts'
import type { LegacyExchange } from './exchange.ts'

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

const RESULTS = {
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
}

/** Who waits for a request of this era: it is told and asked over the stream that its POST is answered with. */
export function callerOf(extra: Extra, exchange: LegacyExchange): Caller {
  const token = extra._meta?.progressToken
  const notify = (method: string, params: object) =>
    // What cannot be sent has nobody left to read it; the call learns of that by its signal.
    void extra.sendNotification({ method, params } as ServerNotification).catch(() => {})
  const ask = async (questions: Questions): Promise<Answers> => {
    demandQuestions(questions, exchange)
    const answered = Object.entries(questions).map(async ([name, { method, params }]) => {
      const options = { timeout: LIMITS.mcpAnswerMs, signal: extra.signal }
      const answer = extra.sendRequest({ method, params } as ServerRequest, RESULTS[method], options)
      return [name, (await answer.catch(unanswered)) as Wire] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }
  return {
    signal: extra.signal,
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
