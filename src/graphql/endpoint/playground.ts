import negotiator from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseNul } from '../../contract/validate.ts'
import { errorBody, FAILURES, invalid } from '../../foundation/errors.ts'
import type { BodySizes } from '../../http/body.ts'
import type { CallerHooks } from '../../http/caller.ts'
import { notFound, refusal } from '../../http/errors.ts'
import { matches } from '../../http/if-none-match.ts'
import type { Charge } from '../../http/rate-limit.ts'
import { openEnded } from '../../http/sse.ts'
import type { LazySchema } from '../base/lazy-schema.ts'
import type { Context } from '../context.ts'
import { PLAYGROUND_POLICY, playgroundFiles, playgroundPage } from './playground-page.ts'
import { checkTextSize } from './query-limits.ts'
import type { openYoga } from './yoga.ts'

type Options = {
  visit: (request: FastifyRequest) => Promise<void>
  charge: Charge
  sizes: BodySizes
  graphqlCost: number
}
const EVENT_STREAM = 'text/event-stream'
const GRAPHQL_ANSWER = 'application/graphql-response+json'
const JSON_ANSWER = 'application/json'

const PAGE = '/graphql'
const BASE_PAGE = '/graphql/:base'
const ENDPOINT_PAGE = `${BASE_PAGE}/e/:endpoint`

/**
 * Serves `/graphql`, and `/graphql/{base}` with the schema of a base: POST with a token, the GraphiQL page for
 * browsers, and the schema as text.
 */
export function playground(caller: CallerHooks, { visit, charge, sizes, graphqlCost }: Options) {
  return async (app: FastifyInstance): Promise<void> => {
    type Yoga = ReturnType<typeof openYoga>
    let yoga: Promise<Yoga> | undefined
    let baseYoga: Promise<Yoga> | undefined

    app.setErrorHandler((thrown, request, reply) => {
      const error = refusal(thrown, request, reply)
      const { message, ...extensions } = errorBody(error, request.id).error
      return reply.code(FAILURES[error.code].status).send({ errors: [{ message, extensions }] })
    })
    for (const path of [PAGE, BASE_PAGE, ENDPOINT_PAGE] as const)
      app.get(path, { onRequest: visit }, async (request, reply) => {
        if (!request.headers.accept?.includes('text/html')) throw notFound(request)
        return playgroundPage.send(request, reply.header('content-security-policy', PLAYGROUND_POLICY))
      })

    playgroundFiles(app, visit)

    const serve = async (
      server: Yoga,
      request: FastifyRequest,
      reply: FastifyReply,
      typed?: Typed,
    ): Promise<FastifyReply> => {
      // Restrict content negotiation to JSON and event streams. Subscriptions support only streams.
      const type = answerType(request.headers.accept)
      request.raw.headers.accept = type ?? JSON_ANSWER
      const response = await server.handleNodeRequestAndResponse(request, reply, {
        served: request,
        isLegacy: type === JSON_ANSWER,
        charge: (fields) => charge(request, reply, fields),
        ...(typed && { base: typed.schema, context: typed.context }),
      })
      for (const [name, value] of response.headers) reply.header(name, value)
      if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM))
        return reply.code(response.status).send(await response.text())
      openEnded(reply)
      return reply.code(response.status).send(response.body)
    }
    app.post(PAGE, { ...caller, bodyLimit: sizes.record }, async (request, reply) => {
      checkRequest(request)
      yoga ??= import('./yoga.ts').then(({ openYoga }) => openYoga(graphqlCost))
      return serve(await yoga, request, reply)
    })
    const serveBase = async (request: FastifyRequest<OfBase>, reply: FastifyReply) => {
      checkRequest(request)
      const { query } = (request.body ?? {}) as { query?: unknown }
      const typed = await typedFor(request, typeof query === 'string' ? query : '')
      baseYoga ??= import('./yoga.ts').then(({ openBaseYoga }) => openBaseYoga(graphqlCost))
      return serve(await baseYoga, request, reply, typed)
    }
    const sendSchema = async (request: FastifyRequest<OfBase>, reply: FastifyReply) => {
      refuseParameters(request)
      const { textOf } = await import('../base/schemas.ts')
      const { seen } = (await typedFor(request, '')).schema
      const { text, etag } = await textOf(seen)
      reply.header('etag', etag).header('cache-control', 'private, no-cache')
      if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('text/plain; charset=utf-8').send(text)
    }
    for (const path of [BASE_PAGE, ENDPOINT_PAGE]) {
      app.post<OfBase>(path, { ...caller, bodyLimit: sizes.record }, serveBase)
      app.get<OfBase>(`${path}/schema.graphql`, caller, sendSchema)
    }
  }
}

/** The type of the answer that the client asks for; null if it names none. */
function answerType(accept = ''): string | null {
  if (accept.includes(EVENT_STREAM)) return EVENT_STREAM
  // The client names a charset, but JSON has only one.
  return negotiator.negotiate(accept.replace(/;\s*charset=[^;,]*/gi, ''), [GRAPHQL_ANSWER, JSON_ANSWER])
}

type OfBase = { Params: { base: string; endpoint?: string } }
/** A schema for the caller, and the context in which its queries run. */
type Typed = { schema: LazySchema; context: Context }

/** The schema of the base or endpoint of the address. */
async function typedFor({ caller, params }: FastifyRequest<OfBase>, query: string): Promise<Typed> {
  refuseNul(params, 'path')
  const { base, endpoint } = params
  if (endpoint === undefined) {
    const { schemaOf } = await import('../base/schemas.ts')
    return { schema: await schemaOf(caller, base, query), context: caller }
  }
  const { schemaAtEndpoint } = await import('../base/at-endpoint.ts')
  return schemaAtEndpoint(caller, { base, endpoint }, query)
}

/** Headers of a REST write. A document can have several writes, so that each says these things in arguments. */
const WRITE_HEADERS = {
  'Idempotency-Key': 'In GraphQL the key is an argument of each mutation: idempotencyKey.',
  'If-Match': 'In GraphQL the expected version is an argument of each mutation that checks it.',
  'If-None-Match': 'In GraphQL, send a create mutation, or the argument mustBeAbsent of a put.',
}

/** @throws VALIDATION_ERROR */
function checkRequest(request: FastifyRequest): void {
  for (const [name, message] of Object.entries(WRITE_HEADERS))
    if (request.headers[name.toLowerCase()] !== undefined)
      throw invalid({ path: `header/${name}`, code: 'not_here', message })
  refuseParameters(request)
  checkTextSize((request.body as { query?: unknown } | null | undefined)?.query)
}

function refuseParameters(request: FastifyRequest): void {
  const [unknown] = Object.keys(request.query as object)
  if (unknown !== undefined)
    throw invalid({
      path: `query/${unknown.slice(0, 64)}`,
      code: 'unknown_key',
      message: 'The URL takes no parameters. Send query, variables and operationName in the body.',
    })
}
