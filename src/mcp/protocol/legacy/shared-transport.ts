import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
  Result,
} from '@modelcontextprotocol/sdk/types.js'
import type { LegacyExchange } from './exchange.ts'
import { isNotification, isRequest } from './messages.ts'

type Running = { exchange: LegacyExchange; id: RequestId; ended: AbortController }
/** A running request: its internal number, and a signal that aborts on cancellation or disconnect. */
export type Run = { number: RequestId; signal: AbortSignal }
export type Outcome = { result: Result } | { error: JSONRPCErrorResponse['error'] }
/** Runs a request; returns undefined to leave its method to the SDK. */
type Serve = (request: JSONRPCRequest, exchange: LegacyExchange, run: Run) => Promise<Outcome> | undefined

/**
 * SDK transport shared by all clients of one server. It renumbers requests internally and restores the
 * client's id in the response. A client response is accepted only for a question that its own session was
 * asked.
 */
export class Mux implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #running = new Map<RequestId, Running>()
  readonly #serve: Serve
  #last = 0
  #asksNoMore = false

  constructor(serve: Serve) {
    this.#serve = serve
  }

  async start(): Promise<void> {}
  async close(): Promise<void> {
    for (const number of [...this.#running.keys()]) this.#cancel(number)
    this.onclose?.()
  }

  /** Handles a message of a client. */
  take(message: JSONRPCMessage, exchange: LegacyExchange): void {
    if (isRequest(message)) this.#run(message, exchange)
    else if (!isNotification(message)) this.#answer(message, exchange)
    else if (message.method === 'notifications/cancelled') this.#cancelOf(message.params, exchange)
  }

  #answer(message: JSONRPCResponse, exchange: LegacyExchange): void {
    const { kept } = exchange
    const asked = message.id === undefined ? undefined : kept?.questions.get(message.id)
    if (!kept || !asked || message.id === undefined) return
    kept.questions.delete(message.id)
    this.onmessage?.({ ...message, id: asked.number })
  }

  /** Cancels running requests of a disconnected client. */
  abandon(exchange: LegacyExchange): void {
    for (const [number, running] of this.#running) if (running.exchange === exchange) this.#cancel(number)
  }

  /** Ends all waits for client responses, and those of later questions: shutdown does not wait for users. */
  endQuestions(): void {
    this.#asksNoMore = true
    for (const { exchange } of [...this.#running.values()])
      for (const [id, { number }] of exchange.kept?.questions ?? []) {
        exchange.kept?.questions.delete(id)
        this.#fail(number)
      }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) return this.#say(message, options?.relatedRequestId)
    const running = message.id === undefined ? undefined : this.#running.get(message.id)
    if (!running || message.id === undefined) return
    this.#forget(message.id)
    running.exchange.answer(running.id, { ...message, id: running.id })
  }

  #run(message: JSONRPCRequest, exchange: LegacyExchange): void {
    const number = ++this.#last
    const ended = new AbortController()
    this.#running.set(number, { exchange, id: message.id, ended })
    exchange.kept?.running.set(message.id, number)
    exchange.begin(message.id, () => {
      const outcome = this.#serve(message, exchange, { number, signal: ended.signal })
      if (outcome !== undefined)
        void outcome.then((answer) => this.send({ jsonrpc: '2.0', id: number, ...answer }))
      else this.onmessage?.({ ...message, id: number })
    })
  }

  #fail(id: RequestId): void {
    const error = { code: -32000, message: 'The question cannot be answered.' }
    this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #cancelOf(params: unknown, { kept }: LegacyExchange): void {
    const { requestId } = (params ?? {}) as { requestId?: RequestId }
    const number = requestId === undefined ? undefined : kept?.running.get(requestId)
    if (number !== undefined) this.#cancel(number)
  }

  #cancel(number: RequestId): void {
    const running = this.#running.get(number)
    if (!running) return
    this.#forget(number)
    running.exchange.settle(running.id)
    running.ended.abort()
  }

  #forget(number: RequestId): void {
    const running = this.#running.get(number)
    this.#running.delete(number)
    const { kept } = running?.exchange ?? {}
    if (!running || !kept) return
    if (kept.running.get(running.id) === number) kept.running.delete(running.id)
    for (const [id, question] of kept.questions) if (question.of === number) kept.questions.delete(id)
  }

  #say(message: JSONRPCMessage & { method: string }, related: RequestId | undefined): void {
    const running = related === undefined ? undefined : this.#running.get(related)
    if (!running || related === undefined) return
    const { exchange } = running
    if (isRequest(message)) this.#ask(message, exchange, related)
    else if (message.method === 'notifications/cancelled') this.#withdraw(message, exchange)
    else exchange.say(message)
  }

  #ask(message: JSONRPCRequest, exchange: LegacyExchange, of: RequestId): void {
    const { kept } = exchange
    if (!kept || this.#asksNoMore) {
      queueMicrotask(() => this.#fail(message.id))
      return
    }
    const id = ++kept.asked
    kept.questions.set(id, { number: message.id as number, of })
    exchange.say({ ...message, id })
  }

  /** Cancels a question that is no longer awaited. */
  #withdraw(message: JSONRPCMessage & { method: string }, exchange: LegacyExchange): void {
    const { params } = message as { params?: { requestId?: RequestId } }
    for (const [id, question] of exchange.kept?.questions ?? [])
      if (question.number === params?.requestId) {
        exchange.kept?.questions.delete(id)
        exchange.say({ jsonrpc: '2.0', method: message.method, params: { ...params, requestId: id } })
      }
  }
}
