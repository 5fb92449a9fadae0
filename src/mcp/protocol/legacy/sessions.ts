import { randomUUID } from 'node:crypto'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Outbox } from '../event-queue.ts'
import type { Watch, Wire } from '../provider.ts'

/** State that the server keeps for a client between requests. */
export type Kept = {
  readonly id: string
  /** Owner and address. The session is found only by requests of the same owner at the same address. */
  readonly owner: string
  readonly address: string
  readonly capabilities: Wire
  /** Running requests: client request id to internal number. */
  readonly running: Map<RequestId, number>
  /** Open server requests: the id that the client got, to the internal number and the request that asked. */
  readonly questions: Map<RequestId, { number: number; of: RequestId }>
  /** Number of server requests sent so far. */
  asked: number
  /** Subscribed resource URIs. */
  readonly uris: Set<string>
  stream: { outbox: Outbox; watch: Watch | undefined } | undefined
  usedAt: number
}

/** Session store of the process: an LRU with a maximum size and an idle timeout. */
export class Sessions {
  /** In order of last use. */
  readonly #all = new Map<string, Kept>()

  open(owner: string, address: string, capabilities: Wire): Kept {
    this.#sweep(owner)
    const kept: Kept = {
      id: randomUUID(),
      owner,
      address,
      capabilities,
      running: new Map(),
      questions: new Map(),
      asked: 0,
      uris: new Set(),
      stream: undefined,
      usedAt: Date.now(),
    }
    this.#all.set(kept.id, kept)
    return kept
  }
  /** Finds a session by id, if it belongs to this owner at this address and has not expired. */
  find(id: string, owner: string, address: string): Kept | undefined {
    const kept = this.#all.get(id)
    if (!kept || kept.owner !== owner || kept.address !== address) return undefined
    if (isIdle(kept)) return void this.end(kept)
    kept.usedAt = Date.now()
    this.#all.delete(id)
    this.#all.set(id, kept)
    return kept
  }
  end(kept: Kept): void {
    this.#all.delete(kept.id)
    kept.stream?.outbox.end()
  }
  /** Ends the streams of all sessions. The sessions themselves are in memory only. */
  close(): void {
    for (const { stream } of this.#all.values()) stream?.outbox.end()
  }

  #sweep(owner: string): void {
    const own: Kept[] = []
    for (const kept of this.#all.values())
      if (isIdle(kept)) this.end(kept)
      else if (kept.owner === owner) own.push(kept)
    const [oldest] = this.#all.values()
    if (own[0] && own.length >= LIMITS.mcpSessionsOfToken) this.end(own[0])
    else if (oldest && this.#all.size >= LIMITS.mcpSessions) this.end(oldest)
  }
}

const isIdle = ({ usedAt, stream, running }: Kept): boolean =>
  !stream && running.size === 0 && Date.now() - usedAt > LIMITS.mcpSessionIdleMs
