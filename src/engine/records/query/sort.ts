import { splitNames } from '../../../contract/field-list.ts'
import { nearest } from '../../../contract/suggest.ts'
import { correctSort } from '../../../dialects/parameters.ts'
import { DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { usesSearch } from '../../data/filter/compile.ts'
import type { BoundSort, Filter } from '../../data/filter/syntax-tree.ts'
import { type Field, parseField } from '../../schema/compiled-types/field-path.ts'

/** A field of the record, or its search score. */
type SortField = Field | { kind: 'score' }
/** A sort term; `name` is the field as written, `at` its JSON Pointer. */
export type SortTerm<F = SortField> = {
  name: string
  field: F
  descending: boolean
  at: string
}

type ReadField<F> = (name: unknown, at: string) => F

const SCORE = '_search_score'

const DEFAULT: readonly SortTerm[] = [
  { name: 'created_at', field: { kind: 'column', column: 'created_at' }, descending: true, at: '/sort' },
]

/** The empty sort. */
export const UNSORTED = [] as unknown as BoundSort<SortTerm>

/** FIFO order of a queue. */
export const OLDEST_FIRST: readonly SortTerm[] = [
  { name: 'created_at', field: { kind: 'column', column: 'created_at' }, descending: false, at: '/sort' },
]

/** Default order of a search: by score, descending. */
export const BEST_FIRST: readonly SortTerm[] = [
  { name: SCORE, field: { kind: 'score' }, descending: true, at: '/sort' },
]

/**
 * Parses a sort of records; newest first by default.
 * @throws VALIDATION_ERROR
 */
export function parseSort(raw: unknown, at: string, filter: Filter | null): readonly SortTerm[] {
  if (raw === undefined || raw === null) return DEFAULT
  const searches = filter !== null && usesSearch(filter)
  try {
    return readSort<SortField>(raw, at, (name, here) =>
      name === SCORE ? scoreOf(searches, here) : parseField(name, here),
    )
  } catch (thrown) {
    throw corrected(thrown, raw)
  }
}

function scoreOf(searches: boolean, path: string): SortField {
  if (searches) return { kind: 'score' }
  throw invalid({
    path,
    code: 'unknown_field',
    message:
      'Only a search has a score to sort by. Add a condition with the operator search, or sort by another field.',
    received: SCORE,
  })
}

/** Adds the sort that was meant, with its direction, to the error. */
function corrected(thrown: unknown, raw: unknown): unknown {
  const hint = correctSort(raw)
  if (hint === undefined || !(thrown instanceof DomainError)) return thrown
  const [first, ...rest] = thrown.details
  return first ? invalid({ ...first, hint }, ...rest) : thrown
}

/**
 * Parses `[{ field, direction }]` or the shorthand `-data.amount,created_at`.
 * @throws VALIDATION_ERROR
 */
export function readSort<F>(raw: unknown, at: string, readField: ReadField<F>): readonly SortTerm<F>[] {
  const terms =
    typeof raw === 'string'
      ? splitNames(raw, at).map((term) => shorthand(term, at, readField))
      : Array.isArray(raw) && raw.length > 0
        ? raw.map((term, index) => readTerm(term, `${at}/${index}`, readField))
        : undefined
  if (!terms)
    throw invalid({
      path: at,
      code: 'type',
      message: 'sort must be a list of {"field","direction"}, or a string like "-created_at,id".',
    })
  if (terms.length > LIMITS.sortTerms)
    throw invalid({
      path: at,
      code: 'too_many',
      message: `A sort can have at most ${LIMITS.sortTerms} terms.`,
      expected: LIMITS.sortTerms,
    })
  return terms
}

/** A direction after the field, as in SQL. Without this check it would be a part of the property's name. */
const TRAILING_DIRECTION = /[\s:](?:asc|desc)(?:\s+nulls\s+(?:first|last))?$/i

function shorthand<F>(term: string, at: string, readField: ReadField<F>): SortTerm<F> {
  if (TRAILING_DIRECTION.test(term))
    throw invalid({
      path: at,
      code: 'invalid_field',
      message: 'A sort has no direction after a field. Write "-" before the field for descending order.',
    })
  const descending = term.startsWith('-')
  const name = descending ? term.slice(1) : term
  return { name, field: readField(name, at), descending, at }
}

function readTerm<F>(term: unknown, at: string, readField: ReadField<F>): SortTerm<F> {
  if (typeof term !== 'object' || term === null || Array.isArray(term))
    throw invalid({ path: at, code: 'type', message: 'A sort term must be {"field","direction"}.' })
  const unknown = Object.keys(term).find((key) => key !== 'field' && key !== 'direction')
  if (unknown !== undefined)
    throw invalid({
      path: `${at}/${unknown.slice(0, 64)}`,
      code: 'unknown_key',
      message: `A sort term has no "${unknown.slice(0, 64)}".`,
      allowed: ['field', 'direction'],
    })
  const { field, direction = 'asc' } = term as { field?: unknown; direction?: unknown }
  if (direction !== 'asc' && direction !== 'desc') {
    const written = typeof direction === 'string' ? direction.slice(0, 32) : direction
    const hint = typeof written === 'string' ? nearest(written.toLowerCase(), ['asc', 'desc']) : undefined
    throw invalid({
      path: `${at}/direction`,
      code: 'enum',
      message: `direction must be "asc" or "desc", not ${JSON.stringify(written)}.`,
      allowed: ['asc', 'desc'],
      ...(hint && { hint }),
    })
  }
  const read = readField(field, `${at}/field`)
  return { name: String(field), field: read, descending: direction === 'desc', at }
}
