import type { IncomingHttpHeaders } from 'node:http'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { AddressSession } from './address-session.ts'
import type { Calls } from './call-log.ts'
import { EventQueue } from './event-queue.ts'

/**
 * One HTTP POST: its JSON-RPC requests and its response. The response is a single JSON body, unless the
 * server sends a message before the last result and the client accepts event streams. Then it becomes a
 * stream.
 */
export class Exchange<Message extends object> {
  readonly session: AddressSession
  readonly headers: IncomingHttpHeaders
  readonly answers: Message[] = []
  /** Set once the response is a stream. */
  queue: EventQueue | undefined
  protected readonly acceptsStream: boolean
  readonly #open: Set<string | number>
  /** Running requests, and batch members that wait for a free slot. */
  readonly #begun = new Set<string | number>()
  readonly #waiting = new Map<string | number, () => void>()
  readonly #calls: Calls
  #ready: () => void = () => {}

  constructor(
    session: AddressSession,
    headers: IncomingHttpHeaders,
    calls: Calls,
    acceptsStream: boolean,
    requests: readonly (string | number)[],
  ) {
    this.session = session
    this.headers = headers
    this.#calls = calls
    this.acceptsStream = acceptsStream
    this.#open = new Set(requests)
  }
  /** Resolves when the response can start: with all results, or as a stream. */
  ready(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#ready = resolve
    })
  }
  /**
   * Runs a request, or queues it until one of the running requests ends. Others of a batch take turns, since the
   * arguments of each may take long to read.
   */
  begin(id: string | number, run: () => void): void {
    if (this.#begun.size >= LIMITS.mcpBatchAtOnce) {
      this.#waiting.set(id, run)
      return
    }
    this.#begun.add(id)
    if (this.#begun.size > 1 || turnIsOver()) void nextTurn().then(() => this.#begun.has(id) && run())
    else run()
  }
  /** Sends a notification or a server request. Drops it if the client accepts no stream. */
  say(message: Message): void {
    if (!this.acceptsStream || this.#open.size === 0) return
    if (!this.queue) {
      this.queue = new EventQueue()
      for (const answer of this.answers) this.queue.send(answer)
      this.#ready()
    }
    this.queue.send(message)
  }
  /** The request will be answered with a task: `end` is the response that it would have had. */
  goesOn(id: string | number, end: Promise<object>): void {
    this.#calls.goesOn(id, end)
  }
  answer(id: string | number, message: Message): void {
    this.#calls.answered(id, message)
    if (this.queue) this.queue.send(message)
    else this.answers.push(message)
    this.finish(id)
  }
  /** Marks a request as finished. A cancelled request has no response. */
  finish(id: string | number): void {
    this.#open.delete(id)
    this.#waiting.delete(id)
    if (this.#begun.delete(id)) this.#beginNext()
    if (this.#open.size > 0) return
    this.queue?.end()
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
