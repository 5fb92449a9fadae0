import { type DocumentNode, GraphQLError, validate } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { DomainError, toDomainError } from '../errors.ts'
import type { Context } from './context.ts'
import type { TadaDocumentNode } from './document.ts'
import { schema } from './schema.ts'

/** An operation as a function of its variables. @throws DomainError */
export type Operation<Result, Variables> = (variables: Variables, context: Context) => Promise<Result>

/**
 * Turns a static operation into a function. It is validated here, at boot, so that a stale one stops the process
 * instead of failing a request; the code for it is made at its first use.
 */
export function compile<Result, Variables>(
  document: TadaDocumentNode<Result, Variables>,
): Operation<Result, Variables> {
  const [fault] = validate(schema, document as DocumentNode)
  if (fault) throw fault
  let query: ReturnType<typeof jit> | undefined
  return async (variables, context) => {
    query ??= jit(document as DocumentNode)
    const { data, errors } = await query(undefined, context, variables as Record<string, unknown>)
    if (errors?.[0]) throw unwrap(errors[0])
    return data as Result
  }
}

function jit(document: DocumentNode) {
  const compiled = compileQuery(schema, document)
  if (!isCompiledQuery(compiled)) throw new Error('An operation does not compile')
  return compiled.query
}

/** The engine's own errors pass through untouched; a fault of the variables is the caller's; anything else is ours. */
export function unwrap(error: GraphQLError): DomainError {
  const { originalError } = error
  // Faults of variables come wrapped in each other, each with more words than the one inside.
  const inner = originalError instanceof GraphQLError ? originalError.originalError : originalError
  if (inner) return toDomainError(inner)
  return new DomainError('VALIDATION_ERROR', error.message, {
    details: [{ path: '', code: 'graphql', message: error.message }],
  })
}
