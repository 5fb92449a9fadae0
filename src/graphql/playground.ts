import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { errorBody, FAILURES, invalid } from '../errors.ts'
import { asDomainError, notFound } from '../http/errors.ts'
import { PAGE_POLICY } from '../http/pages.ts'
import { LIMITS } from '../limits.ts'
import type { Context } from './context.ts'
import { unwrap } from './execute.ts'
import { overLimits } from './limits.ts'
import { schema } from './schema.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
/** What yoga is given beside its own `request`, whose name it would take. */
type Served = { served: FastifyRequest }

/** `/graphql`: POST with a token, and a page with GraphiQL for a browser, whose every byte comes from here. */
export function playground(identify: Hook, { graphqlCost }: { graphqlCost: number }) {
  return async (app: FastifyInstance): Promise<void> => {
    const page = renderGraphiQL({
      title: 'Plinth GraphQL',
      endpoint: '/graphql',
      defaultQuery: WELCOME,
      headers: JSON.stringify({ authorization: 'Bearer plt_your_token' }, null, 2),
      defaultEditorToolsVisibility: 'headers',
      // A token belongs in no browser's storage.
      shouldPersistHeaders: false,
    } as Parameters<typeof renderGraphiQL>[0])
    const yoga = createYoga<Served, Context>({
      schema,
      graphqlEndpoint: '/graphql',
      graphiql: false,
      landingPage: false,
      batching: false,
      cors: false,
      logging: false,
      context: ({ served }: Served) => served.caller,
      parserAndValidationCache: true,
      plugins: [limits(graphqlCost), masking],
      maskedErrors: false,
    })

    app.setErrorHandler((thrown, request, reply) => {
      const error = asDomainError(thrown)
      if (error.code === 'INTERNAL_ERROR')
        request.log.error({ err: error.cause ?? thrown }, 'a request failed')
      if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
      const { message, ...extensions } = errorBody(error, request.id).error
      return reply.code(FAILURES[error.code].status).send({ errors: [{ message, extensions }] })
    })
    app.get('/graphql', async (request, reply) => {
      if (!request.headers.accept?.includes('text/html')) throw notFound()
      return reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page)
    })
    app.post('/graphql', { onRequest: identify }, async (request, reply) => {
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
          message: 'The address takes no parameters: send query, variables and operationName in the body.',
        })
      // One form of answer: for others yoga has streams, and statuses that are not ours.
      request.raw.headers.accept = 'application/json'
      const response = await yoga.handleNodeRequestAndResponse(request, reply, { served: request })
      for (const [name, value] of response.headers) reply.header(name, value)
      return reply.code(response.status).send(await response.text())
    })
  }
}

/** The parser's token limit, and the limits of depth, aliases and cost. */
function limits(maxCost: number): Plugin {
  return {
    onParse: ({ params }) => {
      params.options = { ...params.options, maxTokens: LIMITS.graphqlTokens }
    },
    // Not a rule of validation: those are cached by document, and the cost depends on the variables.
    onExecute: ({ args: { schema, document, variableValues }, setResultAndStopExecution }) => {
      const errors = overLimits(schema, document, variableValues ?? {}, maxCost)
      if (errors.length > 0) setResultAndStopExecution({ errors })
    },
  }
}

/** Yoga masks what resolvers throw and nothing else, so every error is given its form here, at the end. */
const masking: Plugin<object, Served> = {
  onResultProcess: ({ result, setResult, serverContext: { served } }) => {
    const { errors, ...rest } = result as ExecutionResult
    if (errors) setResult({ ...rest, errors: errors.map((thrown) => masked(thrown, served)) })
  },
}

/** Our errors as they are, with their code; the caller's as VALIDATION_ERROR; all else opaque, and in the log. */
function masked(thrown: GraphQLError, { id, log }: FastifyRequest): GraphQLError {
  const error = unwrap(thrown)
  if (error.code === 'INTERNAL_ERROR')
    log.error({ err: error.cause ?? thrown.originalError }, 'a request failed')
  const { message, ...extensions } = errorBody(error, id).error
  const details = extensions.details.map((detail) => ({ ...detail, path: argument(detail.path) }))
  // Without a path nothing has been executed: the request as a whole is refused.
  const http = thrown.path === undefined && { http: { status: FAILURES[error.code].status } }
  return new GraphQLError(message, {
    ...(thrown.nodes && { nodes: thrown.nodes }),
    ...(thrown.source && { source: thrown.source }),
    ...(thrown.positions && { positions: thrown.positions }),
    ...(thrown.path && { path: thrown.path }),
    extensions: { ...extensions, details, ...http },
  })
}

/** `/external_id` → `/externalId`: the arguments are in camel case here, what is in them is not. */
const argument = (path: string) =>
  path.replace(/^\/[a-z_]+/, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

const WELCOME = `# Put a token into the headers below,
# re-fetch the schema (the arrows on the left), then ask.
{
  bases {
    data { id name counts }
    hasMore
  }
}
`
