import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Need } from '../../graphql/context.ts'
import type { TadaDocumentNode } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import type { BodySizes } from '../../http/body.ts'
import { spellings } from './aliases.ts'
import { placed } from './error-place.ts'
import { partsNamed } from './fingerprint.ts'
import { queryShape } from './query.ts'
import { type Reply, send } from './reply.ts'
import { JSON_TYPE, type Parts, readKey, readParts } from './request-parts.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Shape = z.ZodType

/** One row of the /v1 contract: an HTTP shape, a GraphQL operation, and how each maps onto the other. */
type Spec<P extends Shape, Q extends z.ZodObject, B extends Shape, Result, Variables> = {
  summary: string
  tag: string
  params?: P
  query?: Q
  body?: B
  /** The body by its media type, where that decides. */
  bodyOf?: (mediaType: string) => z.ZodType<z.output<B>>
  /** The media types of the body; JSON when left out. */
  accepts?: readonly string[]
  /** How large the body may be; small when left out. */
  size?: keyof BodySizes
  /** What the token must hold, asked before the shape is looked at. */
  need: (params: Record<string, string>) => Need
  operation: TadaDocumentNode<Result, Variables>
  variables: (request: Parts<z.output<P>, z.output<Q>, z.output<B>>) => Loose<Variables>
  reply: (data: Result, request: Parts<z.output<P>, z.output<Q>, z.output<B>>) => Reply
  /** The body of a success, for the printed contract. */
  answers: Shape
  /** What a success may be: 200 when left out. */
  statuses?: readonly [number, ...number[]]
  /** Does the resource have a version that a write can be conditional on? */
  versioned?: boolean
  /** Parameters of the query by the arguments they fill, where those have other names. */
  renamed?: Readonly<Record<string, string>>
}

/** Variables as a row gives them: what may be left out may be undefined. */
export type Loose<V> = V extends readonly unknown[]
  ? V
  : V extends object
    ? {
        [K in keyof V]:
          | Loose<V[K]>
          | (undefined extends V[K] ? undefined : object extends Pick<V, K> ? undefined : never)
      }
    : V

/** A row, ready to be mounted and printed. */
export type Route = {
  id: string
  method: Method
  path: string
  writes: boolean
  spec: Pick<
    Spec<Shape, z.ZodObject, Shape, unknown, unknown>,
    'summary' | 'tag' | 'params' | 'query' | 'body' | 'accepts' | 'answers' | 'statuses' | 'versioned'
  >
  /** Its answers follow each other without end, as Server-Sent Events. */
  streams?: true
  mount: (app: FastifyInstance, sizes: BodySizes) => void
}

export function route<P extends Shape, Q extends z.ZodObject, B extends Shape, Result, Variables>(
  id: `${Method} /${string}`,
  spec: Spec<P, Q, B, Result, Variables>,
): Route {
  const [method, path] = id.split(' ') as [Method, string]
  const run = compile(spec.operation)
  const writes = spec.operation.definitions.some(
    (part) => 'operation' in part && part.operation === 'mutation',
  )
  if (method === 'GET' && writes) throw new Error(`${id} is a GET with a mutation`)
  const queryOf = queryShape(spec.query, writes)

  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const parts = readParts(spec, queryOf, request, writes)
    const context = request.caller
    if (writes) {
      const { dry_run = false } = parts.query as { dry_run?: boolean }
      Object.assign(context.write, {
        dryRun: dry_run,
        idempotencyKey: readKey(request),
        request: () => partsNamed(request, path),
      })
    }
    const data = await run(spec.variables(parts) as Variables, context).catch((thrown: unknown) => {
      throw placed(thrown, request, spec, context.write.replayed)
    })
    return send(request, reply, spec.reply(data, parts), context.write.replayed)
  }

  return {
    id,
    method,
    path,
    writes,
    spec,
    mount(app, sizes) {
      for (const url of spellings(path))
        app.route({
          method,
          url,
          handler: handle,
          bodyLimit: sizes[spec.size ?? 'small'],
          config: { need: spec.need, accepts: spec.accepts ?? [JSON_TYPE], onlyAsks: !writes },
        })
    },
  }
}
