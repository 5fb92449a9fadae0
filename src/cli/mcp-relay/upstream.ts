import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents } from '../command/sse.ts'
import { Http, isEventStream, type Server } from './http.ts'
import { type Message, ownHeaders, ownVersion, replayedState } from './message.ts'

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
/**
 * How long later messages wait for the event stream to open. Some proxies deliver nothing before the first
 * event.
 */
const OPENING_MS = 1000
const FAREWELL_MS = 1000

/**
 * The HTTP side of the relay: an MCP address and, in the legacy era, its session. Reconnects when the server
 * restarts, and replaces a lost session by repeating its `initialize`.
 */
export class Upstream {
  /** Protocol version negotiated by `initialize`. */
  version: string | undefined
  /** Receives server-initiated messages. */
  onData: (json: string) => void = () => {}
  readonly #http: Http
  #session: string | undefined
  #opening: { initialize?: string; initialized?: string } = {}
  /** Subscriptions and log level of the session, to restore them in a new one. */
  readonly #states = new Map<string, string>()
  #renewal: Promise<void> | undefined
  #listening = new AbortController()

  /** @param find locates the server; called again after a connection is lost */
  constructor(find: () => Promise<Server>, path: string) {
    this.#http = new Http(find, path)
  }

  /** The server that was asked last, for messages. */
  get name(): string {
    return this.#http.name
  }

  async connect(): Promise<void> {
    await this.#http.connect()
  }

  /** Sends a line of messages. Retries only if the server cannot have processed it. */
  async post(text: string, messages: readonly Message[], signal: AbortSignal): Promise<Response> {
    const [first = {}] = messages
    const version = ownVersion(first)
    const own = version === undefined ? undefined : ownHeaders(first, version)
    const opens = first.method === 'initialize'
    if (opens) this.#forget(text)
    const send = () => this.#send('POST', { text, signal, ...(own && { own }) })
    // If the renewal fails, the message itself retries it.
    if (!own && !opens) await this.#renewal?.catch(() => {})
    const session = this.#session
    let response = await send()
    if (response.status === 404 && !own && !opens && session !== undefined) {
      await response.body?.cancel()
      await this.#renew(session)
      response = await send()
    }
    if (response.ok && !own) this.#remember(messages)
    if (opens) this.#session = response.headers.get('mcp-session-id') ?? undefined
    if (first.method === 'notifications/initialized' && !own && response.ok) {
      this.#opening.initialized = text
      await this.#listen()
    }
    return response
  }

  /** Ends the session on the server, instead of waiting for its timeout. */
  async close(): Promise<void> {
    this.#listening.abort()
    if (this.#session === undefined) return
    const response = await this.#send('DELETE', { signal: AbortSignal.timeout(FAREWELL_MS) }).catch(
      () => undefined,
    )
    await response?.body?.cancel()
  }

  #forget(initialize: string): void {
    this.#listening.abort()
    this.#session = undefined
    this.version = undefined
    this.#opening = { initialize }
    this.#states.clear()
  }

  #remember(messages: readonly Message[]): void {
    for (const message of messages) {
      const state = replayedState(message)
      if (state?.isActive) this.#states.set(state.about, JSON.stringify(message))
      else if (state) this.#states.delete(state.about)
    }
  }

  /** Replaces a lost session. Concurrent callers share one renewal. */
  #renew(lost: string): Promise<void> {
    if (this.#renewal === undefined && this.#session !== lost) return Promise.resolve()
    this.#renewal ??= this.#reopen(lost).finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #reopen(lost: string): Promise<void> {
    const { initialize, initialized } = this.#opening
    if (initialize === undefined) return
    const signal = AbortSignal.timeout(LONGEST_RETRY_MS)
    const ask = async (text: string) => {
      const response = await this.#send('POST', { text, signal })
      // Read to the end: a disconnect would cancel the request.
      await response.text()
      if (!response.ok) throw new Error(`the session could not be reopened: HTTP ${response.status}`)
      return response
    }
    try {
      this.#session = undefined
      this.#session = (await ask(initialize)).headers.get('mcp-session-id') ?? undefined
      if (initialized === undefined) return
      await ask(initialized)
      for (const state of this.#states.values()) await ask(state)
    } catch (error) {
      // Keep the lost session id, so that the next message retries.
      this.#session = lost
      throw error
    }
    await this.#listen()
  }

  /**
   * Keeps the GET stream open for server-initiated messages, if the server supports it. Resolves when it is
   * open, so that no notification caused by later messages is missed.
   */
  async #listen(): Promise<void> {
    this.#listening.abort()
    this.#listening = new AbortController()
    const { signal } = this.#listening
    const late = AbortSignal.any([signal, AbortSignal.timeout(OPENING_MS)])
    await new Promise<void>((resolve) => {
      late.addEventListener('abort', () => resolve(), { once: true })
      void this.#hear(signal, resolve).finally(resolve)
    })
  }

  async #hear(signal: AbortSignal, answered: () => void): Promise<void> {
    let wasOpen = false
    for (let waitMs = FIRST_RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const session = this.#session
        const response = await this.#send('GET', { signal }, false)
        answered()
        if (response.status === 404 && wasOpen && session !== undefined) {
          await response.body?.cancel()
          return await this.#renew(session)
        }
        if (response.status < 500 && !isEventStream(response)) return void (await response.body?.cancel())
        wasOpen ||= response.ok
        if (!response.ok || !response.body) await response.body?.cancel()
        else
          for await (const { data } of readEvents(response.body)) {
            waitMs = FIRST_RETRY_MS
            if (data !== '') this.onData(data)
          }
      } catch {
        // The stream failed or was aborted; the loop condition checks the signal.
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #send(method: string, { text, signal, own }: Sent, mayFind?: boolean): Promise<Response> {
    // Messages that carry their own version belong to no session.
    const headers = own?.['mcp-protocol-version']
      ? own
      : {
          ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
          ...(this.version !== undefined && { 'mcp-protocol-version': this.version }),
          ...own,
        }
    return this.#http.send(method, { signal, headers, ...(text !== undefined && { text }) }, mayFind)
  }
}

type Sent = { text?: string; signal: AbortSignal; own?: Record<string, string> }
