import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errorBody, FAILURES, invalid } from '../../foundation/errors.ts'
import type { BodySizes } from '../../http/body.ts'
import type { CallerHooks } from '../../http/caller.ts'
import { notFound, refusal } from '../../http/errors.ts'
import { PAGE_POLICY } from '../../http/html-page.ts'
import type { Charge } from '../../http/rate-limit.ts'
import { renderInWorker } from '../../http/render-in-worker.ts'
import { SharedDocument } from '../../http/shared-document.ts'
import { openEnded } from '../../http/sse.ts'
import { checkTextSize } from './query-limits.ts'
import type { openYoga } from './yoga.ts'

type Options = {
  visit: (request: FastifyRequest) => Promise<void>
  charge: Charge
  sizes: BodySizes
  graphqlCost: number
}
const EVENT_STREAM = 'text/event-stream'

/** Serves `/graphql`: POST with a token, and the GraphiQL page for browsers. */
export function playground(caller: CallerHooks, { visit, charge, sizes, graphqlCost }: Options) {
  return async (app: FastifyInstance): Promise<void> => {
    // Load GraphiQL at the first request: it is large, and most servers never serve it.
    const page = new SharedDocument(async () => ({
      type: 'text/html; charset=utf-8',
      body: await renderInWorker<Uint8Array>(import.meta.url, './graphiql'),
    }))
    let yoga: Promise<ReturnType<typeof openYoga>> | undefined

    app.setErrorHandler((thrown, request, reply) => {
      const error = refusal(thrown, request, reply)
      const { message, ...extensions } = errorBody(error, request.id).error
      return reply.code(FAILURES[error.code].status).send({ errors: [{ message, extensions }] })
    })
    app.get('/graphql', { onRequest: visit }, async (request, reply) => {
      if (!request.headers.accept?.includes('text/html')) throw notFound(request)
      return page.send(request, reply.header('content-security-policy', PAGE_POLICY))
    })
    app.post('/graphql', { ...caller, bodyLimit: sizes.record }, async (request, reply) => {
      if (request.headers['idempotency-key'] !== undefined)
        throw invalid({
          path: 'header/Idempotency-Key',
          code: 'not_here',
          message: 'In GraphQL the key is an argument of each mutation: idempotencyKey.',
        })
      const [unknown] = Object.keys(request.query as object)
      if (unknown !== undefined)
        throw invalid({
          path: `query/${unknown.slice(0, 64)}`,
          code: 'unknown_key',
          message: 'The URL takes no parameters. Send query, variables and operationName in the body.',
        })
      checkTextSize((request.body as { query?: unknown } | null | undefined)?.query)
      // Restrict content negotiation to JSON and event streams. Subscriptions support only streams.
      const streams = request.headers.accept?.includes(EVENT_STREAM) ?? false
      request.raw.headers.accept = streams ? EVENT_STREAM : 'application/json'
      yoga ??= import('./yoga.ts').then(({ openYoga }) => openYoga(graphqlCost))
      const response = await (await yoga).handleNodeRequestAndResponse(request, reply, {
        served: request,
        charge: (fields) => charge(request, reply, fields),
      })
      for (const [name, value] of response.headers) reply.header(name, value)
      if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM))
        return reply.code(response.status).send(await response.text())
      openEnded(reply)
      return reply.code(response.status).send(response.body)
    })
  }
}
