import type { Position } from '../../core/cursor.ts'
import { type FilterOperands, usesSearch } from '../../data/filter/compile.ts'
import { linkedIn } from '../../data/filter/linked.ts'
import type { FieldContext } from '../../data/filter/operand.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { PRESENT_FIELDS, parseFilter } from '../../data/filter/parse.ts'
import { recordOperands } from '../../data/filter/record-operands.ts'
import { searchIn, sumOfScores } from '../../data/filter/search-condition.ts'
import type { BoundSort, Filter } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex } from '../../data/indexes/index.ts'
import { type RecordRow, written } from '../../data/ledger/record.ts'
import { type OrderTerm, orderTerms } from './order.ts'
import { BEST_FIRST, parseSort, type SortTerm } from './sort.ts'

/** Parses the filter and sort of a request. A search without a sort is sorted by score. */
export function readQuestion(
  { filter: raw, sort }: { filter?: unknown; sort?: unknown },
  { isPast = false } = {},
): {
  filter: Filter | null
  sort: readonly SortTerm[]
} {
  const filter = raw === undefined || raw === null ? null : readFilter(raw, isPast)
  const isUnsorted = sort === undefined || sort === null
  const isSearch = filter !== null && usesSearch(filter)
  return { filter, sort: isUnsorted && isSearch ? BEST_FIRST : parseSort(sort, '/sort', filter) }
}

/** Parses a filter of records, as they are or were. */
export const readFilter = (raw: unknown, isPast = false): Filter =>
  isPast ? parseFilter(raw, '/filter') : parseFilter(raw, '/filter', PRESENT_FIELDS)

/** Compilation state of a statement: its parameters, sort terms and search score. */
export type Compiled = {
  parameters: Parameters
  operands: FilterOperands
  /** The sort terms; call it after the filter is compiled. */
  terms(): readonly OrderTerm[]
  /** Adds the score of a search served by a text index. */
  addScore(score: string): void
  /** The total score of the compiled searches; null without a search. */
  score(): string | null
  /** The values of the sort terms for a row, for the keyset cursor. */
  valuesOf(row: RecordRow): Position['values']
}

type About = {
  baseId: string
  type: FieldContext & { readonly indexes: readonly CompiledIndex[] }
  sort: BoundSort<SortTerm>
}

export function compileFor({ baseId, type, sort }: About, parameters = new Parameters()): Compiled {
  const scores: string[] = []
  const addScore = (score: string) => void scores.push(score)
  const search = searchIn(baseId, type, parameters, addScore)
  const score = () => sumOfScores(scores)
  let terms: readonly OrderTerm[] | undefined
  const compileTerms = () => {
    terms ??= orderTerms(sort, type, score(), parameters)
    return terms
  }
  return {
    parameters,
    operands: { ...recordOperands(type, parameters, search), linked: linkedIn(parameters) },
    addScore,
    score,
    terms: compileTerms,
    valuesOf: (row) => compileTerms().map((term, i) => sortValue(term, i, row)),
  }
}

function sortValue({ column }: OrderTerm, i: number, row: RecordRow): string | number | null {
  switch (column) {
    case null:
      return (row as unknown as Record<string, string | number | null>)[`s${i}`] ?? null
    case 'created_at':
    case 'updated_at':
      return written(row[column])
    // No sort names it.
    case 'valid':
      return null
    case 'status':
      return row.cancelled_at ? 'cancelled' : 'active'
    default:
      return row[column]
  }
}
