import type { FastifyRequest } from 'fastify'

/** What a request is told from others by: surface, method, canonical path, query, conditions and body. */
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
