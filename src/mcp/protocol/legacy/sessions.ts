import { randomUUID } from 'node:crypto'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Outbox } from '../event-queue.ts'
import type { Watch, Wire } from '../provider.ts'

/** What is kept of a client between its requests. */
export type Kept = {
  readonly id: string
  /** Whose it is, and where: nobody else finds it, and nowhere else. */
  readonly owner: string
  readonly address: string
  readonly capabilities: Wire
  /** Its requests that run, by its ids, each with the number that it runs under. */
  readonly running: Map<RequestId, number>
  /** What it was asked and has not answered, by the ids it was given: the server's number, and that of the request. */
  readonly questions: Map<RequestId, { number: number; of: RequestId }>
  /** How much it was asked so far. */
  asked: number
  /** Resources it follows. */
  readonly uris: Set<string>
  stream: { outbox: Outbox; watch: Watch | undefined } | undefined
  usedAt: number
}

/** The sessions of one process. The longest unused end first when there are too many, and all end when idle for long. */
export class Sessions {
  /** In the order of their last use. */
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
  /** The session of that id, if it is this owner's at this address and has not ended. */
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
  /** Ends the streams of all; the sessions themselves go with the process. */
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
