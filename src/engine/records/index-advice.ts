import type { Filter } from '../filter/parse.ts'
import type { SortTerm } from './sort.ts'

const MOST_FIELDS = 3
const FIXING = new Set(['eq', 'in', 'is_null'])
const BOUNDING = new Set(['gt', 'gte', 'lt', 'lte', 'starts_with'])

/** The declared index that would serve a query, as it is written in a record type; null when none would. */
export function adviseIndex(filter: Filter | null, sort: readonly SortTerm[]): object | null {
  const conjuncts = filter ? flatten(filter) : []
  const conditions = conjuncts.flatMap((each) => (each.kind === 'condition' ? [each] : []))
  const search = conditions.find(({ op }) => op === 'search')
  if (search) return { fields: [search.name], type: 'text' }
  const usable = conditions.filter(({ name, field }) => field.kind === 'data' && !name.includes('[]'))
  const fixed = unique(usable.filter(({ op }) => FIXING.has(op)).map(({ name }) => name))
  const bounded = unique(usable.filter(({ op }) => BOUNDING.has(op)).map(({ name }) => name))
  const sorted = sort.filter(({ name }) => !name.includes('[]') && !fixed.includes(name) && name !== 'id')
  const byData = sorted.some(({ field }) => field.kind === 'data')
  // In the order of their creation records are at hand, but not those of one value.
  const serves = byData || (fixed.length > 0 && bounded.length === 0)
  const ordered = serves
    ? sorted.map(({ name, descending }) => asField(name, descending))
    : bounded.slice(0, 1)
  const fields = [...fixed, ...ordered].slice(0, MOST_FIELDS)
  return fields.length > 0 ? { fields } : null
}

const asField = (name: string, descending: boolean) =>
  descending ? { field: name, direction: 'desc' } : name
const unique = (names: readonly string[]): string[] => [...new Set(names)]
const flatten = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.of.flatMap(flatten) : [filter]
