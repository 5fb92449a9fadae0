import type { FastifyRequest } from 'fastify'
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type ParseOptions,
  parse,
  type Source,
} from 'graphql'
import { createYoga, isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga'
import { DomainError, errorBody, FAILURES, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { jsonInTurns } from '../../json/write.ts'
import type { Context } from '../context.ts'
import { unwrap } from '../execute.ts'
import { schema } from '../schema.ts'
import { overLimits, rootFields } from './query-limits.ts'

/** What yoga is given beside its own `request`, whose name it would take. */
type Served = {
  served: FastifyRequest
  /** Counts the root fields of the request. @throws RATE_LIMITED */
  charge: (fields: number) => void
}

/** GraphQL over HTTP for people and programs of their own; the surfaces run their operations without it. */
export const openYoga = (maxCost: number) =>
  createYoga<Served, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    cors: false,
    logging: false,
    context: ({ served }: Served) => served.caller,
    parserAndValidationCache: true,
    plugins: [limits(maxCost), masking],
    maskedErrors: false,
  })

/** The parser's token limit, and the limits of depth, aliases and cost. */
function limits(maxCost: number): Plugin {
  // Not a rule of validation: those are cached by document, and the cost depends on the variables.
  const faultsOf = ({ schema, document, variableValues }: Asked) =>
    overLimits(schema, document, variableValues ?? {}, maxCost)
  return {
    onParse: ({ setParseFn }) => {
      // Options set on the hook's own parameters would not reach the parser.
      setParseFn((source: string | Source, options?: ParseOptions) =>
        parse(source, { ...options, maxTokens: LIMITS.graphqlTokens }),
      )
    },
    onExecute: ({ args, setResultAndStopExecution }) => {
      const errors = faultsOf(args)
      if (errors.length === 0) errors.push(...refusedCharge(args, args.contextValue as unknown as Served))
      if (errors.length > 0) setResultAndStopExecution({ errors })
    },
    onSubscribe: ({ args, context: { request }, setResultAndStopExecution }) => {
      const errors = faultsOf(args)
      if (!request.headers.get('accept')?.includes('text/event-stream'))
        errors.push(
          new GraphQLError('A subscription is answered as a stream: send "Accept: text/event-stream".'),
        )
      if (errors.length > 0) setResultAndStopExecution({ errors })
    },
  }
}
/** Each root field is a request of its own to the rate limit. */
function refusedCharge({ document, operationName }: Asked, { charge }: Served): GraphQLError[] {
  try {
    charge(rootFields(document, operationName))
    return []
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    return [new GraphQLError(thrown.message, { originalError: thrown })]
  }
}
type Asked = {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
}

/** Yoga masks what resolvers throw and nothing else, so every error is given its form here, at the end. */
const masking: Plugin<object, Served> = {
  onResultProcess: async ({ result, setResult, serverContext: { served } }) => {
    const mask = ({ errors, ...rest }: ExecutionResult) =>
      errors ? { ...rest, errors: errors.map((thrown) => masked(thrown, served)) } : rest
    if (isAsyncIterable<ExecutionResult>(result)) setResult(mapAsyncIterator(result, mask))
    else setResult(await written(mask(result as ExecutionResult), served))
  },
}

/** The result with its data as text, made in turns: yoga would write all of it in one. */
async function written(result: ExecutionResult, served: FastifyRequest): Promise<ExecutionResult> {
  const { data } = result
  if (!data) return result
  const text = await jsonInTurns(data, LIMITS.graphqlAnswerBytes)
  if (text === undefined) return { errors: [masked(tooLarge(), served)] }
  const stringify = ({ data: _, ...rest }: ExecutionResult) => {
    const others = JSON.stringify(rest)
    return `{"data":${text}${others === '{}' ? '}' : `,${others.slice(1)}`}`
  }
  return Object.assign(result, { stringify })
}

const tooLarge = (): GraphQLError => {
  const error = invalid({
    path: '/query',
    code: 'too_large',
    message: `All that one GraphQL request asks for has at most ${LIMITS.graphqlAnswerBytes} characters. Its mutations, if any, were run. Ask for less, or in several requests.`,
    expected: LIMITS.graphqlAnswerBytes,
  })
  return new GraphQLError(error.message, { originalError: error })
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
