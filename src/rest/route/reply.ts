/** Sends the success response of a route: status, ETag, Location, or 304 if the client's copy is current. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { DomainError, withPaths } from '../../foundation/errors.ts'
import { openContent } from '../../graphql/content.ts'
import { matches } from '../../http/content-headers.ts'
import { type Content, sendContent } from '../../http/send-content.ts'
import { textOfList } from '../../json/rows.ts'
import { jsonInTurns } from '../../json/write.ts'
import { etagOf } from './preconditions.ts'

export type Reply = {
  status?: number
  body: object
  /** The body can be large, and is written in short turns. */
  isLarge?: true
  location?: string
  /** The ETag, if it is not the version in the body. */
  etag?: string
  /** Another form of the body, if the client asked for it. */
  text?: { type: string; make: () => Promise<string> }
  /** The content of a file, in place of the body. */
  content?: Content
}

/** The content type that Fastify sets for objects. */
const JSON_CHARSET = 'application/json; charset=utf-8'

export function send(request: FastifyRequest, reply: FastifyReply, answer: Reply, replayed: boolean) {
  const { status = 200, body, location, content } = answer
  if (content)
    return sendContent(request, reply, content, (range) => openContent(request.caller, content, range))
  const etag = answer.etag ?? etagOf(body, request.caller.write.seenIn)
  if (etag) reply.header('etag', etag)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if (status === 201 && location) reply.header('location', location)
  const reads = request.method === 'GET' || request.method === 'HEAD'
  if (reads && etag && matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (answer.text) {
    reply.code(status).type(answer.text.type)
    return answer.text.make().then((whole) => reply.send(whole))
  }
  const text = answer.isLarge ? jsonInTurns(body) : textOfList(body)
  if (text === undefined) return reply.code(status).send(body)
  reply.code(status).type(JSON_CHARSET)
  return typeof text === 'string' ? reply.send(text) : text.then((whole) => reply.send(whole))
}

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
  const params = request.params as object
  const renamed = spec.renamed?.[first]
  const isQuery = (name: string) => spec.query !== undefined && Object.hasOwn(spec.query.shape, name)
  if (renamed !== undefined) return `${isQuery(renamed) ? 'query' : 'path'}/${renamed}${rest}`
  if (first === 'expected_version' || first === 'expected_hash') return 'header/If-Match'
  if (Object.hasOwn(params, first)) return `path/${first}${rest}`
  if (isQuery(first)) return `query/${first}${rest}`
  return path
}
