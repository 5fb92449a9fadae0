import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { isIdempotencyKey } from '../contract/ids.ts'
import { check, inBody, inPart, type Place } from '../contract/validate.ts'
import { DomainError, invalid, withPaths } from '../foundation/errors.ts'
import type { Need } from '../graphql/context.ts'
import type { TadaDocumentNode } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import type { BodySizes } from '../http/body.ts'
import { textOfList } from '../json/rows.ts'
import { spellings } from './aliases.ts'
import { type Conditions, etagOf, matches, readConditions } from './conditions.ts'
import { partsNamed } from './fingerprint.ts'
import { queryShape, readQuery } from './query.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Shape = z.ZodType
export type Reply = { status?: number; body: object; location?: string }

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

export type Parts<P, Q, B> = { params: P; query: Q; body: B; mediaType: string; conditions: Conditions }

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

const JSON_TYPE = 'application/json'
/** As the framework names it for objects. */
const JSON_CHARSET = 'application/json; charset=utf-8'

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

/** The parts of a request, held to the shapes of its row. @throws VALIDATION_ERROR */
export function readParts<P extends Shape, Q extends z.ZodObject, B extends Shape>(
  spec: {
    params?: P
    query?: Q
    body?: B
    bodyOf?: (mediaType: string) => z.ZodType<z.output<B>>
    versioned?: boolean
  },
  queryOf: z.ZodObject,
  request: FastifyRequest,
  writes: boolean,
): Parts<z.output<P>, z.output<Q>, z.output<B>> {
  refuseNul(request.params, inPart('path'))
  refuseNul(request.query, inPart('query'))
  const params = spec.params ? check(spec.params, request.params, inPart('path')) : request.params
  const query = readQuery(queryOf, request.query as Record<string, unknown>)
  const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? JSON_TYPE
  const shape = spec.bodyOf?.(mediaType) ?? spec.body
  const body = shape ? check(shape, request.body, inBody()) : refuseBody(request.body)
  demandSameId(params, body)
  const conditions = readConditions(request, spec.versioned === true && writes, body)
  return { params, query, body, mediaType, conditions } as Parts<z.output<P>, z.output<Q>, z.output<B>>
}

/** A percent-escape can say what no stored text can hold. */
function refuseNul(values: unknown, place: Place): void {
  const named = Object.entries(values as object).find(([, value]) => String(value).includes('\0'))
  if (!named) return
  throw invalid({ path: place([named[0]]), code: 'invalid_text', message: 'Text holds no NUL (%00).' })
}

function refuseBody(body: unknown): undefined {
  if (body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0))
    return undefined
  throw invalid({ path: '', code: 'unexpected_body', message: 'This request must not have a body.' })
}

/** An id in the body repeats the path's, or the request means two things. */
function demandSameId(params: unknown, body: unknown): void {
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

/** @throws VALIDATION_ERROR */
function readKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && isIdempotencyKey(key)) return key
  throw invalid({
    path: 'header/Idempotency-Key',
    code: 'invalid_key',
    message: 'An Idempotency-Key must have 1 to 255 visible ASCII characters.',
  })
}

function send(request: FastifyRequest, reply: FastifyReply, answer: Reply, replayed: boolean) {
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

/** Details name arguments; here they are renamed after the part of the request that carried them. */
export function placed(thrown: unknown, request: FastifyRequest, spec: Placing, replayed: boolean): unknown {
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
