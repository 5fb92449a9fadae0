import { readEvents } from '../command/sse.ts'
import { isEventStream } from './http.ts'
import {
  asLine,
  errorLine,
  type Id,
  isRequest,
  isResponse,
  type Message,
  ownVersion,
  readMessages,
} from './message.ts'
import type { Upstream } from './upstream.ts'

const PARSE_ERROR = -32700
const INTERNAL_ERROR = -32603

type Output = { write: (line: string) => void; log: (text: string) => void }
type Open = { id: Id; method: string; isOwn: boolean; isCancelled: boolean; controller: AbortController }
type Waiting = Map<string, Open>

/**
 * Relays JSON-RPC lines to a server, and its responses back. Every request gets a response, from the server
 * or from the relay, unless the client has cancelled it.
 */
export class Relay {
  readonly #upstream: Upstream
  readonly #output: Output
  readonly #open: Waiting = new Map()
  readonly #exchanges = new Set<Promise<void>>()

  constructor(upstream: Upstream, output: Output) {
    this.#upstream = upstream
    this.#output = output
    upstream.onData = (json) => this.#pass(json, new Map())
  }

  /** Handles one line. Requests run concurrently; messages that later lines depend on are awaited. */
  async take(line: string): Promise<void> {
    if (line.trim() === '') return
    let messages: Message[]
    try {
      messages = readMessages(line)
    } catch {
      return this.#output.write(errorLine(null, PARSE_ERROR, 'Parse error: a line is one JSON-RPC message.'))
    }
    if (messages.every((message) => this.#cancels(message))) return
    const exchange = this.#carry(line, messages)
    this.#exchanges.add(exchange)
    void exchange.finally(() => this.#exchanges.delete(exchange))
    if (!messages.some(isRequest) || messages.some(({ method }) => method === 'initialize')) await exchange
  }

  /** Waits for open requests, up to `ms`. */
  async drain(ms: number): Promise<void> {
    for (const { method, controller } of this.#open.values())
      if (method === 'subscriptions/listen') controller.abort()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([Promise.all(this.#exchanges), late])
    clearTimeout(timer)
    for (const { controller } of this.#open.values()) controller.abort()
    this.#answerAll(this.#open, INTERNAL_ERROR, 'The relay stopped before the server responded.')
  }

  /** From 2026-07-28, disconnecting cancels a request over HTTP, instead of a message. */
  #cancels({ method, params }: Message): boolean {
    const open = method === 'notifications/cancelled' ? this.#open.get(keyOf(params?.requestId)) : undefined
    if (open) open.isCancelled = true
    if (!open?.isOwn) return false
    open.controller.abort()
    return true
  }

  async #carry(line: string, messages: readonly Message[]): Promise<void> {
    const controller = new AbortController()
    const isOwn = messages.some((message) => ownVersion(message) !== undefined)
    const waiting: Waiting = new Map()
    for (const { id, method } of messages.filter(isRequest))
      waiting.set(keyOf(id), { id, method, isOwn, isCancelled: false, controller })
    const keys = [...waiting.keys()]
    for (const [key, open] of waiting) this.#open.set(key, open)
    try {
      const response = await this.#upstream.post(line, messages, controller.signal)
      await (response.ok ? this.#deliver(response, waiting) : this.#refuse(response, waiting))
      if (awaited(waiting)) throw new Error('the stream ended before the response')
    } catch (error) {
      if (!controller.signal.aborted) this.#fail(error, waiting)
    } finally {
      for (const key of keys) if (this.#open.get(key)?.controller === controller) this.#open.delete(key)
    }
  }

  async #deliver(response: Response, waiting: Waiting): Promise<void> {
    // 202 is the answer to a notification, and to a request that was cancelled.
    if (waiting.size === 0 || response.status === 202 || !response.body)
      return void (await response.body?.cancel())
    if (!isEventStream(response)) return this.#pass(await response.text(), waiting)
    for await (const { data } of readEvents(response.body)) {
      if (data !== '') this.#pass(data, waiting)
      if (!awaited(waiting)) return
    }
  }

  /**
   * Forwards server messages, except responses to cancelled requests, and marks their requests as answered.
   */
  #pass(json: string, waiting: Waiting): void {
    const messages = readMessages(json)
    const passed = messages.filter((message) => !isResponse(message) || this.#matchResponse(message, waiting))
    if (passed.length === messages.length) this.#output.write(asLine(json))
    else if (passed.length > 0) this.#output.write(asLine(JSON.stringify(passed)))
  }

  /** Whether the response is still awaited. */
  #matchResponse({ id, result }: Message, waiting: Waiting): boolean {
    const open = waiting.get(keyOf(id))
    waiting.delete(keyOf(id))
    const version = result?.protocolVersion
    if (open?.method === 'initialize' && typeof version === 'string') this.#upstream.version = version
    return open?.isCancelled !== true
  }

  /** Converts an HTTP error to a JSON-RPC error for each affected request. */
  async #refuse(response: Response, waiting: Waiting): Promise<void> {
    const { code, message, data } = readRefusal(await response.text(), response.status)
    const { name } = this.#upstream
    if (waiting.size === 0) this.#output.log(`${name} refused a message: ${message}`)
    this.#answerAll(waiting, code, `${message} This is the answer of ${name}.`, data)
  }

  #fail(error: unknown, waiting: Waiting): void {
    const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined }
    this.#output.log(`${message}${cause instanceof Error ? ` (${cause.message || cause.name})` : ''}`)
    this.#answerAll(
      waiting,
      INTERNAL_ERROR,
      `No complete response came from ${this.#upstream.name}: it cannot be reached, or it closed the connection.`,
    )
  }

  #answerAll(waiting: Waiting, code: number, message: string, data?: unknown): void {
    for (const { id, isCancelled } of waiting.values())
      if (!isCancelled) this.#output.write(errorLine(id, code, message, data))
    waiting.clear()
  }
}

/** Whether any request is still awaited. */
const awaited = (waiting: Waiting): boolean => [...waiting.values()].some(({ isCancelled }) => !isCancelled)

/** Distinguishes the ids 1 and "1". */
const keyOf = (id: unknown): string => JSON.stringify(id) ?? ''

type Refusal = { code: number; message: string; data?: unknown }

function readRefusal(text: string, status: number): Refusal {
  const unknown = { code: INTERNAL_ERROR, message: `The server answered HTTP ${status}.` }
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; data?: unknown } }
    if (typeof error?.message !== 'string') return unknown
    if (typeof error.code === 'number') return { code: error.code, message: error.message, data: error.data }
    return { code: INTERNAL_ERROR, message: `${String(error.code)}: ${error.message}`, data: error }
  } catch {
    return unknown
  }
}
