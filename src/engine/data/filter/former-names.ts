import { currentPath, formerPaths } from '../../schema/json-schema/fields.ts'
import type { Filter } from './syntax-tree.ts'

/**
 * A filter that is kept, under the names that its properties have now: under the old one a property is missing from all records,
 * which a condition such as `is_null` would let pass. What a record has under a former name, as one from before the rename, must pass under that too.
 */
export function underAllNames<C extends string>(
  filter: Filter<C>,
  schema: unknown,
  isNegated = false,
): Filter<C> {
  if (schema === undefined || filter.kind === 'linked') return filter
  if (filter.kind === 'not') return { kind: 'not', of: underAllNames(filter.of, schema, !isNegated) }
  if (filter.kind !== 'condition')
    return { ...filter, of: filter.of.map((each) => underAllNames(each, schema, isNegated)) }
  const { field } = filter
  if (field.kind !== 'data') return filter
  const now = { ...filter, field: { ...field, path: currentPath(schema, field.path) } }
  const former = formerPaths(schema, field.path)
  if (former?.length === 0) return now
  const [all, any, without] = isNegated
    ? (['or', 'and', 'is_not_null'] as const)
    : (['and', 'or', 'is_null'] as const)
  // Under more names than can be read, nothing passes.
  if (!former)
    return { ...filter, field: { kind: 'column', column: 'id' as C }, op: without, value: undefined }
  const under = former.map((path): Filter<C> => {
    const condition = { ...filter, field: { ...field, path } }
    return { kind: any, of: [{ ...condition, op: without, value: undefined }, condition] }
  })
  return { kind: all, of: [now, ...under] }
}
