import type { Body, TestServer } from './server.ts'

type Event = { id: string | undefined; event: string | undefined; data: Body }

/** An open event stream: received events, and ways to await more and to disconnect. */
export type OpenStream = {
  status: number
  type: string | null
  events: Event[]
  /** The id that was sent before the first event. */
  startsAfter: string | undefined
  /** Resolves when `count` events have arrived. */
  until(count: number): Promise<Event[]>
  /** Resolves when the stream has ended or was disconnected. */
  ended: Promise<void>
  /** Disconnects. */
  cut(): void
}

type Ask = { token?: string; headers?: Record<string, string>; body?: object }

/** Opens a stream and waits for its first bytes. */
export async function openStream(server: TestServer, path: string, ask: Ask = {}): Promise<OpenStream> {
  const { token = server.adminToken, headers = {}, body } = ask
  const cutting = new AbortController()
  const response = await fetch(server.url + path, {
    method: body ? 'POST' : 'GET',
    signal: cutting.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const events: Event[] = []
  let opened: (startsAfter: string | undefined) => void = () => {}
  const opening = new Promise<string | undefined>((resolve) => {
    opened = resolve
  })
  const waiting = new Set<() => void>()
  const reading = async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const { data, ...event } = parse(block)
        opened(event.id)
        if (data) events.push({ ...event, data: JSON.parse(data) })
      }
      for (const look of waiting) look()
    }
  }
  const ended = reading()
    .catch((thrown: unknown) => {
      if (!cutting.signal.aborted) throw thrown
    })
    .finally(() => {
      opened(undefined)
      for (const look of waiting) look()
    })
  let over = false
  void ended.finally(() => {
    over = true
  })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    events,
    startsAfter: await opening,
    until: (count) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (events.length >= count) resolve(events.slice(0, count))
          else if (over) reject(new Error(`the stream ended after ${events.length} of ${count} events`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        void ended.then(() => setImmediate(look))
        look()
      }),
    ended,
    cut: () => cutting.abort(),
  }
}

function parse(block: string) {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
      return [name, value]
    }),
  )
  return { id: fields.get('id'), event: fields.get('event'), data: fields.get('data') }
}
