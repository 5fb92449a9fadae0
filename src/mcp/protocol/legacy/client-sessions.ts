import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../foundation/limits.ts'
import { sealText, unsealText } from '../../../graphql/context.ts'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import type { EventQueue } from '../event-queue.ts'
import { Exchange } from '../exchange.ts'
import type { Watch, Wire } from '../provider.ts'

/** What a client said of itself in `initialize`. */
export type Introduction = {
  readonly capabilities: Wire
  /** Name and version. */
  readonly name: string | null
}

/** State that the server keeps for a client between requests. */
export type ClientSession = Introduction & {
  /** The introduction, sealed for the token and the address: any process on the database opens it. */
  readonly id: string
  readonly owner: string
  readonly address: string
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

/**
 * Sessions of this process: an LRU with a maximum size and an idle timeout. One that has left it, or that another
 * process opened, is opened again from its id, without a stream and subscriptions.
 */
export class SessionStore {
  /** In order of last use. */
  readonly #all = new Map<string, ClientSession>()
  /** Sessions that their clients ended here. */
  readonly #ended = new LRUCache<string, true>({ max: LIMITS.mcpSessions })

  open(session: AddressSession, address: string, introduction: Introduction): ClientSession {
    // Two sessions of one client have two ids.
    const sealed = JSON.stringify({ ...introduction, nonce: randomUUID() })
    return this.#keep(sealText(session.context, boundTo(address), sealed), session, address, introduction)
  }
  /** Finds a session by id, if it belongs to this token at this address. */
  find(id: string, session: AddressSession, address: string): ClientSession | undefined {
    const client = this.#all.get(id)
    if (!client) return this.#reopen(id, session, address)
    if (client.owner !== ownerOf(session) || client.address !== address) return undefined
    client.usedAt = Date.now()
    this.#all.delete(id)
    this.#all.set(id, client)
    return client
  }
  /** Ends a session at the wish of its client. */
  end(client: ClientSession): void {
    this.#ended.set(client.id, true)
    this.#drop(client)
  }
  /** Ends the streams of all sessions. */
  close(): void {
    for (const { stream } of this.#all.values()) stream?.queue.end()
  }

  #reopen(id: string, session: AddressSession, address: string): ClientSession | undefined {
    if (this.#ended.has(id)) return undefined
    const opened = unsealText(session.context, boundTo(address), id)
    return opened === undefined
      ? undefined
      : this.#keep(id, session, address, JSON.parse(opened) as Introduction)
  }

  #keep(
    id: string,
    session: AddressSession,
    address: string,
    { capabilities, name }: Introduction,
  ): ClientSession {
    const owner = ownerOf(session)
    this.#sweep(owner)
    const client: ClientSession = {
      id,
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

  #drop(client: ClientSession): void {
    this.#all.delete(client.id)
    client.stream?.queue.end()
  }

  #sweep(owner: string): void {
    const own: ClientSession[] = []
    for (const client of this.#all.values())
      if (isIdle(client)) this.#drop(client)
      else if (client.owner === owner) own.push(client)
    const [oldest] = this.#all.values()
    if (own[0] && own.length >= LIMITS.mcpSessionsOfToken) this.#drop(own[0])
    else if (oldest && this.#all.size >= LIMITS.mcpSessions) this.#drop(oldest)
  }
}

const boundTo = (address: string): unknown => ['mcp session', address]

/** Owner of a session: the token. Each request still applies the token's current grants. */
function ownerOf({ context }: AddressSession): string {
  const { tokenId, name } = context.scope.actor
  return tokenId ?? name
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
