import { createHash } from 'node:crypto'
import negotiator from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { check, inPart, refuseNul } from '../../contract/validate.ts'
import { errorBody, FAILURES, invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import type { BodySizes } from '../../http/body.ts'
import type { CallerHooks } from '../../http/caller.ts'
import { refusal } from '../../http/errors.ts'
import { matches } from '../../http/if-none-match.ts'
import type { Charge } from '../../http/rate-limit.ts'
import { openEnded } from '../../http/sse.ts'
import { parseJson } from '../../json/parse.ts'
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
 * Serves `/graphql`, and `/graphql/{base}` with the schema of a base: POST and GET with a token, the GraphiQL page
 * for browsers, and the schema as text.
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
    const serveAll = async (request: FastifyRequest, reply: FastifyReply) => {
      const sent = checkRequest(request)
      if (isWithoutText(sent)) return persistedNotFound(request, reply)
      yoga ??= import('./yoga.ts').then(({ openYoga }) => openYoga(graphqlCost))
      return serve(await yoga, request, reply)
    }
    const serveBase = async (request: FastifyRequest<OfBase>, reply: FastifyReply) => {
      const sent = checkRequest(request)
      if (isWithoutText(sent)) return persistedNotFound(request, reply)
      const { query } = sent
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
    const page = (request: FastifyRequest, reply: FastifyReply) =>
      playgroundPage.send(request, reply.header('content-security-policy', PLAYGROUND_POLICY))
    const hooks: CallerHooks = {
      onRequest: (request, reply) =>
        asksForPage(request) ? visit(request) : caller.onRequest(request, reply),
      preHandler: (request, reply, done) =>
        asksForPage(request) ? done() : caller.preHandler(request, reply, done),
    }
    app.post(PAGE, { ...caller, bodyLimit: sizes.record }, serveAll)
    app.get(PAGE, hooks, async (request, reply) =>
      asksForPage(request) ? page(request, reply) : serveAll(request, byGet(reply)),
    )
    for (const path of [BASE_PAGE, ENDPOINT_PAGE]) {
      app.post<OfBase>(path, { ...caller, bodyLimit: sizes.record }, serveBase)
      app.get<OfBase>(path, hooks, async (request, reply) =>
        asksForPage(request) ? page(request, reply) : serveBase(request, byGet(reply)),
      )
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

/** Whether a browser asks for the playground. */
const asksForPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true

/** No cache may keep the answer to a query by GET for others. */
const byGet = (reply: FastifyReply) => reply.header('cache-control', 'private, no-cache')

type Sent = { query?: unknown; extensions?: unknown }

/**
 * The request of a POST body, or of the parameters of a GET.
 * @throws VALIDATION_ERROR
 */
function checkRequest(request: FastifyRequest): Sent {
  for (const [name, message] of Object.entries(WRITE_HEADERS))
    if (request.headers[name.toLowerCase()] !== undefined)
      throw invalid({ path: `header/${name}`, code: 'not_here', message })
  if (request.method === 'POST') refuseParameters(request)
  const sent = request.method === 'POST' ? ((request.body ?? {}) as Sent) : readParameters(request)
  checkTextSize(sent.query)
  return sent
}

const PARAMETERS = z.strictObject({
  query: z.string().optional(),
  operationName: z.string().optional(),
  variables: z.string().optional(),
  extensions: z.string().optional(),
})

/** @throws VALIDATION_ERROR */
function readParameters(request: FastifyRequest): Sent {
  const raw = request.query as Record<string, unknown>
  const twice = Object.keys(raw).find((name) => Array.isArray(raw[name]))
  if (twice !== undefined)
    throw invalid({
      path: `query/${twice}`,
      code: 'duplicate',
      message: `"${twice}" is given more than once.`,
    })
  const { query, ...texts } = check(PARAMETERS, raw, inPart('query'))
  const read = (name: 'variables' | 'extensions') => {
    const value = texts[name] === undefined ? undefined : parseJson(texts[name], `query/${name}`)
    if (value === undefined || value === null || isObject(value)) return value
    throw invalid({
      path: `query/${name}`,
      code: 'type',
      message: `"${name}" must be an object as JSON.`,
      expected: 'object',
    })
  }
  read('variables')
  return { ...(query !== undefined && { query }), extensions: read('extensions') }
}

const hashOf = ({ extensions }: Sent): unknown => {
  const persisted = isObject(extensions) ? extensions['persistedQuery'] : undefined
  return isObject(persisted) ? persisted['sha256Hash'] : undefined
}

/**
 * Whether a client names a persisted query and expects the server to have its text.
 * @throws VALIDATION_ERROR for the hash of another text
 */
function isWithoutText(sent: Sent): boolean {
  const hash = hashOf(sent)
  if (hash === undefined || typeof sent.query !== 'string') return hash !== undefined && !sent.query
  if (hash === createHash('sha256').update(sent.query).digest('hex')) return false
  throw invalid({
    path: '/extensions/persistedQuery/sha256Hash',
    code: 'disagrees',
    message: 'The hash is not that of the query. Send the SHA-256 of the text of the query, or leave it out.',
  })
}

/** No queries are kept here: the client then sends the text. The code and the message are those that clients know. */
function persistedNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const type = answerType(request.headers.accept) === GRAPHQL_ANSWER ? GRAPHQL_ANSWER : JSON_ANSWER
  const extensions = { code: 'PERSISTED_QUERY_NOT_FOUND', request_id: request.id }
  return reply
    .code(type === JSON_ANSWER ? 200 : 400)
    .type(`${type}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message: 'PersistedQueryNotFound', extensions }] }))
}

function refuseParameters(request: FastifyRequest): void {
  const [unknown] = Object.keys(request.query as object)
  if (unknown !== undefined)
    throw invalid({
      path: `query/${unknown.slice(0, 64)}`,
      code: 'unknown_key',
      message: 'The URL of a POST takes no parameters. Send query, variables and operationName in the body.',
    })
}
