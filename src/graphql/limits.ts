import {
  type FieldNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { LIMITS } from '../limits.ts'

/**
 * Refuses, before execution, a document that is too deep, has too many aliases or costs too much. An object costs 1, a
 * scalar a hundredth, and all that stands under a list as often as its page may have items.
 */
export function queryLimits(maxCost: number): ValidationRule {
  return (context: ValidationContext) => ({
    OperationDefinition(operation) {
      const found = measure(context, operation.selectionSet, maxCost)
      const over = (what: string, size: number, most: number) => {
        if (size <= most) return
        const message = `The ${what} of the query is over the limit of ${most}. Ask for less, or in several requests.`
        context.reportError(new GraphQLError(message, { nodes: [operation] }))
      }
      over('depth', found.depth, LIMITS.graphqlDepth)
      over('number of aliases', found.aliases, LIMITS.graphqlAliases)
      over('cost', Math.ceil(found.cost), maxCost)
    },
  })
}

function measure(context: ValidationContext, root: SelectionSetNode, maxCost: number) {
  const lists = listFields(context)
  const found = { depth: 0, cost: 0, aliases: 0 }
  const open = new Set<string>()
  const walk = (set: SelectionSetNode, depth: number, weight: number): void => {
    found.depth = Math.max(found.depth, depth)
    // What is over a limit already need not be measured to its end.
    if (depth > LIMITS.graphqlDepth || found.cost > maxCost || found.aliases > LIMITS.graphqlAliases) return
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet, depth, weight)
      else if (selection.kind === Kind.FRAGMENT_SPREAD) spread(selection.name.value, depth, weight)
      else visit(selection, depth, weight)
    }
  }
  const spread = (name: string, depth: number, weight: number): void => {
    const fragment = context.getFragment(name)
    if (!fragment || open.has(name)) return
    open.add(name)
    walk(fragment.selectionSet, depth, weight)
    open.delete(name)
  }
  const visit = (field: FieldNode, depth: number, weight: number): void => {
    if (field.alias) found.aliases++
    found.cost += field.selectionSet ? weight : weight / 100
    if (field.selectionSet)
      walk(field.selectionSet, depth + 1, lists.has(field.name.value) ? weight * pageOf(field) : weight)
  }
  walk(root, 1, 1)
  return found
}

/** The fields that answer a page. */
function listFields(context: ValidationContext): Set<string> {
  const fields = Object.values(context.getSchema().getQueryType()?.getFields() ?? {})
  return new Set(
    fields
      .filter((field) => field.args.some((argument) => argument.name === 'limit'))
      .map((field) => field.name),
  )
}

/** Items a page may have: what the query says; a variable, not known yet, counts as the default page. */
function pageOf(field: FieldNode): number {
  const limit = field.arguments?.find((argument) => argument.name.value === 'limit')?.value
  return limit?.kind === Kind.INT ? Math.max(1, Number(limit.value)) : LIMITS.pageDefault
}
