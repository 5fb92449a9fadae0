import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that arrived at an upstream. */
export type Asked = { method: string; url: URL; headers: IncomingMessage['headers']; body: unknown }
export type Answering = (asked: Asked, response: ServerResponse) => void

export type Upstream = {
  url: string
  asked: Asked[]
  /** How requests to a path are answered; by default, with 404. */
  on(path: string | RegExp, answer: Answering): void
  close(): Promise<void>
}

/** Opens a JSON API of another system on loopback. */
export async function openUpstream(): Promise<Upstream> {
  const asked: Asked[] = []
  const answers: (readonly [string | RegExp, Answering])[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '', 'http://upstream')
    const one: Asked = {
      ...{ method: request.method ?? '', url, headers: request.headers },
      body: text === '' ? undefined : JSON.parse(text),
    }
    asked.push(one)
    const found = answers.findLast(([path]) =>
      typeof path === 'string' ? path === url.pathname : path.test(url.pathname),
    )
    if (found) found[1](one, response)
    else response.writeHead(404).end('{"error":"not here"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    on: (path, answer) => void answers.push([path, answer]),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with JSON. */
export const json =
  (body: unknown, status = 200): Answering =>
  (_asked, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
