import { type DocumentNode, type ExecutionResult, GraphQLError } from 'graphql'
import { DomainError, toDomainError } from '../foundation/errors.ts'
import type { Context } from './context.ts'
import type { TadaDocumentNode } from './document.ts'
import { lazily } from './jit.ts'

/**
 * A compiled operation.
 * @throws DomainError
 */
export type Operation<Result, Variables> = (variables: Variables, context: Context) => Promise<Result>

/**
 * Compiles a static operation to a function. Validation runs at startup, so that an outdated operation fails
 * the boot and not a request. The executor is compiled at the first call.
 */
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

/**
 * A compiled subscription.
 * @throws DomainError before the first result
 */
export type Subscription<Result, Variables> = (
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
  return new DomainError('VALIDATION_ERROR', error.message, {
    details: [{ path: '', code: 'graphql', message: error.message }],
  })
}
