/**
 * Global ids, for caches of clients: they keep objects by type and id, and records of two record types or bases can have
 * the same id.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import type { builder } from './builder.ts'
import type { Context } from './context.ts'

/** Of an object or an interface. */
type Fields<T extends object> = PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, T>

/** The field `nodeId`. `parts` are unique to an object among those of its type in a base. */
export const nodeId = <T extends object>(
  t: Fields<T>,
  parts: (source: T) => readonly (string | null | undefined)[],
) =>
  t.id({
    description:
      'A global id, as the key of the object in a cache: `id` is unique within a base, and of records within a record type.',
    resolve: (source: T, _args: object, _context: Context, info: GraphQLResolveInfo) => {
      const { base = null, asOf = null, version = null } = rootArgs(info)
      // A state of the past is not the object as it is now.
      const past = asOf === null && version === null ? [] : [asOf, version]
      const key = [info.parentType.name, base, ...parts(source), past]
      return Buffer.from(JSON.stringify(key)).toString('base64url')
    },
  })

/** The arguments of the root field that a value belongs to. */
function rootArgs({
  path,
  operation,
  fragments,
  variableValues,
}: GraphQLResolveInfo): Record<string, unknown> {
  let root = path
  while (root.prev) root = root.prev
  const field = fieldIn(operation.selectionSet, String(root.key), fragments)
  return Object.fromEntries(
    (field?.arguments ?? []).map(({ name, value }) => [
      name.value,
      valueFromASTUntyped(value, variableValues as Record<string, unknown>) ?? null,
    ]),
  )
}

function fieldIn(
  { selections }: SelectionSetNode,
  key: string,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): FieldNode | undefined {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      if ((selection.alias ?? selection.name).value === key) return selection
      continue
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
    const found = fragment && fieldIn(fragment.selectionSet, key, fragments)
    if (found) return found
  }
  return undefined
}
