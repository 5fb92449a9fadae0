/** Snippets: the parts of a record's text that a search has found. */

import type { Column } from '../../../contract/record-columns.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import type { Condition, Filter } from '../../data/filter/syntax-tree.ts'
import type { RecordRow } from '../../data/ledger/record.ts'
import { Candidates, MATCHES, type Match } from '../../data/search/matches.ts'
import {
  matchesOf,
  requireSnippetLimit,
  type Snippet,
  snippetsIn,
  type Text,
} from '../../data/search/snippets.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'

/**
 * The searches of a filter, for snippets of at most `limit` records. A search below a `not` finds nothing.
 * @throws VALIDATION_ERROR without a search, or for too many records
 */
export function readSnippets(filter: Filter | null, limit: number): Condition[] {
  const searches = filter ? searchesOf(filter) : []
  if (searches.length === 0)
    throw invalid({
      path: '/snippets',
      code: 'needs_search',
      message: 'snippets needs a filter with the operator "search". Add one, or leave snippets out.',
      hint: '{"field":"data","op":"search","value":"some words"}',
    })
  requireSnippetLimit(limit)
  return searches
}

const searchesOf = (filter: Filter): Condition[] =>
  filter.kind === 'condition'
    ? filter.op === 'search'
      ? [filter]
      : []
    : filter.kind === 'not' || filter.kind === 'linked'
      ? []
      : filter.of.flatMap(searchesOf)

/** The snippets of each row, in order. The rows have their data as a value, with the visible properties. */
export async function snippetsOf(
  scope: Scope,
  rows: readonly RecordRow[],
  searches: readonly Condition[],
): Promise<Snippet[][]> {
  const found: Snippet[][] = rows.map(() => [])
  for (const search of searches) {
    const candidates = new Candidates(String(search.value))
    const texts: Text[][] = []
    for (const row of rows) texts.push(await textsWithHits(row, search, candidates))
    const matches = matchesOf(await read<Match>(scope, MATCHES, candidates.values))
    for (const [i, of] of texts.entries()) {
      if (turnIsOver()) await nextTurn()
      const more = snippetsIn(
        of,
        matches,
        candidates.words,
        LIMITS.snippetsOfRecord - (found[i]?.length ?? 0),
      )
      found[i]?.push(...more)
    }
  }
  return found
}

async function textsWithHits(
  row: RecordRow,
  { field, name }: Condition,
  candidates: Candidates,
): Promise<Text[]> {
  const found: Text[] = []
  const budget = { chars: LIMITS.searchedChars, hits: LIMITS.snippetHits }
  const strings =
    field.kind === 'column'
      ? [{ path: null, text: columnText(row, field.column) }]
      : at(row.data, field.path, [])
  for (const { path, text } of strings) {
    if (turnIsOver()) await nextTurn()
    if (budget.chars <= 0 || budget.hits <= 0) break
    const searched = text.slice(0, budget.chars)
    const hits = candidates.hitsIn(searched, budget.hits)
    budget.chars -= text.length + 1
    budget.hits -= hits.length
    if (hits.length > 0) found.push({ field: path ? fieldName(path) : name, text, hits })
  }
  return found
}

function columnText(row: RecordRow, column: Column): string {
  if (column === 'status') return row.cancelled_at ? 'cancelled' : 'active'
  const value = row[column as Exclude<Column, 'status'>]
  return typeof value === 'string' ? value : ''
}

type Found = { path: FieldPath; text: string }

/** All strings at a path, in the order in which a search reads them. */
function* at(value: unknown, path: FieldPath, done: FieldPath): Generator<Found> {
  const [segment, ...rest] = path
  if (segment === undefined) yield* strings(value, done)
  else if (segment === null) {
    if (Array.isArray(value)) for (const [i, each] of value.entries()) yield* at(each, rest, [...done, i])
  } else if (typeof segment === 'number' ? Array.isArray(value) : isObject(value)) {
    const next = (value as Record<string | number, unknown>)[segment]
    if (Object.hasOwn(Object(value) as object, segment)) yield* at(next, rest, [...done, segment])
  }
}

function* strings(value: unknown, path: FieldPath): Generator<Found> {
  if (typeof value === 'string') yield { path, text: value }
  else if (Array.isArray(value)) for (const [i, each] of value.entries()) yield* strings(each, [...path, i])
  else if (isObject(value))
    for (const name of Object.keys(value)) yield* strings(value[name], [...path, name])
}
