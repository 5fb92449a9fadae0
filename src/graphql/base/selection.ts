/** Look-ahead: what a query selects below a field, with fragments and directives resolved. */
import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

export type Sets = readonly SelectionSetNode[]
type Info = Pick<GraphQLResolveInfo, 'fragments' | 'variableValues'>

/** The selected fields of an object of the type, by their keys in the answer. */
export function fieldsOf(info: Info, typeNames: readonly string[], sets: Sets): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, info)) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const known = found.get(key)
        if (known) known.push(selection)
        else found.set(key, [selection])
        continue
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD
      if (isSpread && visited.has(selection.name.value)) continue
      if (isSpread) visited.add(selection.name.value)
      const fragment = isSpread ? info.fragments[selection.name.value] : selection
      const condition = fragment?.typeCondition?.name.value
      if (fragment && (condition === undefined || typeNames.includes(condition))) walk(fragment.selectionSet)
    }
  }
  for (const set of sets) walk(set)
  return found
}

function isIncluded(node: SelectionNode, { variableValues }: Info): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false
}

/** What is selected below fields. */
export const below = (fields: readonly FieldNode[]): Sets =>
  fields.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []))

/** What is selected of the records of a page, and whether its total is. */
export function ofPage(info: Info, name: string, sets: Sets): { sets: Sets; total: boolean } {
  const page = [...fieldsOf(info, [`${name}Connection`], sets).values()]
  const named = (field: string, fields: readonly (readonly FieldNode[])[]) =>
    below(fields.filter(([first]) => first?.name.value === field).flat())
  const edges = [...fieldsOf(info, [`${name}Edge`], named('edges', page)).values()]
  return {
    sets: [...named('nodes', page), ...named('node', edges)],
    total: page.some(([first]) => first?.name.value === 'totalCount'),
  }
}
