/** A call of the modern era: the rounds of questions that it takes, and its channel to the client. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
} from '@modelcontextprotocol/server'
import type { Cancellation } from '../../../foundation/cancellation.ts'
import { clientName, originOf } from '../call-origin.ts'
import { eliciting, requireCapabilities } from '../elicitation.ts'
import type { Exchange } from '../exchange.ts'
import { type Caller, InputNeeded, type Questions, type Wire } from '../provider.ts'
import { openRounds, type Rounds } from './input-rounds.ts'

/** Everything that a request handler gets. */
export type Serving = {
  id: string | number
  exchange: Exchange<object>
  /** `_meta` of the request: client info and protocol version. */
  envelope: Wire
  ended: Cancellation
  onInternal: (cause: unknown) => void
}

/** Runs a call that may elicit: it returns `input_required` with its questions, or its result. */
export async function inRounds(
  call: unknown,
  sent: object,
  { id, exchange, envelope, ended }: Serving,
  run: (caller: Caller) => Promise<object>,
): Promise<object> {
  const rounds = openRounds(exchange.session, call, sent)
  try {
    return await run(callerOf(id, envelope, exchange, ended, rounds))
  } catch (thrown) {
    if (!(thrown instanceof InputNeeded)) throw thrown
    const { questions } = thrown
    return {
      resultType: 'input_required',
      inputRequests: questions,
      requestState: rounds.stateFor(questions),
    }
  }
}

/** Log levels by rising severity. Source: RFC 5424, as adopted by MCP. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/**
 * Request handle of the modern era: notifications go to the stream of the response, questions end the call.
 * @param envelope `_meta` of the request
 */
function callerOf(
  id: string | number,
  envelope: Wire,
  exchange: Exchange<object>,
  ended: Cancellation,
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
    origin: originOf(id, clientName(envelope[CLIENT_INFO_META_KEY]), envelope, exchange.headers),
    ended,
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
