/** Query planner: chooses the declared index that serves a filter and a sort. */
import type { Column } from '../../contract/record-columns.ts'
import { type BoundFilter, type BoundSort, restOf } from '../filter/bind.ts'
import type { Condition, Filter } from '../filter/parse.ts'
import { isTime } from '../filter/time.ts'
import type { CompiledIndex, IndexField } from '../indexes/index.ts'
import type { SortTerm } from './sort.ts'

/** How an index serves a query. */
export type AccessPath = {
  index: CompiledIndex
  /** For each of the index's first fields the condition that says its values; all of them `eq`, `is_null` or `in`. */
  fixed: readonly Condition[]
  /** Conditions on the field after those. */
  range: readonly Condition[]
  /** What the entries cannot tell; null when they tell all. */
  residual: BoundFilter | null
  /** Do the entries come in the order of the sort: as declared, the other way round, or not at all? */
  order: 'declared' | 'reversed' | 'newest' | 'oldest' | null
}

/** A longer string may meet entries that are cut, which do not say whether they lie above or below it. */
const MAX_INDEXED_CHARS = 140
const RANGES = new Set(['gt', 'gte', 'lt', 'lte', 'starts_with'])

/** The best way through the declared indexes; null when reading the records themselves is no worse. */
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

/** How well an index would serve a query, if it were ready; 0 when not at all. */
export function meritThrough(
  index: CompiledIndex,
  filter: BoundFilter | null,
  sort: BoundSort<SortTerm>,
): number {
  const path = pathThrough(index, filter ? conjunctsOf(filter) : [], sort)
  return path ? meritOf(path) : 0
}

/** Order saves reading what is not shown; each fixed field divides what is read. */
function meritOf({ fixed, range, order, residual }: AccessPath): number {
  const found = fixed.length * 8 + (range.length > 0 ? 4 : 0)
  const inOrder = order === 'declared' || order === 'reversed'
  // The records themselves are at hand in the order of their creation, and newest first is the default.
  if (found === 0) return inOrder ? 1 : 0
  return found + (order === null ? 0 : inOrder ? 6 : 5) + (residual === null ? 2 : 0)
}

/** The conditions that all must hold. */
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

/** The order in which the entries under the fixed values come. */
function orderThrough(
  index: CompiledIndex,
  fixed: readonly Condition[],
  sort: readonly SortTerm[],
): AccessPath['order'] {
  // A list of values makes several runs of entries, each in order.
  if (index.hasCut || fixed.some(({ op }) => op === 'in')) return null
  const last = sort.at(-1)
  const ties = last?.descending ?? false
  // What all records share does not order them, and after the id nothing does.
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

/** Entries know when their record was created: those found are sorted without reading the records. */
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

/** Does the condition name the values of a field, such that equal keys are equal values? */
function fixes({ op, value }: Condition, field: IndexField): boolean {
  if (op === 'is_null') return true
  if (op === 'eq') return value === null || isExact(value, field)
  return (
    op === 'in' &&
    (value as unknown[]).length > 0 &&
    (value as unknown[]).every((each) => isExact(each, field))
  )
}

/** Does the condition bound the values of a field, such that keys compare as values do? */
function bounds({ op, value }: Condition, field: IndexField, index: CompiledIndex): boolean {
  if (!RANGES.has(op) || !isExact(value, field)) return false
  // Turned round, the keys of one type no longer lie between two letters.
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

/** Do its values compare as instants? */
export const isTimeField = ({ column, zone }: IndexField): boolean =>
  zone !== null || column === 'created_at' || column === 'updated_at'

/** Is the index read from its last entry to its first? It goes the way of its last field. */
export const scansDown = ({ fields }: CompiledIndex): boolean => fields.at(-1)?.direction === 'desc'
/** Does the field go the other way, so that its keys are stored turned round? */
export const isTurned = (index: CompiledIndex, { direction }: IndexField): boolean =>
  (direction === 'desc') !== scansDown(index)
