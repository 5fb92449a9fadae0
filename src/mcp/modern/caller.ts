import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import type { Caller, Questions, Wire } from '../provider.ts'
import { demandCapabilities, eliciting } from '../questions.ts'
import type { Rounds } from './rounds.ts'

/** Who waits for a request of this era: it is told over the answer's own stream, and asked by an answer that is a question. */
export function callerOf({ mcpReq }: ServerContext, rounds: Rounds): Caller {
  const token = mcpReq._meta?.progressToken
  const envelope = mcpReq.envelope as Wire | undefined
  const declared = (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Wire
  const ask = async (questions: Questions) => {
    demandCapabilities(questions, declared)
    return rounds.ask(questions)
  }
  return {
    signal: mcpReq.signal,
    progress: (progress, total, message) => {
      if (token === undefined) return
      const how = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      const params = { progressToken: token, progress, ...how }
      // What cannot be sent has nobody left to read it; the call learns of that by its signal.
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    },
    log: (level, data) => void mcpReq.log(level, data).catch(() => {}),
    elicit: eliciting(ask),
    ask,
  }
}
