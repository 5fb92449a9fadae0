import { holdsSearch } from '../filter/compile.ts'
import { type Filter, parseFilter } from '../filter/parse.ts'
import { BEST_FIRST, parseSort, type SortTerm } from './sort.ts'

/** Which records and in which order, as JSON that a caller wrote. A search that is not sorted has its best first. */
export function readQuestion({ filter: raw, sort }: { filter?: unknown; sort?: unknown }): {
  filter: Filter | null
  sort: readonly SortTerm[]
} {
  const filter = raw === undefined || raw === null ? null : parseFilter(raw, '/filter')
  const isUnsorted = sort === undefined || sort === null
  const isSearch = filter !== null && holdsSearch(filter)
  return { filter, sort: isUnsorted && isSearch ? BEST_FIRST : parseSort(sort, '/sort', filter) }
}
