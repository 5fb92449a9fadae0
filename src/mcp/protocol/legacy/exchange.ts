import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import { Exchange } from '../exchange.ts'
import type { Kept } from './sessions.ts'

/** A POST of the legacy era, with a session or stateless. */
export class LegacyExchange extends Exchange<JSONRPCMessage> {
  /** The session; null for a stateless POST. */
  readonly kept: Kept | null

  constructor(
    session: AddressSession,
    calls: Calls,
    kept: Kept | null,
    takesStream: boolean,
    requests: readonly RequestId[],
  ) {
    super(session, calls, takesStream, requests)
    this.kept = kept
  }
  /** Whether the server can send requests (elicitation) during this POST. Needs a session and a stream. */
  get canAsk(): boolean {
    return this.kept !== null && this.takesStream
  }
}
