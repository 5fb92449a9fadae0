import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import type { EventQueue } from '../event-queue.ts'
import { Exchange } from '../exchange.ts'
import type { Watch, Wire } from '../provider.ts'

/** State that the server keeps for a client between requests. */
export type ClientSession = {
  readonly id: string
  /** Owner and address. The session is found only by requests of the same owner at the same address. */
  readonly owner: string
  readonly address: string
  readonly capabilities: Wire
  /** Name and version from `initialize`. */
  readonly name: string | null
  /** Running requests: client request id to internal number. */
  readonly running: Map<RequestId, number>
  /** Open server requests: the id that the client got, to the internal number and the request that asked. */
  readonly questions: Map<RequestId, { number: number; of: RequestId }>
  /** Number of server requests sent so far. */
  asked: number
  /** Subscribed resource URIs. */
  readonly uris: Set<string>
  stream: { queue: EventQueue; watch: Watch | undefined } | undefined
  usedAt: number
}

/** Session store of the process: an LRU with a maximum size and an idle timeout. */
export class SessionStore {
  /** In order of last use. */
  readonly #all = new Map<string, ClientSession>()

  open(
    owner: string,
    address: string,
    { capabilities, name }: Pick<ClientSession, 'capabilities' | 'name'>,
  ): ClientSession {
    this.#sweep(owner)
    const client: ClientSession = {
      id: randomUUID(),
      owner,
      address,
      capabilities,
      name,
      running: new Map(),
      questions: new Map(),
      asked: 0,
      uris: new Set(),
      stream: undefined,
      usedAt: Date.now(),
    }
    this.#all.set(client.id, client)
    return client
  }
  /** Finds a session by id, if it belongs to this owner at this address and has not expired. */
  find(id: string, owner: string, address: string): ClientSession | undefined {
    const client = this.#all.get(id)
    if (!client || client.owner !== owner || client.address !== address) return undefined
    if (isIdle(client)) return void this.end(client)
    client.usedAt = Date.now()
    this.#all.delete(id)
    this.#all.set(id, client)
    return client
  }
  end(client: ClientSession): void {
    this.#all.delete(client.id)
    client.stream?.queue.end()
  }
  /** Ends the streams of all sessions. The sessions themselves are in memory only. */
  close(): void {
    for (const { stream } of this.#all.values()) stream?.queue.end()
  }

  #sweep(owner: string): void {
    const own: ClientSession[] = []
    for (const client of this.#all.values())
      if (isIdle(client)) this.end(client)
      else if (client.owner === owner) own.push(client)
    const [oldest] = this.#all.values()
    if (own[0] && own.length >= LIMITS.mcpSessionsOfToken) this.end(own[0])
    else if (oldest && this.#all.size >= LIMITS.mcpSessions) this.end(oldest)
  }
}

const isIdle = ({ usedAt, stream, running }: ClientSession): boolean =>
  !stream && running.size === 0 && Date.now() - usedAt > LIMITS.mcpSessionIdleMs

/** A POST of the legacy era, with a session or stateless. */
export class LegacyExchange extends Exchange<JSONRPCMessage> {
  /** The session; null for a stateless POST. */
  readonly client: ClientSession | null

  constructor(
    session: AddressSession,
    headers: IncomingHttpHeaders,
    calls: Calls,
    client: ClientSession | null,
    acceptsStream: boolean,
    requests: readonly RequestId[],
  ) {
    super(session, headers, calls, acceptsStream, requests)
    this.client = client
  }
  /** Whether the server can send requests (elicitation) during this POST. Needs a session and a stream. */
  get canAsk(): boolean {
    return this.client !== null && this.acceptsStream
  }
}
