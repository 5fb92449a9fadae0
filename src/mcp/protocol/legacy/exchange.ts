import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import { Exchange } from '../exchange.ts'
import type { Kept } from './sessions.ts'

/** A POST of this era: in a session, or alone. */
export class LegacyExchange extends Exchange<JSONRPCMessage> {
  /** Null for a POST that stands alone. */
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
  /** Can the client be asked something while it waits? It answers in its session. */
  get canAsk(): boolean {
    return this.kept !== null && this.takesStream
  }
}
