import { LIMITS } from '../../foundation/limits.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import type { AddressSession } from './address-session.ts'
import type { Calls } from './call-log.ts'
import { Outbox } from './event-queue.ts'

/**
 * One POST: its requests, and what goes back. It is answered whole, unless the server says something before the last
 * answer to a client that takes streams: then it goes on as one.
 */
export class Exchange<Message extends object> {
  readonly session: AddressSession
  readonly answers: Message[] = []
  /** Set once the answer is a stream. */
  outbox: Outbox | undefined
  protected readonly takesStream: boolean
  readonly #open: Set<string | number>
  /** Requests that run, and those of a batch that have no place yet. */
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
  /** Resolves when there is something to send back: all answers, or the beginning of a stream. */
  ready(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#ready = resolve
    })
  }
  /** Runs a request: at once, or when one of those before it is done with. */
  begin(id: string | number, run: () => void): void {
    if (this.#begun.size >= LIMITS.mcpBatchAtOnce) {
      this.#waiting.set(id, run)
      return
    }
    this.#begun.add(id)
    if (turnIsOver()) void nextTurn().then(() => this.#begun.has(id) && run())
    else run()
  }
  /** Sends what is no answer. Where there is no stream for it, it goes nowhere. */
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
  /** The request is done with; one that was cancelled has no answer. */
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
