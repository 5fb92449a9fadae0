import type { FastifyInstance } from 'fastify'
import { addVary } from './shared-document.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, Traceparent, Tracestate, X-File-Metadata, X-Service-Label, Content-Digest, Range, If-Range, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id'
const EXPOSED =
  'ETag, Location, Retry-After, X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Content-Range, Content-Disposition, X-Has-More, X-Next-Cursor, X-Total-Count, Deprecation, Sunset, WWW-Authenticate, Mcp-Session-Id'

/** CORS for the listed origins. Without a list no CORS headers are sent. */
export function cors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    addVary(reply, 'Origin')
    if (!origin || !origins.includes(origin)) return
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED)
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return
    reply.header('access-control-allow-methods', METHODS).header('access-control-allow-headers', HEADERS)
    await reply.header('access-control-max-age', '600').code(204).send()
  })
}
