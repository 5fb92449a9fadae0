import http from 'node:http'
import type { AddressInfo } from 'node:net'

export type BearerProxy = { url: string; close(): Promise<void> }

/**
 * Loopback proxy that adds a bearer token to each request, for clients that cannot send one. Streams and all
 * headers, including Host, pass unchanged.
 */
export async function openBearerProxy(target: string, token: string): Promise<BearerProxy> {
  const { hostname, port } = new URL(target)
  const server = http.createServer((inner, reply) => {
    const outer = http.request({
      hostname,
      port,
      path: inner.url,
      method: inner.method,
      headers: { ...inner.headers, authorization: `Bearer ${token}` },
    })
    outer.on('response', (response) => {
      reply.writeHead(response.statusCode ?? 502, response.headers)
      // Forward the headers of a stream before its first event.
      reply.flushHeaders()
      response.pipe(reply)
      response.on('error', () => reply.destroy())
    })
    outer.on('error', () => reply.destroy())
    reply.on('close', () => outer.destroy())
    inner.pipe(outer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
