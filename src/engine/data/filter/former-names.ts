import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { currentPath, formerPaths } from '../../schema/json-schema/fields.ts'
import type { Condition, Filter } from './syntax-tree.ts'

/**
 * A filter that is kept, under the names that its properties have now: under the old one a property is missing from all records,
 * which a condition such as `is_null` would let pass. What a record has under a former name, as one from before the rename, must pass under that too.
 * `ofEntries`: of the log, whose entries have a property under the name that it had then.
 */
export function underAllNames<C extends string>(
  filter: Filter<C>,
  schema: unknown,
  ofEntries = false,
  isNegated = false,
): Filter<C> {
  if (schema === undefined || filter.kind === 'linked') return filter
  const inner = (of: Filter<C>, negated: boolean) => underAllNames(of, schema, ofEntries, negated)
  if (filter.kind === 'not') return { kind: 'not', of: inner(filter.of, !isNegated) }
  if (filter.kind !== 'condition') return { ...filter, of: filter.of.map((each) => inner(each, isNegated)) }
  const { field } = filter
  if (field.kind !== 'data') return filter
  const path = currentPath(schema, field.path)
  const former = formerPaths(schema, field.path)
  const [all, any, without, found] = isNegated
    ? (['or', 'and', 'is_not_null', 'is_null'] as const)
    : (['and', 'or', 'is_null', 'is_not_null'] as const)
  // Under more names than can be read, nothing passes.
  if (!former)
    return { ...filter, field: { kind: 'column', column: 'id' as C }, op: without, value: undefined }
  const at = (path: FieldPath): Condition<C> => ({ ...filter, field: { ...field, path } })
  const is = (op: typeof without, path: FieldPath) => ({ ...at(path), op, value: undefined })
  const now = at(path)
  if (former.length === 0) return now
  const passes = (path: FieldPath): Filter<C> => ({ kind: any, of: [is(without, path), at(path)] })
  if (!ofEntries) return { kind: all, of: [now, ...former.map(passes)] }
  const paths = [path, ...former]
  return {
    kind: all,
    of: [...paths.map(passes), { kind: any, of: [...paths.map((each) => is(found, each)), now] }],
  }
}
