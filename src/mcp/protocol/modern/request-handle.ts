import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server'
import { eliciting, requireCapabilities } from '../elicitation.ts'
import type { Exchange } from '../exchange.ts'
import type { Caller, Questions, Wire } from '../provider.ts'
import type { Rounds } from './input-rounds.ts'

/** Log levels by rising severity. Source: RFC 5424, as adopted by MCP. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/**
 * Request handle of the modern era: notifications go to the stream of the response, questions end the call.
 * @param envelope `_meta` of the request
 */
export function callerOf(
  envelope: Wire,
  exchange: Exchange<object>,
  signal: AbortSignal,
  rounds: Rounds,
): Caller {
  const ask = async (questions: Questions) => {
    requireCapabilities(questions, (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Wire)
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
