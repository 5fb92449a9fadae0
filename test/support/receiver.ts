import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Body } from './server.ts'

/** A request that arrived. */
export type Received = { path: string; headers: Record<string, string>; text: string; body: Body; at: number }
type Behave = (received: Received, response: ServerResponse, request: IncomingMessage) => void

export type Receiver = {
  url: string
  received: Received[]
  /** What arrived at a path. */
  at(path: string): Received[]
  /** How requests to a path are answered; by default, with 204. */
  on(path: string, behave: Behave): void
  close(): Promise<void>
}

/** Opens a receiver of webhooks on loopback. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const behaviours = new Map<string, Behave>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const path = request.url ?? ''
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const one: Received = { path, headers, text, body: JSON.parse(text), at: performance.now() }
    received.push(one)
    const behave = behaviours.get(path)
    if (behave) behave(one, response, request)
    else response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at: (path) => received.filter((each) => each.path === path),
    on: (path, behave) => void behaviours.set(path, behave),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with a status. */
export const answering =
  (status: number, text = ''): Behave =>
  (_received, response) =>
    void response.writeHead(status).end(text)
