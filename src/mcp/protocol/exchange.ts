import { LIMITS } from '../../foundation/limits.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import type { AddressSession } from './address-session.ts'
import type { Calls } from './call-log.ts'
import { Outbox } from './event-queue.ts'

/**
 * One HTTP POST: its JSON-RPC requests and its response. The response is a single JSON body, unless the
 * server sends a message before the last result and the client accepts event streams. Then it becomes a
 * stream.
 */
export class Exchange<Message extends object> {
  readonly session: AddressSession
  readonly answers: Message[] = []
  /** Set once the response is a stream. */
  outbox: Outbox | undefined
  protected readonly takesStream: boolean
  readonly #open: Set<string | number>
  /** Running requests, and batch members that wait for a free slot. */
  readonly #begun = new Set<string | number>()
  readonly #waiting = new Map<string | number, () => void>()
  readonly #calls: Calls
  #ready: () => void = () => {}

  constructor(
    session: AddressSession,
    calls: Calls,
    takesStream: boolean,
    requests: readonly (string | number)[],
  ) {
    this.session = session
    this.#calls = calls
    this.takesStream = takesStream
    this.#open = new Set(requests)
  }
  /** Resolves when the response can start: with all results, or as a stream. */
  ready(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#ready = resolve
    })
  }
  /** Runs a request at once, or queues it until one of the running requests ends. */
  begin(id: string | number, run: () => void): void {
    if (this.#begun.size >= LIMITS.mcpBatchAtOnce) {
      this.#waiting.set(id, run)
      return
    }
    this.#begun.add(id)
    if (turnIsOver()) void nextTurn().then(() => this.#begun.has(id) && run())
    else run()
  }
  /** Sends a notification or a server request. Drops it if the client accepts no stream. */
  say(message: Message): void {
    if (!this.takesStream || this.#open.size === 0) return
    if (!this.outbox) {
      this.outbox = new Outbox()
      for (const answer of this.answers) this.outbox.send(answer)
      this.#ready()
    }
    this.outbox.send(message)
  }
  answer(id: string | number, message: Message): void {
    this.#calls.answered(id, message)
    if (this.outbox) this.outbox.send(message)
    else this.answers.push(message)
    this.settle(id)
  }
  /** Marks a request as finished. A cancelled request has no response. */
  settle(id: string | number): void {
    this.#open.delete(id)
    this.#waiting.delete(id)
    if (this.#begun.delete(id)) this.#beginNext()
    if (this.#open.size > 0) return
    this.outbox?.end()
    this.#ready()
  }
  #beginNext(): void {
    const [next] = this.#waiting
    if (!next) return
    const [id, run] = next
    this.#waiting.delete(id)
    this.begin(id, run)
  }
}
