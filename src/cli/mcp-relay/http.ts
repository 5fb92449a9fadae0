/** `origin` says where a server comes from that the client has not named. */
export type Server = { url: string; token: string | undefined; origin?: string }

type Sent = { text?: string; signal: AbortSignal; headers?: Record<string, string> }

/** HTTP connection to one MCP address. Finds the server again after it was lost. */
export class Http {
  readonly #find: () => Promise<Server>
  readonly #path: string
  #server: Promise<Server> | undefined
  /** The server that was asked last, for messages. */
  name = 'the Plinth server'

  /** @param find locates the server; called again after a connection is lost */
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

  async send(method: string, request: Sent, mayFind = true): Promise<Response> {
    const { url, token, origin } = await this.connect()
    this.name = `the server at ${url}${origin === undefined ? '' : `, ${origin}`}`
    const { text, signal, headers } = request
    try {
      return await fetch(url + this.#path, {
        method,
        headers: {
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          ...(text !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: text ?? null,
        signal,
        redirect: 'manual',
      })
    } catch (error) {
      if (!mayFind || !isRefused(error)) throw error
      // Connection refused: the request was not processed, so a retry is safe. The server may have moved.
      this.#server = undefined
      return this.send(method, request, false)
    }
  }
}

export const isEventStream = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

const isRefused = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
