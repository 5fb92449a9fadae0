import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import { Exchange } from '../exchange.ts'
import type { ClientSession } from './sessions.ts'

/** A POST of the legacy era, with a session or stateless. */
export class LegacyExchange extends Exchange<JSONRPCMessage> {
  /** The session; null for a stateless POST. */
  readonly client: ClientSession | null

  constructor(
    session: AddressSession,
    calls: Calls,
    client: ClientSession | null,
    acceptsStream: boolean,
    requests: readonly RequestId[],
  ) {
    super(session, calls, acceptsStream, requests)
    this.client = client
  }
  /** Whether the server can send requests (elicitation) during this POST. Needs a session and a stream. */
  get canAsk(): boolean {
    return this.client !== null && this.acceptsStream
  }
}
