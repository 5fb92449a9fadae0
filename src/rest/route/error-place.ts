/** Maps the paths of a failure from GraphQL arguments to the part of the HTTP request that carried them. */
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { DomainError, withPaths } from '../../foundation/errors.ts'

/**
 * Rewrites the path of each detail to its place in the request: `/field`, `query/name`, `path/name`,
 * `header/Name`.
 */
export function atRequest(
  thrown: unknown,
  request: FastifyRequest,
  spec: Placing,
  replayed: boolean,
): unknown {
  const moved = withPaths(thrown, (path) => placeOf(path, request, spec))
  return moved instanceof DomainError ? Object.assign(moved, { replayed }) : moved
}

type Placing = { query?: z.ZodObject; renamed?: Readonly<Record<string, string>> }

function placeOf(path: string, request: FastifyRequest, spec: Placing): string {
  const [, first = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(path) ?? []
  if (first === 'idempotency_key') return 'header/Idempotency-Key'
  const body = request.body as Record<string, unknown> | undefined
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, first)) return path
  const renamed = spec.renamed?.[first]
  if (renamed !== undefined) return `query/${renamed}${rest}`
  if (first === 'expected_version') return 'header/If-Match'
  if (Object.hasOwn(request.params as object, first)) return `path/${first}${rest}`
  if (spec.query && Object.hasOwn(spec.query.shape, first)) return `query/${first}${rest}`
  return path
}
