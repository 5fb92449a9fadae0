import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents } from '../command/sse.ts'
import { Http, isEventStream, type Server } from './http.ts'
import { type Message, ownHeaders, ownVersion, standingWish } from './message.ts'

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
/** How long later messages wait for the stream; one that a proxy holds back opens with its first event. */
const OPENING_MS = 1000
const FAREWELL_MS = 1000

/**
 * The HTTP side of a relay: one MCP endpoint and, before 2026-07-28, the session with it. A server that went away
 * is looked for again, and a session that it no longer knows is opened anew with what opened it before.
 */
export class Link {
  /** What `initialize` agreed on. */
  version: string | undefined
  /** Takes what the server says unasked. */
  onData: (json: string) => void = () => {}
  readonly #http: Http
  #session: string | undefined
  #opening: { initialize?: string; initialized?: string } = {}
  /** What the session was asked to tell of from then on, as it was asked. */
  readonly #wishes = new Map<string, string>()
  #renewal: Promise<void> | undefined
  #listening = new AbortController()

  /** @param find the server to ask now; asked again after it was lost */
  constructor(find: () => Promise<Server>, path: string) {
    this.#http = new Http(find, path)
  }

  async connect(): Promise<void> {
    await this.#http.connect()
  }

  /** Sends a line of messages, once: it is repeated only where the server cannot have taken it. */
  async post(text: string, messages: readonly Message[], signal: AbortSignal): Promise<Response> {
    const [first = {}] = messages
    const version = ownVersion(first)
    const own = version === undefined ? undefined : ownHeaders(first, version)
    const opens = first.method === 'initialize'
    if (opens) this.#forget(text)
    const send = () => this.#send('POST', { text, signal, ...(own && { own }) })
    // A failed one is tried again by the message itself.
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

  /** Ends the session; the server need not wait for it to expire. */
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
    this.#wishes.clear()
  }

  #remember(messages: readonly Message[]): void {
    for (const message of messages) {
      const wish = standingWish(message)
      if (wish?.stands) this.#wishes.set(wish.about, JSON.stringify(message))
      else if (wish) this.#wishes.delete(wish.about)
    }
  }

  /** Opens a session in place of the one that is lost, once for all that miss it. */
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
      // To its end: to hang up would be to cancel.
      await response.text()
      if (!response.ok) throw new Error(`the session could not be opened anew: HTTP ${response.status}`)
      return response
    }
    try {
      this.#session = undefined
      this.#session = (await ask(initialize)).headers.get('mcp-session-id') ?? undefined
      if (initialized === undefined) return
      await ask(initialized)
      for (const wish of this.#wishes.values()) await ask(wish)
    } catch (error) {
      // Known to be lost still, so that the next message tries again.
      this.#session = lost
      throw error
    }
    await this.#listen()
  }

  /**
   * Keeps a stream open for what the server says unasked. A server that has none says so, and that is that. Resolves
   * when it is open: what comes of later messages is heard.
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
    let lastEvent: string | undefined
    let wasOpen = false
    for (let waitMs = FIRST_RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const own = lastEvent === undefined ? undefined : { 'last-event-id': lastEvent }
        const session = this.#session
        const response = await this.#send('GET', { signal, ...(own && { own }) }, false)
        answered()
        if (response.status === 404 && wasOpen && session !== undefined) {
          await response.body?.cancel()
          return await this.#renew(session)
        }
        if (response.status < 500 && !isEventStream(response)) return void (await response.body?.cancel())
        wasOpen ||= response.ok
        if (!response.ok || !response.body) await response.body?.cancel()
        else
          for await (const { data, id } of readEvents(response.body)) {
            waitMs = FIRST_RETRY_MS
            lastEvent = id ?? lastEvent
            if (data !== '') this.onData(data)
          }
      } catch {
        // Lost or ended; which of the two, the signal knows.
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #send(method: string, { text, signal, own }: Sent, mayFind?: boolean): Promise<Response> {
    // A message that names its own version belongs to no session.
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
