/** Query planner: chooses the declared index that serves a filter and a sort. */

import type { Column } from '../../../contract/record-columns.ts'
import { restOf } from '../../data/filter/check-fields.ts'
import type { BoundFilter, BoundSort, Condition, Filter } from '../../data/filter/syntax-tree.ts'
import { isTime } from '../../data/filter/value.ts'
import type { CompiledIndex, IndexField } from '../../data/indexes/index.ts'
import type { SortTerm } from './sort.ts'

/** How an index serves a query. */
export type AccessPath = {
  index: CompiledIndex
  /** The equality conditions on the leading index fields; all of them `eq`, `is_null` or `in`. */
  fixed: readonly Condition[]
  /** Range conditions on the next index field. */
  range: readonly Condition[]
  /** The filter that the entries cannot decide; null when they decide all of it. */
  residual: BoundFilter | null
  /**
   * The order of the entries relative to the sort: as declared, reversed, by creation, or null for unrelated.
   */
  order: 'declared' | 'reversed' | 'newest' | 'oldest' | null
}

/** Longer strings can compare with truncated keys, which do not order reliably. */
const MAX_INDEXED_CHARS = 140
const RANGES = new Set(['gt', 'gte', 'lt', 'lte', 'starts_with'])

/** Chooses the access path with the highest merit; null when a scan of the records is no worse. */
export function chooseAccessPath(
  indexes: readonly CompiledIndex[],
  filter: BoundFilter | null,
  sort: BoundSort<SortTerm>,
): AccessPath | null {
  const conjuncts = filter ? conjunctsOf(filter) : []
  let best: { path: AccessPath; merit: number } | null = null
  for (const index of indexes) {
    if (index.status !== 'ready' || index.kind === 'text') continue
    const path = pathThrough(index, conjuncts, sort)
    const merit = path ? meritOf(path) : 0
    if (path && merit > (best?.merit ?? 0)) best = { path, merit }
  }
  return best?.path ?? null
}

/** Scores how well an index would serve a query if it were ready; 0 when it cannot. */
export function meritThrough(
  index: CompiledIndex,
  filter: BoundFilter | null,
  sort: BoundSort<SortTerm>,
): number {
  const path = pathThrough(index, filter ? conjunctsOf(filter) : [], sort)
  return path ? meritOf(path) : 0
}

/** A matching order allows reading only the page; each equality condition reduces the rows read. */
function meritOf({ fixed, range, order, residual }: AccessPath): number {
  const found = fixed.length * 8 + (range.length > 0 ? 4 : 0)
  const inOrder = order === 'declared' || order === 'reversed'
  // Records are already indexed by creation time, and newest first is the default.
  if (found === 0) return inOrder ? 1 : 0
  return found + (order === null ? 0 : inOrder ? 6 : 5) + (residual === null ? 2 : 0)
}

/** The conjuncts of a filter: the conditions that must all hold. */
export const conjunctsOf = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.of.flatMap(conjunctsOf) : [filter]

function pathThrough(
  index: CompiledIndex,
  conjuncts: readonly Filter[],
  sort: readonly SortTerm[],
): AccessPath | null {
  const fixed: Condition[] = []
  let range: Condition[] = []
  for (const field of index.fields) {
    const on = conjuncts.filter((each) => each.kind === 'condition' && isField(each.field, field))
    const one = on.find((each) => each.kind === 'condition' && fixes(each, field))
    if (one) fixed.push(one as Condition)
    else {
      range = (on as Condition[]).filter((each) => bounds(each, field, index))
      break
    }
  }
  const used = new Set<Filter>([...fixed, ...range])
  const rest = conjuncts.filter((each) => !used.has(each))
  const residual = restOf(rest)
  const isFound = residual === null && used.size > 0
  const order = orderThrough(index, fixed, sort) ?? (isFound ? orderOfCreation(sort) : null)
  return fixed.length + range.length > 0 || order ? { index, fixed, range, residual, order } : null
}

/** The order of the entries under the equality prefix. */
function orderThrough(
  index: CompiledIndex,
  fixed: readonly Condition[],
  sort: readonly SortTerm[],
): AccessPath['order'] {
  // An `in` list produces several sorted runs, which are not sorted together.
  if (index.hasCut || fixed.some(({ op }) => op === 'in')) return null
  const last = sort.at(-1)
  const ties = last?.descending ?? false
  // Fixed fields do not affect the order, and `id` is unique, so terms after it do not either.
  const shared = index.fields.slice(0, fixed.length)
  const terms = sort.filter(
    (term) => !isColumn(term, 'id') && !shared.some((each) => isField(term.field, each)),
  )
  const rest = index.fields.slice(fixed.length)
  if (terms.length !== rest.length || sort.slice(0, -1).some((term) => isColumn(term, 'id'))) return null
  if (!terms.every(({ field }, i) => isField(field, rest[i] as IndexField))) return null
  const isDescending = scansDown(index)
  const same = terms.every(({ descending }, i) => descending === (rest[i]?.direction === 'desc'))
  if (same && ties === isDescending) return 'declared'
  const turned = terms.every(({ descending }, i) => descending !== (rest[i]?.direction === 'desc'))
  return turned && ties !== isDescending && terms.length <= 1 ? 'reversed' : null
}

/** Entries store the creation time, so matches are sorted by it without reading the records. */
function orderOfCreation([first, ...more]: readonly SortTerm[]): AccessPath['order'] {
  if (more.length > 0 || !isColumn(first, 'created_at')) return null
  return first?.descending ? 'newest' : 'oldest'
}

const isColumn = (term: SortTerm | undefined, column: Column): boolean =>
  term?.field.kind === 'column' && term.field.column === column

export function isField(field: SortTerm['field'], { column, path }: IndexField): boolean {
  if (field.kind === 'column') return field.column === column
  if (field.kind === 'score' || path === null) return false
  return path.length === field.path.length && path.every((segment, i) => segment === field.path[i])
}

/** Whether the condition is an equality that key comparison decides exactly. */
function fixes({ op, value }: Condition, field: IndexField): boolean {
  if (op === 'is_null') return true
  if (op === 'eq') return value === null || isExact(value, field)
  return (
    op === 'in' &&
    (value as unknown[]).length > 0 &&
    (value as unknown[]).every((each) => isExact(each, field))
  )
}

/** Whether the condition is a range that key comparison decides exactly. */
function bounds({ op, value }: Condition, field: IndexField, index: CompiledIndex): boolean {
  if (!RANGES.has(op) || !isExact(value, field)) return false
  // In an inverted key, the values of one type are not a contiguous range between two type letters.
  if (isTurned(index, field)) return false
  return op !== 'starts_with' || !isTimeField(field)
}

function isExact(value: unknown, field: IndexField): boolean {
  if (typeof value === 'boolean') return field.column === null
  if (typeof value === 'number') return field.column === null || field.column === 'version'
  if (typeof value !== 'string' || value.length > MAX_INDEXED_CHARS || !value.isWellFormed()) return false
  if (isTimeField(field)) return isTime(value)
  return field.column !== 'version'
}

/** Whether the field's values compare as instants. */
export const isTimeField = ({ column, zone }: IndexField): boolean =>
  zone !== null || column === 'created_at' || column === 'updated_at'

/** Whether the index is scanned backward; the direction of its last field decides. */
export const scansDown = ({ fields }: CompiledIndex): boolean => fields.at(-1)?.direction === 'desc'
/** Whether the field's direction differs from the scan, so that its keys are stored inverted. */
export const isTurned = (index: CompiledIndex, { direction }: IndexField): boolean =>
  (direction === 'desc') !== scansDown(index)
