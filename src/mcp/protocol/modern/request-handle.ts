import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server'
import { demandCapabilities, eliciting } from '../elicitation.ts'
import type { Exchange } from '../exchange.ts'
import type { Caller, Questions, Wire } from '../provider.ts'
import type { Rounds } from './input-rounds.ts'

/** Levels of severity, the least first. Source: RFC 5424, which the protocol takes them from. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/**
 * Who waits for a request of this era: it is told over the answer's own stream, and asked by an answer that is a question.
 * @param envelope what the request says of its client and of itself
 */
export function callerOf(
  envelope: Wire,
  exchange: Exchange<object>,
  signal: AbortSignal,
  rounds: Rounds,
): Caller {
  const ask = async (questions: Questions) => {
    demandCapabilities(questions, (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Wire)
    return rounds.ask(questions)
  }
  const say = (method: string, params: object) => exchange.say({ jsonrpc: '2.0', method, params })
  const { progressToken } = envelope
  const level = envelope[LOG_LEVEL_META_KEY]
  return {
    signal,
    progress: (progress, total, message) => {
      if (progressToken === undefined) return
      const how = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      say('notifications/progress', { progressToken, progress, ...how })
    },
    log: (of, data) => {
      if (typeof level !== 'string' || LEVELS.indexOf(of) < LEVELS.indexOf(level)) return
      say('notifications/message', { level: of, data })
    },
    elicit: eliciting(ask),
    ask,
  }
}
