import { LIMITS } from '../../../foundation/limits.ts'
import { type FieldContext, zoneOf } from '../../data/filter/operand.ts'
import { servesSearch } from '../../data/filter/search-condition.ts'
import type { BoundFilter, BoundSort, Condition } from '../../data/filter/syntax-tree.ts'
import { type CompiledIndex, declaredFields, type IndexField } from '../../data/indexes/index.ts'
import { conjunctsOf, meritThrough } from './access-path.ts'
import { type SortTerm, UNSORTED } from './sort.ts'

const FIXING = new Set(['eq', 'in', 'is_null'])
const BOUNDING = new Set(['gt', 'gte', 'lt', 'lte', 'starts_with'])

type Query = {
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  filter: BoundFilter | null
  sort: BoundSort<SortTerm>
}

/** A suggested index declaration, and whether the type already declares it. */
export type Advice = {
  index: object
  status: 'undeclared' | 'building' | 'failed'
  /** The record type at the far end of a relationship that needs it; absent for the type of the list. */
  recordType?: string
}

/** Suggests an index for a query; null when none would help or a declared one serves as well. */
export function adviseIndex(query: Query): Advice | null {
  return adviseFar(query.filter) ?? adviseOwn(query)
}

/** An index of linked records lets few of them lead to the records of the list. */
function adviseFar(filter: BoundFilter | null): Advice | null {
  for (const each of filter ? conjunctsOf(filter) : []) {
    if (each.kind !== 'linked' || !each.end?.recordType || each.end.policy || each.end.type.visible) continue
    const { recordType, type } = each.end
    const advice = adviseIndex({ type, filter: each.of as BoundFilter | null, sort: UNSORTED })
    if (advice) return { recordType, ...advice }
  }
  return null
}

function adviseOwn(query: Query): Advice | null {
  const { type, filter, sort } = query
  const conditions = (filter ? conjunctsOf(filter) : []).flatMap((each) =>
    each.kind === 'condition' ? [each] : [],
  )
  const search = conditions.find(({ op }) => op === 'search')
  if (search) return adviseText(search, type)
  const advised = advisedFields(conditions, sort, type)
  if (advised.length === 0) return null
  const wanted: CompiledIndex = { id: '', kind: 'btree', status: 'ready', hasCut: false, fields: advised }
  const most = meritThrough(wanted, filter, sort)
  const declared = type.indexes.filter(
    (index) => index.kind !== 'text' && meritThrough(index, filter, sort) >= most,
  )
  return declared.length > 0
    ? standing(declared)
    : { index: { fields: declaredFields(advised) }, status: 'undeclared' }
}

function adviseText({ name, field }: Condition, { indexes }: Query['type']): Advice | null {
  if (field.kind === 'column') return null
  const declared = indexes.filter((index) => servesSearch(index, field.path))
  return declared.length > 0
    ? standing(declared)
    : { index: { fields: [name], type: 'text' }, status: 'undeclared' }
}

/** The status to report for matching declared indexes; null when one is ready. */
function standing(declared: readonly CompiledIndex[]): Advice | null {
  const next = declared.find(({ status }) => status === 'building') ?? declared[0]
  if (!next || declared.some(({ status }) => status === 'ready')) return null
  const { kind, status } = next
  return {
    index: {
      fields: declaredFields(next.fields),
      ...(kind === 'unique' && { unique: true }),
      ...(kind === 'text' && { type: 'text' }),
    },
    status: status === 'building' ? status : 'failed',
  }
}

/** The advised fields: equality fields first, then sort fields, else a range field. */
function advisedFields(
  conditions: readonly Condition[],
  sort: readonly SortTerm[],
  type: FieldContext,
): IndexField[] {
  const usable = conditions.filter(({ name, field }) => field.kind === 'data' && !name.includes('[]'))
  const fixed = unique(usable.filter(({ op }) => FIXING.has(op)))
  const bounded = unique(usable.filter(({ op }) => BOUNDING.has(op)))
  const isFixed = (name: string) => fixed.some((each) => each.name === name)
  const sorted = sort.filter(({ name }) => !name.includes('[]') && !isFixed(name) && name !== 'id')
  const byData = sorted.some(({ field }) => field.kind === 'data')
  // Creation order is already available for all records, but not for the records of one value.
  const serves = byData || (fixed.length > 0 && bounded.length === 0)
  const rest = serves ? sorted : bounded.slice(0, 1)
  return [...fixed, ...rest].slice(0, LIMITS.indexAdviceFields).flatMap((each) => indexField(each, type))
}

function indexField(
  { name, field, ...term }: Condition | SortTerm,
  type: FieldContext,
): IndexField | readonly [] {
  const direction = 'descending' in term && term.descending ? 'desc' : 'asc'
  if (field.kind === 'score') return []
  if (field.kind === 'column') return { field: name, column: field.column, path: null, direction, zone: null }
  return { field: name, column: null, path: field.path, direction, zone: zoneOf(field.path, type) }
}

const unique = (conditions: readonly Condition[]): Condition[] =>
  conditions.filter(({ name }, at) => conditions.findIndex((other) => other.name === name) === at)
