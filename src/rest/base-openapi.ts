import { z } from 'zod'
import type { CachedText } from '../foundation/text-cache.ts'
import type { Context } from '../graphql/context.ts'
import { matches } from '../http/content-headers.ts'
import { sendSlices } from '../http/shared-document.ts'
import { injectedRead } from './route/injected-read.ts'
import type { Route } from './route/route.ts'
import { baseAccess, baseId } from './route/shapes.ts'

/** Describes a base. Injected by the server, because the description is made of all routes. */
type DescribeBase = (caller: Context, base: string) => Promise<CachedText>

declare module 'fastify' {
  interface FastifyInstance {
    describeBase: DescribeBase
  }
}

const spec = {
  tag: 'Bases',
  summary: 'Describe the records of a base in OpenAPI 3.1',
  description:
    'Paths, schemas and filters of the record types that the token can read, for generators of clients. Poll it with `If-None-Match`.',
  need: baseAccess,
  params: z.strictObject({ base_id: baseId() }),
  answers: z.record(z.string(), z.unknown()),
  headers: [['If-None-Match', 'ETags that the client has. 304 if the description is one of them.']] as const,
}

/** REST route of the OpenAPI description of one base. */
export const baseOpenapi: readonly Route[] = [
  injectedRead('/:base_id/openapi.json', spec, async ({ params }, request, reply) => {
    const { text, etag } = await request.server.describeBase(request.caller, params.base_id)
    reply.header('etag', etag)
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return sendSlices(reply.type('application/json; charset=utf-8'), Buffer.from(text))
  }),
]
