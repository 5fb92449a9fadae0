import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** Names a request: surface, method, canonical path, query, conditions and body. */
export function fingerprint(request: FastifyRequest, path: string): string {
  const canonical = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((request.params as Record<string, string>)[name] ?? ''))
  const query = Object.entries(request.query as object).sort(([a], [b]) => (a < b ? -1 : 1))
  const { 'if-match': match, 'if-none-match': none } = request.headers
  const parts = ['rest', request.method, canonical, query, match ?? null, none ?? null, sorted(request.body ?? null)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** The value with its keys in order, so that equal bodies read alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
