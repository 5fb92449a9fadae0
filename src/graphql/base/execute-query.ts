/**
 * Executes queries of the schema of a base. Only root fields are asynchronous there, since each reads all that is
 * selected below it. So the steps of an object are planned once for all records of a list, with their arguments, and
 * the result is written in one pass. The results are those of graphql-js. It generates no code, unlike a compiler.
 */
import {
  defaultFieldResolver,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLField,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import { below, fieldsOf, type Sets } from './selection.ts'

/** A key of the answer: how its value is resolved and completed. */
type Step = {
  readonly key: string
  readonly resolve: (source: unknown) => unknown
  readonly complete: (value: unknown) => unknown
  readonly nodes: readonly FieldNode[]
  readonly isRequired: boolean
}
type Answer = Record<string, unknown>

/** As `execute` of graphql-js. Mutations run there. */
export function executeTyped(args: ExecutionArgs): ReturnType<typeof execute> {
  const { schema, document, operationName, variableValues, contextValue } = args
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null)
  const operations: OperationDefinitionNode[] = []
  for (const part of document.definitions) {
    if (part.kind === Kind.FRAGMENT_DEFINITION) fragments[part.name.value] = part
    if (part.kind === Kind.OPERATION_DEFINITION) operations.push(part)
  }
  const [operation, ...others] = operations.filter(
    ({ name }) => !operationName || name?.value === operationName,
  )
  if (others.length > 0 || operation?.operation !== OperationTypeNode.QUERY) return execute(args)
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 50,
  })
  if (variables.errors) return { errors: variables.errors }
  return new Execution(schema, fragments, operation, variables.coerced, contextValue).run()
}

class Execution {
  readonly #info: Pick<
    GraphQLResolveInfo,
    'schema' | 'fragments' | 'operation' | 'variableValues' | 'rootValue'
  >
  readonly #context: unknown
  readonly #errors: GraphQLError[] = []
  /** Where the value that is completed stands in the answer. */
  readonly #path: (string | number)[] = []

  constructor(
    schema: GraphQLSchema,
    fragments: Record<string, FragmentDefinitionNode>,
    operation: OperationDefinitionNode,
    variableValues: Record<string, unknown>,
    context: unknown,
  ) {
    this.#info = { schema, fragments, operation, variableValues, rootValue: undefined }
    this.#context = context
  }

  async run(): Promise<ExecutionResult> {
    const { schema, operation } = this.#info
    const query = schema.getQueryType()
    if (!query) throw new Error('A schema without queries')
    const data: Answer = {}
    try {
      const steps = this.#stepsOf(query, [operation.selectionSet])
      for (const step of await Promise.all(steps.map(readRoot))) this.#put(data, step, undefined)
    } catch (thrown) {
      this.#errors.push(thrown as GraphQLError)
      return { errors: this.#errors, data: null }
    }
    return this.#errors.length > 0 ? { errors: this.#errors, data } : { data }
  }

  #put(answer: Answer, { key, resolve, complete, nodes, isRequired }: Step, source: unknown): void {
    const depth = this.#path.push(key)
    let completed: unknown = null
    try {
      completed = complete(resolve(source))
    } catch (thrown) {
      this.#path.length = depth
      this.#fail(thrown, nodes, isRequired)
    }
    this.#path.pop()
    // A literal key would set the prototype.
    if (key === '__proto__')
      Object.defineProperty(answer, key, { value: completed, enumerable: true, configurable: true })
    else answer[key] = completed
  }

