/** What a REST route is: a row of shapes and one GraphQL operation. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode } from 'graphql'
import type { z } from 'zod'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { writesDrafts } from '../../graphql/change-sets.ts'
import type { Context, Need } from '../../graphql/context.ts'
import type { TadaDocumentNode } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import type { BodySizes } from '../../http/body.ts'
import { hasStreamedBody } from '../../http/streamed-bodies.ts'
import { spellings } from './aliases.ts'
import { byName, type Named } from './by-name.ts'
import { inChangeSet, withChangeSet } from './change-set.ts'
import { cutReply, cutsJson, takeMaxString, takingMaxString, withCuts, withMaxString } from './max-string.ts'
import { takePlan } from './plan-fields.ts'
import { queryShape } from './query.ts'
import { atRequest, type Reply, send } from './reply.ts'
import { JSON_TYPE, type Parts, partsNamed, readKey, readParts, type Versioned } from './request-parts.ts'
import { type RowsAnswer, type RowType, refuseWhole, rowTypeOf, sendRows } from './rows.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Shape = z.ZodType

/** One route of /v1: HTTP shapes, a GraphQL operation, and the mapping between them. */
type Spec<P extends Shape, Q extends z.ZodObject, B extends Shape, Result, Variables> = {
  summary: string
  /** More than the summary says. */
  description?: string
  params?: P
  query?: Q
  body?: B
  /** Selects the body shape by media type, if it depends on it. */
  bodyOf?: (mediaType: string) => z.ZodType<z.output<B>>
  /** Accepted media types; JSON by default. */
  accepts?: readonly string[]
  /** Media types of bodies that stream, and what reads one: the result is then the body. */
  streams?: readonly string[] | '*'
  receive?: (request: FastifyRequest, params: z.output<P>) => Promise<unknown>
  /** Shapes of bodies in the description, if they are others than those that are checked. */
  described?: Readonly<Record<string, Shape>>
  /** Size limit of the body; `small` by default. */
  size?: keyof BodySizes
  /** Required permission, checked before the shape. */
  need: (params: Record<string, string>) => Need
  operation: TadaDocumentNode<Result, Variables>
  /** By default the parameters, the members of the body and the preconditions, each by its name. */
  variables?: (request: Parts<z.output<P>, z.output<Q>, z.output<B>>) => Loose<Variables>
  /** Answers rows in a format that the client prefers to JSON. */
  rows?: (variables: Variables, context: Context, type: RowType) => Promise<RowsAnswer>
  /** Whether `max_string` cuts the strings of the answer. */
  cuts?: true
  /** By default the one field of the operation, which is a list if its name is `page`. */
  reply?: (data: Result, request: Parts<z.output<P>, z.output<Q>, z.output<B>>) => Reply
  /** Success body, for the OpenAPI description. */
  answers: Shape
  /** Success status codes; 200 by default. */
  statuses?: readonly [number, ...number[]]
  /** What writes can have as a precondition: the version of the resource, or a hash of it. */
  versioned?: Versioned
  /** Whether the write can return a plan first: if the body asks for it, or always. */
  plans?: 'asked' | 'always'
  /** GraphQL argument to parameter of the path or the query, where the names differ. */
  renamed?: Readonly<Record<string, string>>
}

/** A row that leaves its variables out has them in the request. */
type Unsaid<P extends Shape, Q extends Shape, B extends Shape, Variables> =
  Named<z.output<P>, z.output<Q>, z.output<B>> extends Loose<Variables> ? unknown : { variables: unknown }

/** Variables of a route: optional ones may be undefined. */
export type Loose<V> = V extends readonly unknown[]
  ? V
  : V extends object
    ? {
        [K in keyof V]:
          | Loose<V[K]>
          | (undefined extends V[K] ? undefined : object extends Pick<V, K> ? undefined : never)
      }
    : V

/** A compiled route, ready to mount and to print. */
export type Route = {
  id: string
  method: Method
  path: string
  writes: boolean
  spec: Pick<
    Spec<Shape, z.ZodObject, Shape, unknown, unknown>,
    | 'summary'
    | 'description'
    | 'need'
    | 'params'
    | 'query'
    | 'body'
    | 'bodyOf'
    | 'described'
    | 'accepts'
    | 'answers'
    | 'statuses'
    | 'versioned'
  > & {
    tag: string
    /** The request body, or the success response, is a content of any type. */
    content?: 'body' | 'answer'
    /** Request headers of its own: name and description. */
    headers?: readonly (readonly [name: string, description: string])[]
  }
  /** Whether the response is an event stream (Server-Sent Events). */
  streams?: true
  /** Whether rows are answered as CSV and NDJSON too. */
  rows?: true
  mount: (app: FastifyInstance, sizes: BodySizes) => void
}

