/** Reads a request by the shapes of its route: path parameters, query, body, preconditions. */
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { mediaTypeOf } from '../../contract/attachment-rules.ts'
import { isIdempotencyKey } from '../../contract/ids.ts'
import { check, inBody, inPart, refuseNul } from '../../contract/validate.ts'
import { adviseBody } from '../../dialects/parameters.ts'
import { invalid } from '../../foundation/errors.ts'
import { type Conditions, NONE, readConditions, readContentConditions, readHashes } from './preconditions.ts'
import { readQuery } from './query.ts'

type Shape = z.ZodType
export const JSON_TYPE = 'application/json'

export type Parts<P, Q, B> = {
  params: P
  query: Q
  body: B
  mediaType: string
  conditions: Conditions
  hashes: string[] | null
}

/** Reads and validates the parts of a request. @throws VALIDATION_ERROR */
export function readParts<P extends Shape, Q extends z.ZodObject, B extends Shape>(
  spec: {
    params?: P
    query?: Q
    body?: B
    bodyOf?: (mediaType: string) => z.ZodType<z.output<B>>
    versioned?: Versioned
  },
  queryOf: z.ZodObject,
  request: FastifyRequest,
  writes: boolean,
): Parts<z.output<P>, z.output<Q>, z.output<B>> {
  refuseNul(request.params as object, 'path')
  refuseNul(request.query as object, 'query')
  const params = spec.params ? check(spec.params, request.params, inPart('path')) : request.params
  const query = readQuery(queryOf, request.query as Record<string, unknown>)
  const mediaType = mediaTypeOf(request.headers['content-type'] ?? JSON_TYPE)
  const shape = spec.bodyOf?.(mediaType) ?? spec.body
  const body = shape
    ? check(shape, request.body, inBody(), (known) => adviseBody(request.body, known))
    : refuseBody(request.body)
  checkSameId(params, body)
  const preconditions = readPreconditions(spec.versioned, request, writes, body)
  return { params, query, body, mediaType, ...preconditions } as Parts<z.output<P>, z.output<Q>, z.output<B>>
}

/** What writes can have as a precondition: the version of the resource, a hash of it, or that of a content. */
export type Versioned = true | 'hash' | 'content' | undefined

function readPreconditions(versioned: Versioned, request: FastifyRequest, writes: boolean, body: unknown) {
  if (versioned === 'hash' && writes) return { conditions: NONE, hashes: readHashes(request) }
  if (versioned !== 'content')
    return { conditions: readConditions(request, versioned === true && writes, body), hashes: null }
  const { hashes, ...conditions } = readContentConditions(request)
  return { conditions: { ...NONE, ...conditions }, hashes }
}

function refuseBody(body: unknown): undefined {
  if (body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0))
    return undefined
  throw invalid({ path: '', code: 'unexpected_body', message: 'This request must not have a body.' })
}

/** The body may repeat the id of the path, but not differ from it. */
function checkSameId(params: unknown, body: unknown): void {
  const { id } = params as { id?: unknown }
  const { id: sent = id } = (body ?? {}) as { id?: unknown }
  if (id === undefined || sent === id) return
  throw invalid({
    path: '/id',
    code: 'disagrees',
    message: 'The id in the body differs from the id in the path. Leave it out, or send the same id.',
    expected: id,
    received: sent,
  })
}

/** The Idempotency-Key of a request, or null. @throws VALIDATION_ERROR */
export function readKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && isIdempotencyKey(key)) return key
  throw invalid({
    path: 'header/Idempotency-Key',
    code: 'invalid_key',
    message: 'An Idempotency-Key must have 1 to 255 visible ASCII characters.',
  })
}

/**
 * The parts that identify a request for idempotency: surface, method, canonical path, query, preconditions
 * and body.
 */
export function partsNamed(
  request: FastifyRequest,
  path: string,
  body: unknown = request.body ?? null,
): readonly unknown[] {
  const { 'if-match': match, 'if-none-match': none } = request.headers
  return ['rest', request.method, path, request.params, request.query, match ?? null, none ?? null, body]
}
