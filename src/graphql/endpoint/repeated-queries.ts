/**
 * Queries that come again. At first yoga parses and validates a document. From then on it is executed without yoga,
 * which takes more processor time than a small query. It is not compiled: a document of a client could write the code.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql'
import { isObject } from '../../foundation/is-object.ts'
import { executeTyped } from '../base/execute-query.ts'
import { LazySchema } from '../base/lazy-schema.ts'
import type { Context } from '../context.ts'
import { type ChargeFields, faultsOf, keepOwn, refusedCharge } from './admission.ts'
import { documents } from './documents.ts'
import { isIntrospection, rootNames } from './introspection.ts'
import { PAGE_SIZES, rootFields } from './query-limits.ts'
import type { Sent } from './sent-request.ts'

type Query = {
  readonly document: DocumentNode
  readonly name: string | undefined
  /** How many root fields it has. */
  readonly fields: number
  /** The variables that are sizes of pages, on which the cost depends. */
  readonly sizes: readonly string[]
  /** The limit, and the values of these, with which the cost was last found to be within it. */
  within?: string
}

/** Documents that are valid for a schema, and go with it. */
const queries = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, Query>>()

/**
 * Remembers a document that is valid for the schema and was within the limits once, if all of it is one query that
 * asks for data. Counting the fields of a larger one could take for ever: fragments double each other.
 */
export function remember(schema: GraphQLSchema, document: DocumentNode): void {
  const ofSchema = queries.get(schema) ?? new WeakMap<DocumentNode, Query>()
  if (ofSchema.has(document)) return
  const [operation, ...others] = document.definitions.filter(
    (part): part is OperationDefinitionNode => part.kind === Kind.OPERATION_DEFINITION,
  )
  if (operation?.operation !== OperationTypeNode.QUERY || others.length > 0) return
  if (rootNames({ document }).some(isIntrospection)) return
  const name = operation.name?.value
  const query = { document, name, fields: rootFields(document, name), sizes: sizesOf(document) }
  queries.set(schema, ofSchema.set(document, query))
}

function sizesOf(document: DocumentNode): string[] {
  const found = new Set<string>()
  visit(document, {
    Argument: ({ name, value }) => {
      if (PAGE_SIZES.has(name.value) && value.kind === Kind.VARIABLE) found.add(value.name.value)
    },
  })
  return [...found]
}

/** A query with its variables. */
export type RepeatedQuery = { readonly query: Query; readonly variables: Record<string, unknown> }

/** The query that a body repeats; undefined for any other body, which yoga answers. */
export function repeatedQuery(schema: GraphQLSchema, sent: Sent): RepeatedQuery | undefined {
  const { query: text, variables, operationName, extensions, ...others } = sent
  const document = typeof text === 'string' ? documents.get(text) : undefined
  const query = document && queries.get(schema)?.get(document)
  if (!query || Object.keys(others).length > 0) return undefined
  const given = variables ?? {}
  const isMeant = (operationName ?? query.name) === query.name
  return isMeant && isObject(given) && isObject(extensions ?? {}) ? { query, variables: given } : undefined
}

type Place = { schema: GraphQLSchema; context: Context; maxCost: number; charge: ChargeFields }

/** Executes a query within the limits. Errors are as yoga has them before they are masked. */
export async function runRepeated(
  { query, variables }: RepeatedQuery,
  { schema, context, maxCost, charge }: Place,
): Promise<ExecutionResult> {
  const isTyped = schema instanceof LazySchema
  if (isTyped) keepOwn(variables)
  const operation = { schema, document: query.document, variableValues: variables }
  const errors = faultsNow(query, operation, maxCost)
  if (errors.length === 0) errors.push(...refusedCharge(query.fields, charge))
  if (errors.length > 0) return { errors }
  return (isTyped ? executeTyped : execute)({ ...operation, contextValue: context })
}

/** The cost is computed again when a size is not as it was. */
function faultsNow(query: Query, operation: Parameters<typeof faultsOf>[0], maxCost: number) {
  const values = query.sizes.map((name) => operation.variableValues?.[name])
  const isPlain = values.every((value) => value === undefined || typeof value === 'number')
  // A value of any other type may have no text.
  const sizes = isPlain ? `${maxCost}:${values.join()}` : undefined
  if (sizes !== undefined && query.within === sizes) return []
  const errors = faultsOf(operation, maxCost)
  if (sizes !== undefined && errors.length === 0) query.within = sizes
  return errors
}