/** A route whose list says its tag. */
export type Row = Omit<Route, 'spec'> & { spec: Omit<Route['spec'], 'tag'> & { tag?: string } }

/** The routes of a noun, under the tag that the description groups them by. */
export const tagged = (tag: string, rows: readonly Row[]): Route[] =>
  rows.map((row) => ({ ...row, spec: { tag, ...row.spec } }))

export function route<P extends Shape, Q extends z.ZodObject, B extends Shape, Result, Variables>(
  id: `${Method} /${string}`,
  spec: Spec<P, Q, B, Result, Variables> & Unsaid<P, Q, B, Variables>,
): Row {
  const [method, path] = id.split(' ') as [Method, string]
  const run = compile(spec.operation)
  const writes = spec.operation.definitions.some(
    (part) => 'operation' in part && part.operation === 'mutation',
  )
  if (method === 'GET' && writes) throw new Error(`${id} is a GET with a mutation`)
  const canPropose = writes && writesDrafts(spec.operation as DocumentNode)
  const answers = canPropose ? withChangeSet(spec.answers) : spec.answers
  const body = spec.cuts ? takingMaxString(spec.body) : spec.body
  const queryOf = spec.cuts ? withMaxString(queryShape(spec.query, writes)) : queryShape(spec.query, writes)

  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    if (spec.receive && hasStreamedBody(request)) request.body = await receive(request, reply, spec.receive)
    const plan = spec.plans ? await takePlan(request, path, spec.plans === 'always') : null
    const { most, ...parts } = takeMaxString(
      readParts({ ...spec, ...(body && { body }) }, queryOf, request, writes),
      spec.cuts,
    )
    const context = request.caller
    if (writes) {
      const { dry_run = false } = parts.query as { dry_run?: boolean }
      Object.assign(context.write, {
        dryRun: dry_run,
        idempotencyKey: readKey(request),
        request: () => partsNamed(request, path),
        plan,
      })
    }
    const answer = async () => {
      const variables = (spec.variables ?? byName)(parts) as Variables
      const type = spec.rows && rowTypeOf(request)
      if (type && most !== undefined) throw cutsJson(request.query)
      if (spec.rows && type)
        return await sendRows(request, reply, type, await spec.rows(variables, context, type))
      if (spec.rows) refuseWhole(variables as object)
      return await run(variables, context)
    }
    const data = await answer().catch((thrown: unknown) => {
      throw atRequest(thrown, request, spec, context.write.replayed)
    })
    if (reply.sent) return reply
    const whole = spec.reply?.(data, parts) ?? replyOf(data as object, spec.statuses)
    const told = inChangeSet(whole, writes ? context.write.changeSet : null)
    const answered = most === undefined ? told : await cutReply(told, most)
    return send(request, reply, answered, context.write.replayed)
  }

  /** Checks what comes before a body, and then reads it. */
  const receive = async (
    request: FastifyRequest,
    reply: FastifyReply,
    read: NonNullable<typeof spec.receive>,
  ): Promise<unknown> => {
    try {
      request.body = undefined
      const { params } = readParts({ ...(spec.params && { params: spec.params }) }, queryOf, request, false)
      return await read(request, params)
    } catch (thrown) {
      // The rest of the body is not read.
      if (!request.raw.complete) reply.header('connection', 'close')
      throw atRequest(thrown, request, spec, false)
    }
  }

  return {
    id,
    method,
    path,
    writes,
    spec: spec.cuts
      ? { ...spec, ...(body && { body }), query: withMaxString(spec.query), answers: withCuts(answers) }
      : { ...spec, answers },
    ...(spec.rows && { rows: true }),
    mount(app, sizes) {
      for (const url of spellings(path))
        app.route({
          method,
          url,
          handler: handle,
          bodyLimit: sizes[spec.size ?? 'small'],
          config: {
            need: spec.need,
            accepts: spec.accepts ?? [JSON_TYPE],
            onlyAsks: !writes,
            isBulk: spec.size === 'bulk',
            ...(spec.streams && { streams: spec.streams }),
          },
        })
    },
  }
}

/** What the one field says. Its status is that of the row, if that has one. */
function replyOf(data: object, [status, ...others]: readonly number[] = []): Reply {
  const [[name, value] = []] = Object.entries(data)
  const body = name === 'page' ? pageBody(value) : trim(value)
  return { body, ...(status !== undefined && others.length === 0 && { status }) }
}
