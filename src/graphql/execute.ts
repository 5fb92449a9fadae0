import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  isObjectType,
  Kind,
  OperationTypeNode,
  visit,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { type DomainError, invalid, toDomainError } from '../foundation/errors.ts'
import type { Context } from './context.ts'
import { graphql, type TadaDocumentNode } from './document.ts'
import { schema } from './schema.ts'

/**
 * A compiled operation.
 * @throws DomainError
 */
type Operation<Result, Variables> = (variables: Variables, context: Context) => Promise<Result>

/**
 * All static operations. A test validates them against the schema: both are part of the code, so the process does
 * not do it again at each start.
 */
export const staticOperations: DocumentNode[] = []

/** Compiles a static operation to a function. The executor is compiled at the first call. */
export function compile<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
): Operation<Result, Variables> {
  const compiled = lazily(document as DocumentNode)
  return async (variables, context) => {
    const { query } = compiled()
    const { data, errors } = await query(undefined, context, variables as Record<string, unknown>)
    if (errors?.[0]) throw unwrap(errors[0])
    return data as Result
  }
}

type Fragments = NonNullable<Parameters<typeof graphql>[1]>
const documentOf = <const Text extends string, const Uses extends Fragments>(text: Text, uses?: Uses) =>
  graphql(text, uses)
type Run<Document> =
  Document extends TadaDocumentNode<infer Result, infer Variables> ? Operation<Result, Variables> : never

/** Compiles a static operation of its text and the fragments that it uses. */
export function staticOperation<const Text extends string, const Uses extends Fragments>(
  text: Text,
  uses?: Uses,
): Run<ReturnType<typeof documentOf<Text, Uses>>>
export function staticOperation(text: string, uses?: Fragments): unknown {
  return compile(documentOf(text, uses) as object as TadaDocumentNode<unknown, unknown>)
}

/**
 * A compiled subscription.
 * @throws DomainError before the first result
 */
type Subscription<Result, Variables> = (
  variables: Variables,
  context: Context,
) => Promise<AsyncIterableIterator<Result>>

/** Compiles a static subscription to a function; see `compile`. */
export function compileSubscription<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
): Subscription<Result, Variables> {
  const compiled = lazily(document as DocumentNode)
  return async (variables, context) => {
    const { subscribe } = compiled()
    if (!subscribe) throw new Error('The operation is not a subscription')
    const results = await subscribe(undefined, context, variables as Record<string, unknown>)
    if (Symbol.asyncIterator in results) return dataOf(results as Results<Result>)
    throw results.errors?.[0] ? unwrap(results.errors[0]) : new Error('The subscription returns no stream')
  }
}

type Results<Result> = AsyncIterableIterator<ExecutionResult<Result>>

const dataOf = <Result>(results: Results<Result>): AsyncIterableIterator<Result> => ({
  next: async () => {
    const { done, value } = await results.next()
    if (done) return { done, value: undefined }
    if (value.errors?.[0]) throw unwrap(value.errors[0])
    return { done: false, value: value.data as Result }
  },
  return: async () => {
    await results.return?.()
    return { done: true, value: undefined }
  },
  [Symbol.asyncIterator]() {
    return this
  },
})

/**
 * Unwraps a GraphQL error: domain errors pass through, invalid variables become VALIDATION_ERROR, others
 * INTERNAL_ERROR.
 */
export function unwrap(error: GraphQLError): DomainError {
  const { originalError } = error
  // Errors about variables are nested, and each level adds to the message.
  const inner = originalError instanceof GraphQLError ? originalError.originalError : originalError
  if (inner) return toDomainError(inner)
  return invalid({ path: '', code: 'graphql', message: error.message })
}

/**
 * The mutation type as a query type. A single mutation needs no serial execution, and the compiled code for
 * serial execution retains a request's data until a major garbage collection.
 */
const mutations = new GraphQLSchema({
  query: schema.getMutationType() ?? null,
  // No field has the type of an implementation, only that of its interface.
  types: Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && type.getInterfaces().length > 0,
  ),
})

/** Compiles a static operation at its first use, because most are never used. */
function lazily(document: DocumentNode): () => CompiledQuery {
  staticOperations.push(document)
  let compiled: CompiledQuery | undefined
  return () => {
    compiled ??= isMutation(document) ? jit(mutations, asQuery(document)) : jit(schema, document)
    return compiled
  }
}

function jit(owner: GraphQLSchema, document: DocumentNode): CompiledQuery {
  const compiled = compileQuery(owner, document)
  if (!isCompiledQuery(compiled)) throw new Error('The operation does not compile')
  return compiled
}

const isMutation = ({ definitions }: DocumentNode): boolean =>
  definitions.some(
    (each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === OperationTypeNode.MUTATION,
  )

const asQuery = (document: DocumentNode): DocumentNode =>
  visit(document, {
    OperationDefinition(operation) {
      if (operation.selectionSet.selections.length > 1) throw new Error('Several mutations must run in order')
      return { ...operation, operation: OperationTypeNode.QUERY }
    },
  })
