/** The public /graphql endpoint, with limits that the operations of the surfaces do not need. */
import type { FastifyRequest } from 'fastify'
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type ParseOptions,
  type Source,
  subscribe,
  type ValidationRule,
  validate,
} from 'graphql'
import {
  createYoga,
  isAsyncIterable,
  mapAsyncIterator,
  type Plugin,
  type YogaServerOptions,
} from 'graphql-yoga'
import { DomainError, errorBody, FAILURES, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { logFailure } from '../../foundation/log.ts'
import { jsonInTurns } from '../../json/write.ts'
import { executeTyped } from '../base/execute-query.ts'
import type { LazySchema } from '../base/lazy-schema.ts'
import { LAZY_RULES, RULES } from '../base/validation-rules.ts'
import type { Context } from '../context.ts'
import { unwrap } from '../execute.ts'
import { schema } from '../schema.ts'
import { type ChargeFields, faultsOf, keepOwn, refusedCharge } from './admission.ts'
import { byText, documents, parseDocument } from './documents.ts'
import { introspected } from './introspection.ts'
import { OVER_LIMIT, rootFields } from './query-limits.ts'
import { remember } from './repeated-queries.ts'

/** Server context for yoga, which reserves the name `request`. */
type Served = {
  served: FastifyRequest
  /**
   * The client asks for "application/json". GraphQL over HTTP says 200 there, also for a document that is not valid:
   * such clients take any other status for a failure of the network.
   */
  isLegacy: boolean
  charge: ChargeFields
  /** The result, where the operation was executed before. */
  result?: ExecutionResult
  /** The context of the caller, or of an endpoint. */
  context: Context
  /** The schema of the base, for an address of one. */
  base?: LazySchema
}

/** GraphQL over HTTP for external clients. The surfaces execute their operations directly. */
export const openYoga = (maxCost: number) =>
  create({ schema, graphqlEndpoint: '/graphql', plugins: [ownRules(RULES)] }, maxCost)

/** The same for the schemas of bases. The caller finds the schema. */
export const openBaseYoga = (maxCost: number) =>
  create(
    {
      schema: ({ base }) => base ?? schema,
      graphqlEndpoint: '/graphql/*',
      plugins: [ownVariables, ownRules(LAZY_RULES), lazyExecution, introspection],
    },
    maxCost,
  )

type Place = Pick<YogaServerOptions<Served, Context>, 'schema' | 'graphqlEndpoint'> & {
  plugins?: readonly Plugin<object, Served>[]
}

const create = ({ plugins = [], ...place }: Place, maxCost: number) =>
  createYoga<Served, Context>({
    ...place,
    graphiql: false,
    landingPage: false,
    batching: false,
    cors: false,
    logging: false,
    context: ({ context }: Served) => context,
    parserAndValidationCache: { documentCache: documents, errorCache: byText() },
    plugins: [limits(maxCost), ...plugins, masking],
    maskedErrors: false,
  })

/** Rules that say what to write, and that do not make all types of a lazy schema. */
const ownRules = (rules: readonly ValidationRule[]): Plugin<object, Served> => ({
  onValidate: ({ setValidationFn }) => {
    setValidationFn(((of: GraphQLSchema, document: DocumentNode) =>
      validate(of, document, rules)) as typeof validate)
  },
})

const ownVariables: Plugin<object, Served> = {
  onParams: ({ params }) => keepOwn(params.variables),
}

/** Yoga's own executors ask for all types of an interface. */
const lazyExecution: Plugin<object, Served> = {
  onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
}

/** Introspection is answered from the text of the schema. */
const introspection: Plugin<object, Served> = {
  onExecute: async ({ args, setExecuteFn, setResultAndStopExecution }) => {
    const { base } = args.contextValue as unknown as Served
    if (!base) return
    setExecuteFn(executeTyped)
    try {
      const text = await introspected(base.seen, args)
      if (text === null) return
      const result: ExecutionResult = { data: {} }
      setResultAndStopExecution(Object.assign(result, { stringify: () => `{"data":${text}}` }))
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      setResultAndStopExecution({ errors: [new GraphQLError(thrown.message, { originalError: thrown })] })
    }
  },
}

/** Yoga plugin with the limits on tokens, depth, aliases and cost. */
function limits(maxCost: number): Plugin {
  // Not a validation rule: yoga caches those by document, and the cost depends on variables.
  return {
    onParse: ({ setParseFn, context: { request, params } }) => {
      // Options set on the hook's own parameters do not reach the parser.
      setParseFn((source: string | Source, options?: ParseOptions) => {
        try {
          return parseDocument(source, { ...options, maxTokens: LIMITS.graphqlTokens })
        } catch (thrown) {
          if (!(thrown instanceof GraphQLError) || !/tokens\. Parsing aborted/.test(thrown.message))
            throw thrown
          const { message, source = null, positions = null } = thrown
          throw new GraphQLError(message, { source, positions, extensions: OVER_LIMIT })
        }
      })
      return ({ result }) => {
        if (!result || result instanceof Error) return
        const kind = getOperationAST(result, params?.operationName)?.operation
        if (kind === undefined) throw noOperation(result, params?.operationName ?? undefined)
        if (request?.method !== 'POST' && kind !== 'query') throw notByGet(kind)
      }
    },
    onExecute: ({ args, setResultAndStopExecution }) => {
      const { result, charge } = args.contextValue as unknown as Served
      if (result) return setResultAndStopExecution(result)
      const errors = faultsOf(args, maxCost)
      if (errors.length === 0) {
        remember(args.schema, args.document)
        errors.push(...refusedCharge(rootFields(args.document, args.operationName), charge))
      }
      if (errors.length > 0) setResultAndStopExecution({ errors })
    },
    onSubscribe: ({ args, context: { request }, setResultAndStopExecution }) => {
      const errors = faultsOf(args, maxCost)
      if (!request.headers.get('accept')?.includes('text/event-stream'))
        errors.push(
          new GraphQLError('The response to a subscription is a stream. Send "Accept: text/event-stream".'),
        )
      if (errors.length > 0) setResultAndStopExecution({ errors })
    },
  }
}

/** Names the change-set that a mutation has written into. */
const inChangeSet = (result: ExecutionResult, { write }: Context): ExecutionResult =>
  write.changeSet === null
    ? result
    : { ...result, extensions: { ...result.extensions, changeSet: write.changeSet } }

/** Yoga masks only resolver errors, so format all errors here, at the end. */
const masking: Plugin<object, Served> = {
  onResultProcess: async ({ result, setResult, serverContext: { served, base, isLegacy, context } }) => {
    // The schemas of bases name their arguments themselves, beside fields with names of the users.
    const toPath = base ? (path: string) => path : argument
    const mask = ({ errors, ...rest }: ExecutionResult) => {
      const told = inChangeSet(rest, context)
      return errors
        ? { ...told, errors: errors.map((thrown) => masked(thrown, served, toPath, isLegacy)) }
        : told
    }
    if (isAsyncIterable<ExecutionResult>(result)) setResult(mapAsyncIterator(result, mask))
    else setResult(await written(mask(result as ExecutionResult), served))
  },
}

/** Serializes `data` in steps that yield to the event loop. Yoga would serialize it in one. */
async function written(result: ExecutionResult, served: FastifyRequest): Promise<ExecutionResult> {
  const { data } = result
  if (!data || 'stringify' in result) return result
  const text = await jsonInTurns(data, LIMITS.graphqlAnswerBytes)
  if (text === undefined) return { errors: [masked(tooLarge(), served)] }
  const stringify = ({ data: _, ...rest }: ExecutionResult) => {
    const others = JSON.stringify(rest)
    return `{"data":${text}${others === '{}' ? '}' : `,${others.slice(1)}`}`
  }
  return Object.assign(result, { stringify })
}

const notByGet = (kind: string): GraphQLError => {
  const message = `A ${kind} cannot be sent by GET. Send it by POST.`
  const originalError = invalid({ path: '/query', code: 'needs_post', message })
  return new GraphQLError(message, { originalError })
}

/** The document has none, several of which the request names none, or none of the name. */
function noOperation({ definitions }: DocumentNode, received: string | undefined): GraphQLError {
  const allowed = definitions.flatMap((each) =>
    each.kind === Kind.OPERATION_DEFINITION && each.name ? [each.name.value.slice(0, 64)] : [],
  )
  const message =
    allowed.length === 0
      ? 'The document has no operation, or one without a name. Send one operation, and no operationName.'
      : `Send operationName with one of the operations of the document: ${allowed.slice(0, 10).join(', ')}.`
  const originalError = invalid({
    ...{ path: '/operationName', code: 'unknown_operation', message, allowed: allowed.slice(0, 50) },
    ...(received !== undefined && { received: received.slice(0, 64) }),
  })
  return new GraphQLError(message, { originalError })
}

const tooLarge = (): GraphQLError => {
  const error = invalid({
    path: '/query',
    code: 'too_large',
    message: `The response exceeds ${LIMITS.graphqlAnswerBytes} characters. Mutations, if any, were executed. Request less, or send several requests.`,
    expected: LIMITS.graphqlAnswerBytes,
  })
  return new GraphQLError(error.message, { originalError: error })
}

/**
 * Maps errors: domain errors keep their code, request errors become VALIDATION_ERROR, others are logged and
 * become opaque.
 */
function masked(
  thrown: GraphQLError,
  served: FastifyRequest,
  toPath: (path: string) => string = argument,
  isLegacy = false,
): GraphQLError {
  const error = unwrap(thrown)
  served.failure ??= error
  logFailure(served.log, error, thrown.originalError)
  const { message, ...extensions } = errorBody(error, served.id).error
  const details = extensions.details.map((detail) => ({ ...detail, path: toPath(detail.path) }))
  // Without a path nothing was executed, so the HTTP status is that of the error.
  const isNotValid = error.details[0]?.code === 'graphql' && !('overLimit' in thrown.extensions)
  const status = isLegacy && isNotValid ? 200 : FAILURES[error.code].status
  const http = thrown.path === undefined && { http: { status } }
  return new GraphQLError(message, {
    ...(thrown.nodes && { nodes: thrown.nodes }),
    ...(thrown.source && { source: thrown.source }),
    ...(thrown.positions && { positions: thrown.positions }),
    ...(thrown.path && { path: thrown.path }),
    extensions: { ...extensions, details, ...http },
  })
}

/**
 * Converts argument names in paths to camelCase: `/external_id` → `/externalId`. Deeper segments are user
 * data.
 */
const argument = (path: string) =>
  path.replace(/^\/[a-z_]+/, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