  /** @throws what makes the parent null */
  #fail(thrown: unknown, nodes: readonly FieldNode[], isRequired: boolean): void {
    const located = locatedError(thrown, nodes, [...this.#path])
    if (isRequired) throw located
    this.#errors.push(located)
  }

  #stepsOf(type: GraphQLObjectType, sets: Sets): Step[] {
    const names = [type.name, ...type.getInterfaces().map(({ name }) => name)]
    const fields = type.getFields()
    return [...fieldsOf(this.#info, names, sets)].flatMap(([key, nodes]): Step[] => {
      const [node] = nodes
      if (!node) return []
      if (node.name.value === '__typename')
        return [{ key, resolve: () => type.name, complete: (value) => value, nodes, isRequired: true }]
      const field = fields[node.name.value]
      return field ? [this.#stepOf(type, key, field, nodes)] : []
    })
  }

  #stepOf(
    parentType: GraphQLObjectType,
    key: string,
    field: GraphQLField<unknown, unknown>,
    fieldNodes: readonly FieldNode[],
  ): Step {
    const { name: fieldName, type: returnType, resolve = defaultFieldResolver } = field
    const [node] = fieldNodes
    if (!node) throw new Error('A field without a node')
    const path = { prev: undefined, key, typename: parentType.name }
    const info: GraphQLResolveInfo = { ...this.#info, fieldName, fieldNodes, returnType, parentType, path }
    let args: Record<string, unknown> | undefined
    const context = this.#context
    return {
      key,
      resolve: (source) => {
        args ??= getArgumentValues(field, node, this.#info.variableValues)
        return resolve(source, args, context, info)
      },
      complete: this.#completer(returnType, fieldNodes, `${parentType.name}.${fieldName}`),
      nodes: fieldNodes,
      isRequired: isNonNullType(returnType),
    }
  }

  #completer(
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
    place: string,
  ): (value: unknown) => unknown {
    if (type instanceof GraphQLNonNull) {
      const complete = this.#completer(type.ofType, nodes, place)
      return (value) => {
        const completed = complete(value)
        if (completed === null) throw new Error(`Cannot return null for non-nullable field ${place}.`)
        return completed
      }
    }
    if (isListType(type)) {
      const { ofType } = type
      const complete = this.#completer(ofType, nodes, place)
      const isRequired = isNonNullType(ofType)
      return (value) => {
        if (value == null) return null
        if (!Array.isArray(value)) throw new Error(`Expected a list for field "${place}".`)
        return value.map((item, index) => this.#item(item, index, complete, nodes, isRequired))
      }
    }
    if (isLeafType(type)) return (value) => (value == null ? null : (type.serialize(value) ?? null))
    return this.#objects(type, nodes)
  }

  #item(
    item: unknown,
    index: number,
    complete: (value: unknown) => unknown,
    nodes: readonly FieldNode[],
    isRequired: boolean,
  ): unknown {
    const depth = this.#path.push(index)
    let completed: unknown = null
    try {
      completed = complete(item)
    } catch (thrown) {
      this.#path.length = depth
      this.#fail(thrown, nodes, isRequired)
    }
    this.#path.pop()
    return completed
  }

  /** The steps are planned for each type that occurs. */
  #objects(type: GraphQLOutputType, nodes: readonly FieldNode[]): (value: unknown) => unknown {
    const sets = below(nodes)
    const plans = new Map<GraphQLObjectType, Step[]>()
    return (value) => {
      if (value == null) return null
      const concrete = this.#typeOf(type, value)
      let steps = plans.get(concrete)
      if (!steps) {
        steps = this.#stepsOf(concrete, sets)
        plans.set(concrete, steps)
      }
      const answer: Answer = {}
      for (const step of steps) this.#put(answer, step, value)
      return answer
    }
  }

  #typeOf(type: GraphQLOutputType, value: unknown): GraphQLObjectType {
    if (type instanceof GraphQLObjectType) return type
    const info = this.#info as GraphQLResolveInfo
    const name = isAbstractType(type) ? type.resolveType?.(value, this.#context, info, type) : undefined
    const found = typeof name === 'string' ? this.#info.schema.getType(name) : undefined
    if (found instanceof GraphQLObjectType) return found
    throw new Error(`No type of ${String(type)} fits the value`)
  }
}

/** The step with its value read. Never rejects: root fields are read side by side. */
async function readRoot(step: Step): Promise<Step> {
  try {
    const value = await step.resolve(undefined)
    return { ...step, resolve: () => value }
  } catch (thrown) {
    return {
      ...step,
      resolve: () => {
        throw thrown
      },
    }
  }
}
