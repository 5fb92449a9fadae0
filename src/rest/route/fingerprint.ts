import type { FastifyRequest } from 'fastify'

/**
 * The parts that identify a request for idempotency: surface, method, canonical path, query, preconditions
 * and body.
 */
export function partsNamed(request: FastifyRequest, path: string): readonly unknown[] {
  const { 'if-match': match, 'if-none-match': none } = request.headers
  return [
    'rest',
    request.method,
    path,
    request.params,
    request.query,
    match ?? null,
    none ?? null,
    request.body ?? null,
  ]
}
