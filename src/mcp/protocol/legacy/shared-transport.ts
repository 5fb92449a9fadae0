import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
  Result,
} from '@modelcontextprotocol/sdk/types.js'
import { Cancellation } from '../../../foundation/cancellation.ts'
import type { LegacyExchange } from './client-sessions.ts'
import { isNotification, isRequest } from './messages.ts'
import { Numbered } from './numbered.ts'

type Running = { exchange: LegacyExchange; id: RequestId; ended: Cancellation }
/** A running request: its internal number, and what cancellation or disconnect ends. */
export type Run = { number: RequestId; ended: Cancellation }
export type Outcome = { result: Result } | { error: JSONRPCErrorResponse['error'] }
/** Runs a request; returns undefined to leave its method to the SDK. */
type Serve = (request: JSONRPCRequest, exchange: LegacyExchange, run: Run) => Promise<Outcome> | undefined

/**
 * SDK transport shared by all clients of one server. It renumbers requests internally and restores the
 * client's id in the response. A client response is accepted only for a question that its own session was
 * asked.
 */
export class SharedTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #running = new Numbered<Running>()
  readonly #serve: Serve
  #asksNoMore = false

  constructor(serve: Serve) {
    this.#serve = serve
  }

  async start(): Promise<void> {}
  async close(): Promise<void> {
    for (const { number } of this.#running.all()) this.#cancel(number)
    this.onclose?.()
  }

  /** Handles a message of a client. */
  take(message: JSONRPCMessage, exchange: LegacyExchange): void {
    if (isRequest(message)) this.#run(message, exchange)
    else if (!isNotification(message)) this.#answer(message, exchange)
    else if (message.method === 'notifications/cancelled') this.#cancelOf(message.params, exchange)
  }

  #answer(message: JSONRPCResponse, exchange: LegacyExchange): void {
    const { client } = exchange
    const asked = message.id === undefined ? undefined : client?.questions.get(message.id)
    if (!client || !asked || message.id === undefined) return
    client.questions.delete(message.id)
    this.onmessage?.({ ...message, id: asked.number })
  }

  /** Cancels running requests of a disconnected client. */
  abandon(exchange: LegacyExchange): void {
    for (const { number, value } of this.#running.all()) if (value.exchange === exchange) this.#cancel(number)
  }

  /** Ends all waits for client responses, and those of later questions: shutdown does not wait for users. */
  endQuestions(): void {
    this.#asksNoMore = true
    for (const { value } of this.#running.all())
      for (const [id, { number }] of value.exchange.client?.questions ?? []) {
        value.exchange.client?.questions.delete(id)
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
    const ended = new Cancellation()
    const number = this.#running.add({ exchange, id: message.id, ended })
    exchange.client?.running.set(message.id, number)
    exchange.begin(message.id, () => {
      const outcome = this.#serve(message, exchange, { number, ended })
      if (outcome !== undefined)
        void outcome.then((answer) => this.send({ jsonrpc: '2.0', id: number, ...answer }))
      else this.onmessage?.({ ...message, id: number })
    })
  }

  #fail(id: RequestId): void {
    const error = { code: -32000, message: 'The question cannot be answered.' }
    this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #cancelOf(params: unknown, { client }: LegacyExchange): void {
    const { requestId } = (params ?? {}) as { requestId?: RequestId }
    const number = requestId === undefined ? undefined : client?.running.get(requestId)
    if (number !== undefined) this.#cancel(number)
  }

  #cancel(number: RequestId): void {
    const running = this.#running.get(number)
    if (!running) return
    this.#forget(number)
    running.exchange.finish(running.id)
    running.ended.cancel()
  }

  #forget(number: RequestId): void {
    const running = this.#running.get(number)
    this.#running.delete(number)
    const { client } = running?.exchange ?? {}
    if (!running || !client) return
    if (client.running.get(running.id) === number) client.running.delete(running.id)
    for (const [id, question] of client.questions) if (question.of === number) client.questions.delete(id)
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
    const { client } = exchange
    if (!client || this.#asksNoMore) {
      queueMicrotask(() => this.#fail(message.id))
      return
    }
    const id = ++client.asked
    client.questions.set(id, { number: message.id as number, of })
    exchange.say({ ...message, id })
  }

  /** Cancels a question that is no longer awaited. */
  #withdraw(message: JSONRPCMessage & { method: string }, exchange: LegacyExchange): void {
    const { params } = message as { params?: { requestId?: RequestId } }
    for (const [id, question] of exchange.client?.questions ?? [])
      if (question.number === params?.requestId) {
        exchange.client?.questions.delete(id)
        exchange.say({ jsonrpc: '2.0', method: message.method, params: { ...params, requestId: id } })
      }
  }
}
