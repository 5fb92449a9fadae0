import { type DocumentNode, GraphQLSchema, Kind, OperationTypeNode, validate, visit } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { schema } from './schema.ts'

/**
 * The mutation type as a query type. A single mutation needs no serial execution, and the compiled code for
 * serial execution retains a request's data until a major garbage collection.
 */
const mutations = new GraphQLSchema({ query: schema.getMutationType() ?? null })

/** Validates a static operation now, and compiles it at its first use, because most are never used. */
export function lazily(document: DocumentNode): () => CompiledQuery {
  const [fault] = validate(schema, document)
  if (fault) throw fault
  const [owner, operation] = isMutation(document) ? [mutations, asQuery(document)] : [schema, document]
  let compiled: CompiledQuery | undefined
  return () => {
    compiled ??= jit(owner, operation)
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
