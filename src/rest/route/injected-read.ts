import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Need } from '../../graphql/context.ts'
import { queryShape } from './query.ts'
import { atRequest } from './reply.ts'
import { readParts } from './request-parts.ts'
import type { Route } from './route.ts'

type InjectedSpec<P extends z.ZodType, Q extends z.ZodObject> = Route['spec'] & {
  params: P
  query?: Q
  need: (params: Record<string, string>) => Need
}

/**
 * Defines a GET route whose response another part of the server makes: the server injects it, so that REST does not
 * depend on that part.
 */
export function injectedRead<P extends z.ZodType, Q extends z.ZodObject>(
  path: `/${string}`,
  spec: InjectedSpec<P, Q>,
  respond: (
    parts: { params: z.output<P>; query: z.output<Q> },
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<unknown>,
): Route {
  const query = queryShape(spec.query, false)
  return {
    id: `GET ${path}`,
    method: 'GET',
    path,
    writes: false,
    spec,
    mount: (app) =>
      app.route({
        method: 'GET',
        url: path,
        handler: async (request, reply) => {
          const parts = readParts<P, Q, z.ZodType>(spec, query, request, false)
          try {
            return await respond(parts, request, reply)
          } catch (thrown) {
            throw atRequest(thrown, request, spec, false)
          }
        },
        config: { need: spec.need, onlyAsks: true },
      }),
  }
}
