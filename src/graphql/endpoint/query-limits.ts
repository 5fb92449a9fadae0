import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { LazySchema } from '../base/lazy-schema.ts'

const INTROSPECTION = new Set(['__schema', '__type'])
const INTROSPECTION_COST = 200

/** Marks an error: the document is valid, but too large. */
export const OVER_LIMIT = { overLimit: true }

type Variables = Readonly<Record<string, unknown>>

/**
 * Query cost analysis before execution: depth, aliases and cost. An object costs 1, a scalar 0.01, each
 * multiplied by the page sizes of the enclosing lists. The schemas of bases have prices of their own.
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
      return size > most ? [new GraphQLError(message, { nodes: [operation], extensions: OVER_LIMIT })] : []
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
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)
      return sum + (inner ? count(inner.selectionSet) : 0)
    }, 0)
  const operation = document.definitions.find(
    (part) =>
      part.kind === Kind.OPERATION_DEFINITION && (!operationName || part.name?.value === operationName),
  )
  return operation?.kind === Kind.OPERATION_DEFINITION ? count(operation.selectionSet) : 1
}

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((part) =>
      part.kind === Kind.FRAGMENT_DEFINITION ? [[part.name.value, part]] : [],
    ),
  )

/** How the fields of a schema are priced. */
type Prices = {
  object: number
  leaf: number
  /** The argument that has the size of a page. */
  size: 'limit' | 'first'
  /** Whether all fields of a page count for each of its items, or its lists alone. */
  each: 'field' | 'list'
}

const PRICES: Prices = { object: 1, leaf: 0.01, size: 'limit', each: 'field' }
/** In the schema of a base any list has a size, at any level, and each level is one statement. */
const TYPED_PRICES: Prices = { object: LIMITS.typedRecordCost, leaf: 0.01, size: 'first', each: 'list' }

/** Arguments that may have the size of a page. */
export const PAGE_SIZES: ReadonlySet<string> = new Set([PRICES.size, TYPED_PRICES.size])

/** The type of an object with fields; undefined where there is none. */
type Parent = GraphQLObjectType | GraphQLInterfaceType | undefined
/** A place in the query: its type, its depth, how often it occurs, and the size of the page that it is in. */
type Place = { parent: Parent; depth: number; weight: number; page: number }

function measure(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  maxCost: number,
) {
  const prices = schema instanceof LazySchema ? TYPED_PRICES : PRICES
  const fragments = fragmentsOf(document)
  const found = { depth: 0, cost: 0, aliases: 0 }
  const walk = (set: SelectionSetNode, place: Place): void => {
    const { depth } = place
    found.depth = Math.max(found.depth, depth)
    for (const selection of set.selections) {
      // Stop as soon as a limit is exceeded.
      if (depth > LIMITS.graphqlDepth || found.cost > maxCost || found.aliases > LIMITS.graphqlAliases) return
      if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet, within(selection, place))
      else if (selection.kind === Kind.FIELD) visit(selection, place)
      else spread(selection.name.value, place)
    }
  }
  const within = ({ typeCondition }: InlineFragmentNode | FragmentDefinitionNode, place: Place): Place =>
    typeCondition ? { ...place, parent: parentOf(schema.getType(typeCondition.name.value)) } : place
  const spread = (name: string, place: Place): void => {
    // Fragment spreads have a cost, because nested empty fragments grow exponentially.
    found.cost += (place.weight * place.page) / 100
    const fragment = fragments.get(name)
    if (fragment) walk(fragment.selectionSet, within(fragment, place))
  }
  const visit = (field: FieldNode, { parent, depth, weight: outer, page }: Place): void => {
    if (field.alias) found.aliases++
    // Introspection is deep. A separate rule limits it.
    if (INTROSPECTION.has(field.name.value)) {
      found.cost += INTROSPECTION_COST
      return
    }
    const definition = parent?.getFields()[field.name.value]
    const isList = prices.each === 'field' || (definition && isListType(getNullableType(definition.type)))
    const size = definition?.args.find(({ name }) => name === prices.size)
    const items = size ? pageOf(field, size, variables) : 1
    // A list that has the size itself, such as the versions of a record, and not its object.
    const isSized = isList && prices.each === 'list'
    const weight = (isList ? outer * page : outer) * (isSized ? items : 1)
    // A write costs the same in all schemas.
    const isWrite = depth === 1 && operation.operation === OperationTypeNode.MUTATION
    const object = isWrite ? PRICES.object : prices.object
    found.cost += weight * (field.selectionSet ? object : prices.leaf) + surchargeOf(field, definition)
    if (!field.selectionSet) return
    walk(field.selectionSet, {
      parent: definition && parentOf(getNamedType(definition.type)),
      depth: depth + 1,
      weight,
      page: isSized ? 1 : items,
    })
  }
  walk(operation.selectionSet, {
    parent: schema.getRootType(operation.operation) ?? undefined,
    depth: 1,
    weight: 1,
    page: 1,
  })
  return found
}

/** What a field costs besides: by its extension `cost`, or with the argument that `costWith` names. */
function surchargeOf(field: FieldNode, definition: GraphQLField<unknown, unknown> | undefined): number {
  const { cost, costWith } = definition?.extensions ?? {}
  if (typeof cost !== 'number') return 0
  return !costWith || field.arguments?.some(({ name }) => name.value === costWith) ? cost : 0
}

const parentOf = (type: GraphQLNamedType | undefined): Parent =>
  isObjectType(type) || isInterfaceType(type) ? type : undefined

/** Page size of a field, from its argument or variable. */
function pageOf(field: FieldNode, { name, defaultValue }: GraphQLArgument, variables: Variables): number {
  const limit = field.arguments?.find((argument) => argument.name.value === name)?.value
  const asked = limit && valueFromASTUntyped(limit, variables)
  if (typeof asked === 'number' && asked >= 1) return Math.min(asked, LIMITS.pageMax)
  return typeof defaultValue === 'number' ? defaultValue : LIMITS.pageDefault
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
