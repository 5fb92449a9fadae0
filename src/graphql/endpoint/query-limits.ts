import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

const INTROSPECTION = new Set(['__schema', '__type'])
const INTROSPECTION_COST = 200

type Variables = Readonly<Record<string, unknown>>

/**
 * Query cost analysis before execution: depth, aliases and cost. An object costs 1, a scalar 0.01, each
 * multiplied by the page sizes of the enclosing lists.
 */
export function overLimits(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Variables,
  maxCost: number,
): GraphQLError[] {
  return document.definitions.flatMap((operation) => {
    if (operation.kind !== Kind.OPERATION_DEFINITION) return []
    const found = measure(schema, document, operation, { ...defaultsOf(operation), ...variables }, maxCost)
    const over = (what: string, size: number, most: number) => {
      const message = `The ${what} of the query is over the limit of ${most}. Ask for less, or in several requests.`
      return size > most ? [new GraphQLError(message, { nodes: [operation] })] : []
    }
    return [
      ...over('depth', found.depth, LIMITS.graphqlDepth),
      ...over('number of aliases', found.aliases, LIMITS.graphqlAliases),
      ...over('cost', Math.ceil(found.cost), maxCost),
    ]
  })
}

/** Counts the root fields of an operation, including those in fragments. The document must be valid. */
export function rootFields(document: DocumentNode, operationName: string | null | undefined): number {
  const fragments = fragmentsOf(document)
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1
      const inner =
        selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)
      return sum + (inner ? count(inner) : 0)
    }, 0)
  const operation = document.definitions.find(
    (part) =>
      part.kind === Kind.OPERATION_DEFINITION && (!operationName || part.name?.value === operationName),
  )
  return operation?.kind === Kind.OPERATION_DEFINITION ? count(operation.selectionSet) : 1
}

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, SelectionSetNode> =>
  new Map(
    document.definitions.flatMap((part) =>
      part.kind === Kind.FRAGMENT_DEFINITION ? [[part.name.value, part.selectionSet]] : [],
    ),
  )

function measure(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  maxCost: number,
) {
  const lists = listFields(schema)
  const fragments = fragmentsOf(document)
  const found = { depth: 0, cost: 0, aliases: 0 }
  const walk = (set: SelectionSetNode, depth: number, weight: number): void => {
    found.depth = Math.max(found.depth, depth)
    for (const selection of set.selections) {
      // Stop as soon as a limit is exceeded.
      if (depth > LIMITS.graphqlDepth || found.cost > maxCost || found.aliases > LIMITS.graphqlAliases) return
      if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet, depth, weight)
      else if (selection.kind === Kind.FIELD) visit(selection, depth, weight)
      else spread(selection.name.value, depth, weight)
    }
  }
  const spread = (name: string, depth: number, weight: number): void => {
    // Fragment spreads have a cost, because nested empty fragments grow exponentially.
    found.cost += weight / 100
    const fragment = fragments.get(name)
    if (fragment) walk(fragment, depth, weight)
  }
  const visit = (field: FieldNode, depth: number, weight: number): void => {
    if (field.alias) found.aliases++
    // Introspection is deep. A separate rule limits it.
    if (INTROSPECTION.has(field.name.value)) {
      found.cost += INTROSPECTION_COST
      return
    }
    found.cost += field.selectionSet ? weight : weight / 100
    if (!field.selectionSet) return
    const items = lists.has(field.name.value) ? pageOf(field, variables) : 1
    walk(field.selectionSet, depth + 1, weight * items)
  }
  walk(operation.selectionSet, 1, 1)
  return found
}

/** Root fields that return pages. */
function listFields(schema: GraphQLSchema): Set<string> {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {})
  return new Set(
    fields
      .filter((field) => field.args.some((argument) => argument.name === 'limit'))
      .map((field) => field.name),
  )
}

/** Page size of a field, from its argument or variable. */
function pageOf(field: FieldNode, variables: Variables): number {
  const limit = field.arguments?.find((argument) => argument.name.value === 'limit')?.value
  const asked = limit && valueFromASTUntyped(limit, variables)
  return typeof asked === 'number' && asked >= 1 ? Math.min(asked, LIMITS.pageMax) : LIMITS.pageDefault
}

const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Variables =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  )

/**
 * Limits the size and nesting of a GraphQL text before parsing, because the parser is recursive.
 * @throws VALIDATION_ERROR
 */
export function checkTextSize(text: unknown): void {
  // Non-strings are rejected later, by the request parser.
  if (typeof text !== 'string') return
  if (Buffer.byteLength(text) > LIMITS.graphqlTextBytes)
    throw invalid({
      path: '/query',
      code: 'too_long',
      message: `A GraphQL document can have at most ${LIMITS.graphqlTextBytes} bytes. Put values into variables, or send several requests.`,
      expected: LIMITS.graphqlTextBytes,
    })
  if (nesting(text) > LIMITS.graphqlNesting)
    throw invalid({
      path: '/query',
      code: 'too_deep',
      message: `The brackets of a GraphQL document can nest at most ${LIMITS.graphqlNesting} deep. Flatten it.`,
      expected: LIMITS.graphqlNesting,
    })
}

/** Matches brackets, and skips strings and comments. */
const TOKEN = /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\r\n])*"?|#[^\r\n]*|[[{(]|[\]})]/g

function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if ('[{('.includes(token)) deepest = Math.max(deepest, ++depth)
    else if (']})'.includes(token)) depth = Math.max(0, depth - 1)
  }
  return deepest
}
