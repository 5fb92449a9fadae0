/** Sends the success response of a route: status, ETag, Location, or 304 if the client's copy is current. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { textOfList } from '../../json/rows.ts'
import { etagOf, matches } from './preconditions.ts'

export type Reply = { status?: number; body: object; location?: string }

/** The content type that Fastify sets for objects. */
const JSON_CHARSET = 'application/json; charset=utf-8'

export function send(request: FastifyRequest, reply: FastifyReply, answer: Reply, replayed: boolean) {
  const { status = 200, body, location } = answer
  const etag = etagOf(body)
  if (etag) reply.header('etag', etag)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if (status === 201 && location) reply.header('location', location)
  if (request.method === 'GET' && etag && matches(request.headers['if-none-match'], etag))
    return reply.code(304).send()
  const text = textOfList(body)
  if (text === undefined) return reply.code(status).send(body)
  reply.code(status).type(JSON_CHARSET)
  return typeof text === 'string' ? reply.send(text) : text.then((whole) => reply.send(whole))
}
