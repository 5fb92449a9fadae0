import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { Outbox } from '../outbox.ts'
import type { Session } from '../session.ts'
import type { Kept } from './sessions.ts'

/**
 * One POST: its requests, and what goes back. It is answered whole, unless the server says something before the last
 * answer to a client that takes streams: then it goes on as one.
 */
export class Exchange {
  readonly session: Session
  /** Null for a POST that stands alone. */
  readonly kept: Kept | null
  readonly answers: JSONRPCMessage[] = []
  /** Set once the answer is a stream. */
  outbox: Outbox | undefined
  readonly #takesStream: boolean
  readonly #open: Set<RequestId>
  #ready: () => void = () => {}

  constructor(session: Session, kept: Kept | null, takesStream: boolean, requests: readonly RequestId[]) {
    this.session = session
    this.kept = kept
    this.#takesStream = takesStream
    this.#open = new Set(requests)
  }
  /** Can the client be asked something while it waits? It answers in its session. */
  get canAsk(): boolean {
    return this.kept !== null && this.#takesStream
  }
  /** Resolves when there is something to send back: all answers, or the beginning of a stream. */
  ready(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#ready = resolve
    })
  }
  /** Sends what is no answer. Where there is no stream for it, it goes nowhere. */
  say(message: JSONRPCMessage): void {
    if (!this.#takesStream || this.#open.size === 0) return
    if (!this.outbox) {
      this.outbox = new Outbox()
      for (const answer of this.answers) this.outbox.send(answer)
      this.#ready()
    }
    this.outbox.send(message)
  }
  answer(id: RequestId, message: JSONRPCMessage): void {
    if (this.outbox) this.outbox.send(message)
    else this.answers.push(message)
    this.settle(id)
  }
  /** The request is done with; one that was cancelled has no answer. */
  settle(id: RequestId): void {
    this.#open.delete(id)
    if (this.#open.size > 0) return
    this.outbox?.end()
    this.#ready()
  }
}
