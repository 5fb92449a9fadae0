import type { FastifyRequest } from 'fastify'
import { digest } from '../digest.ts'

/** Names a request: surface, method, canonical path, query, conditions and body. */
export function fingerprint(request: FastifyRequest, path: string): string {
  const { 'if-match': match, 'if-none-match': none } = request.headers
  return digest([
    'rest',
    request.method,
    path,
    request.params,
    request.query,
    match ?? null,
    none ?? null,
    request.body ?? null,
  ])
}
