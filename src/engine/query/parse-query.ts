import { holdsSearch } from '../filter/compile.ts'
import { type Filter, parseFilter } from '../filter/parse.ts'
import { BEST_FIRST, parseSort, type SortTerm } from './sort.ts'

/** Parses the filter and sort of a request. A search without a sort is sorted by score. */
export function readQuestion({ filter: raw, sort }: { filter?: unknown; sort?: unknown }): {
  filter: Filter | null
  sort: readonly SortTerm[]
} {
  const filter = raw === undefined || raw === null ? null : parseFilter(raw, '/filter')
  const isUnsorted = sort === undefined || sort === null
  const isSearch = filter !== null && holdsSearch(filter)
  return { filter, sort: isUnsorted && isSearch ? BEST_FIRST : parseSort(sort, '/sort', filter) }
}
