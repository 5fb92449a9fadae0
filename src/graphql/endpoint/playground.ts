import negotiator from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { refuseNul } from '../../contract/validate.ts'
import { errorBody, FAILURES } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { BodySizes } from '../../http/body.ts'
import type { CallerHooks } from '../../http/caller.ts'
import { matches } from '../../http/content-headers.ts'
import { refusal } from '../../http/errors.ts'
import { asksForPage } from '../../http/html-page.ts'
import type { Charge } from '../../http/rate-limit.ts'
import { openEnded } from '../../http/sse.ts'
import { jsonInTurns } from '../../json/write.ts'
import { readTypes } from '../base/base-view.ts'
import { endpointSchema } from '../base/endpoint-schema.ts'
import { LazySchema } from '../base/lazy-schema.ts'
import { schemaOf, textOf } from '../base/schemas.ts'
import { atAddress, refuseChangeSet } from '../change-sets.ts'
import type { Context } from '../context.ts'
import { schema } from '../schema.ts'
import { namedBase } from './named-base.ts'
import { PLAYGROUND_POLICY, playgroundFiles, playgroundPage } from './playground-page.ts'
import { type RepeatedQuery, repeatedQuery, runRepeated } from './repeated-queries.ts'
import { checkRequest, isWithoutText, refuseParameters, type Sent } from './sent-request.ts'
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
      server: () => Promise<Yoga>,
      request: FastifyRequest,
      reply: FastifyReply,
      { schema: of, context }: Place,
      repeated: RepeatedQuery | undefined,
    ): Promise<FastifyReply> => {
      // Restrict content negotiation to JSON and event streams. Subscriptions support only streams.
      const type = answerType(request.headers.accept)
      const chargeFields = (fields: number) => charge(request, reply, fields)
      let result: ExecutionResult | undefined
      if (repeated && type !== EVENT_STREAM) {
        result = await runRepeated(repeated, {
          schema: of,
          context,
          maxCost: graphqlCost,
          charge: chargeFields,
        })
        const text = result.errors ? undefined : await jsonInTurns(result.data, LIMITS.graphqlAnswerBytes)
        if (text !== undefined)
          return reply.type(`${type ?? JSON_ANSWER}; charset=utf-8`).send(`{"data":${text}}`)
      }
      request.raw.headers.accept = type ?? JSON_ANSWER
      const response = await (await server()).handleNodeRequestAndResponse(request, reply, {
        served: request,
        isLegacy: type === JSON_ANSWER,
        charge: chargeFields,
        context,
        ...(of instanceof LazySchema && { base: of }),
        ...(result && { result }),
      })
      for (const [name, value] of response.headers) reply.header(name, value)
      if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM))
        return reply.code(response.status).send(await response.text())
      openEnded(reply)
      return reply.code(response.status).send(response.body)
    }
    const openAll = () => {
      yoga ??= import('./yoga.ts').then(({ openYoga }) => openYoga(graphqlCost))
      return yoga
    }
    const openBase = () => {
      baseYoga ??= import('./yoga.ts').then(({ openBaseYoga }) => openBaseYoga(graphqlCost))
      return baseYoga
    }
    const serveAll = async (request: FastifyRequest, reply: FastifyReply) => {
      const sent = checkRequest(request)
      if (isWithoutText(sent)) return persistedNotFound(request, reply)
      request.calledBase = () => namedBase(sent)
      const place = { schema, context: request.caller }
      return serve(openAll, request, reply, place, repeatedBy(request, schema, sent))
    }
    const serveBase = async (request: FastifyRequest<OfBase>, reply: FastifyReply) => {
      const sent = checkRequest(request)
      if (isWithoutText(sent)) return persistedNotFound(request, reply)
      const typed = await typedFor(request, sent)
      const repeated = repeatedBy(request, typed.schema, sent)
      if (!repeated) await readTypes(typed.schema.seen, typeof sent.query === 'string' ? sent.query : '')
      return serve(openBase, request, reply, typed, repeated)
    }
    const sendSchema = async (request: FastifyRequest<OfBase>, reply: FastifyReply) => {
      refuseParameters(request)
      const { seen } = (await typedFor(request)).schema
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
type Place = { schema: GraphQLSchema; context: Context }

/** The schema of the base or endpoint of the address. */
async function typedFor(
  { caller, params }: FastifyRequest<OfBase>,
  sent?: Sent,
): Promise<Place & { schema: LazySchema }> {
  refuseNul(params, 'path')
  const { base, endpoint } = params
  if (endpoint === undefined) {
    const at = await atAddress(caller, base, mayWrite(sent))
    return { schema: await schemaOf(at.context, at.base), context: at.context }
  }
  await refuseChangeSet(caller, base)
  return endpointSchema(caller, { base, endpoint }, mayWrite(sent))
}

/** Whether the request may write. No mutation is without the word. */
const mayWrite = (sent: Sent | undefined): boolean =>
  typeof sent?.query === 'string' && /\bmutation\b/.test(sent.query)

/** A query by GET is left to yoga, which refuses other operations. */
const repeatedBy = ({ method }: FastifyRequest, schema: GraphQLSchema, sent: Sent) =>
  method === 'POST' ? repeatedQuery(schema, sent) : undefined

/** No cache may keep the answer to a query by GET for others. */
const byGet = (reply: FastifyReply) => reply.header('cache-control', 'private, no-cache')

/** No queries are kept here: the client then sends the text. The code and the message are those that clients know. */
function persistedNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const type = answerType(request.headers.accept) === GRAPHQL_ANSWER ? GRAPHQL_ANSWER : JSON_ANSWER
  const extensions = { code: 'PERSISTED_QUERY_NOT_FOUND', request_id: request.id }
  return reply
    .code(type === JSON_ANSWER ? 200 : 400)
    .type(`${type}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message: 'PersistedQueryNotFound', extensions }] }))
}
