import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, ownHeaders, ownVersion } from './mcp-message.ts'
import { readEvents } from './sse.ts'

export type Server = { url: string; token: string | undefined }

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
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
  readonly #find: () => Promise<Server>
  readonly #path: string
  #server: Promise<Server> | undefined
  #session: string | undefined
  #opening: { initialize?: string; initialized?: string } = {}
  #renewal: Promise<void> | undefined
  #listening = new AbortController()

  /** @param find the server to ask now; asked again after it was lost */
  constructor(find: () => Promise<Server>, path: string) {
    this.#find = find
    this.#path = path
  }

  connect(): Promise<Server> {
    this.#server ??= this.#find().catch((error: unknown) => {
      this.#server = undefined
      throw error
    })
    return this.#server
  }

  /** Sends a line of messages, once: it is repeated only where the server cannot have taken it. */
  async post(text: string, messages: readonly Message[], signal: AbortSignal): Promise<Response> {
    const [first = {}] = messages
    const version = ownVersion(first)
    const own = version === undefined ? undefined : ownHeaders(first, version)
    const opens = first.method === 'initialize'
    if (opens) this.#forget(text)
    const send = () => this.#send('POST', { text, signal, ...(own && { own }) })
    let response = await send()
    if (response.status === 404 && !own && !opens && this.#session !== undefined) {
      await response.body?.cancel()
      await this.#renew()
      response = await send()
    }
    if (opens) this.#session = response.headers.get('mcp-session-id') ?? undefined
    if (first.method === 'notifications/initialized' && !own && response.ok) {
      this.#opening.initialized = text
      this.#listen()
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
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#reopen().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #reopen(): Promise<void> {
    const { initialize, initialized } = this.#opening
    this.#session = undefined
    const signal = AbortSignal.timeout(LONGEST_RETRY_MS)
    if (initialize === undefined) return
    const opened = await this.#send('POST', { text: initialize, signal })
    await opened.text()
    this.#session = opened.headers.get('mcp-session-id') ?? undefined
    if (initialized === undefined) return
    const accepted = await this.#send('POST', { text: initialized, signal })
    await accepted.body?.cancel()
    this.#listen()
  }

  /** Keeps a stream open for what the server says unasked. A server that has none says so, and that is that. */
  #listen(): void {
    this.#listening.abort()
    this.#listening = new AbortController()
    void this.#hear(this.#listening.signal)
  }

  async #hear(signal: AbortSignal): Promise<void> {
    let lastEvent: string | undefined
    for (let waitMs = FIRST_RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const own = lastEvent === undefined ? undefined : { 'last-event-id': lastEvent }
        const response = await this.#send('GET', { signal, ...(own && { own }) }, false)
        if (response.status < 500 && !isEventStream(response)) return void (await response.body?.cancel())
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

  async #send(method: string, request: Sent, mayFind = true): Promise<Response> {
    const { url, token } = await this.connect()
    const { text, signal, own } = request
    // A message that names its own version belongs to no session.
    const session = own?.['mcp-protocol-version']
      ? own
      : {
          ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
          ...(this.version !== undefined && { 'mcp-protocol-version': this.version }),
          ...own,
        }
    const headers = {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...session,
    }
    try {
      return await fetch(url + this.#path, {
        method,
        headers,
        body: text ?? null,
        signal,
        redirect: 'manual',
      })
    } catch (error) {
      if (!mayFind || !isRefused(error)) throw error
      // Nothing listens there any more, so nothing was taken: another server may have come in its place.
      this.#server = undefined
      return this.#send(method, request, false)
    }
  }
}

type Sent = { text?: string; signal: AbortSignal; own?: Record<string, string> }

export const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

const isRefused = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
