import type { Position } from '../core/cursor.ts'
import type { BoundSort } from '../filter/bind.ts'
import type { FilterTarget } from '../filter/compile.ts'
import type { FieldContext } from '../filter/operand.ts'
import { Parameters } from '../filter/parameters.ts'
import { recordTarget } from '../filter/record-target.ts'
import { searchIn, sumOfScores } from '../filter/search-condition.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { type RecordRow, written } from '../record-store/record.ts'
import { type OrderTerm, orderTerms } from './order.ts'
import type { SortTerm } from './sort.ts'

/** How a statement compiles its filter and its order; a search adds to both. */
export type Compiled = {
  parameters: Parameters
  target: FilterTarget
  /** The terms of the sort; asked for after the filter is compiled. */
  terms(): readonly OrderTerm[]
  /** Adds the score of a search that a text index serves. */
  addScore(score: string): void
  /** The score of the searches that were compiled; null without any. */
  score(): string | null
  /** What each term of the sort is for a row of the statement. */
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
    target: recordTarget(type, parameters, search),
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
    case 'status':
      return row.cancelled_at ? 'cancelled' : 'active'
    default:
      return row[column]
  }
}
