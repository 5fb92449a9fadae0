import { LIMITS } from '../../../foundation/limits.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import type { Scalar } from './value-stats.ts'

/** An example query over the sampled data. */
export type Example = {
  description: string
  /** The body of POST …/query, or of POST …/aggregate if it has `aggregations`. */
  query: Readonly<Record<string, unknown>>
}

/** A queryable field. */
export type Candidate = {
  field: string
  path: FieldPath
  /** The common kind of its values; null when mixed or not useful. */
  kind: 'text' | 'number' | 'boolean' | 'time' | null
  /** Whether the schema enumerates its values. */
  isListed: boolean
  nullShare: number
  distinct: number
  /** Frequency of the most frequent value. */
  share: number
  /** A frequent value and a median value; undefined without one. */
  common: Scalar | undefined
  middle: Scalar | undefined
}

const FOR_QUERY = 'A query'
const FOR_AGGREGATE = 'An aggregate'

/**
 * Generates three queries: a filter, a sort and a grouped aggregation. Each has results if there are records.
 */
export function exampleQueries(candidates: readonly Candidate[]): Example[] {
  const groups = candidates.filter(({ kind }) => kind === 'text' || kind === 'boolean')
  const scales = candidates.filter(({ kind }) => kind === 'number' || kind === 'time')
  const single = ({ path }: Candidate) => !path.includes(null)
  const group = best(groups.filter(single))
  return [
    withValue(group ?? best(groups) ?? best(scales)),
    inOrder(best(scales.filter(single)) ?? group),
    byGroup(group, best(scales.filter((each) => single(each) && each.kind === 'number'))),
  ]
}

function withValue(found: Candidate | undefined): Example {
  if (!found)
    return {
      description: `${FOR_QUERY}: the records that were changed last.`,
      query: { sort: '-updated_at', limit: LIMITS.exampleRows },
    }
  const { field, common } = found
  if (common === undefined)
    return {
      description: `${FOR_QUERY}: records that have ${field}, newest first.`,
      query: { filter: { field, op: 'is_not_null' }, sort: '-created_at', limit: LIMITS.exampleRows },
    }
  return {
    description: `${FOR_QUERY}: records with one value of ${field}, newest first.`,
    query: { filter: { field, op: 'eq', value: common }, sort: '-created_at', limit: LIMITS.exampleRows },
  }
}

function inOrder(found: Candidate | undefined): Example {
  if (!found)
    return {
      description: `${FOR_QUERY}: the newest records.`,
      query: { sort: '-created_at', limit: LIMITS.exampleRows },
    }
  const { field, middle } = found
  return middle === undefined
    ? {
        description: `${FOR_QUERY}: the records with the highest ${field}.`,
        query: { filter: { field, op: 'is_not_null' }, sort: `-${field}`, limit: LIMITS.exampleRows },
      }
    : {
        description: `${FOR_QUERY}: records from one value of ${field} on, the lowest first.`,
        query: { filter: { field, op: 'gte', value: middle }, sort: field, limit: LIMITS.exampleRows },
      }
}

function byGroup(group: Candidate | undefined, measure: Candidate | undefined): Example {
  const by = group?.field ?? 'status'
  const average = measure && { fn: 'avg', field: measure.field, alias: 'average' }
  return {
    description: `${FOR_AGGREGATE}: how many records have each ${by}${measure ? `, and their average ${measure.field}` : ''}.`,
    query: {
      group_by: [by],
      aggregations: [{ fn: 'count' }, ...(average ? [average] : [])],
      sort: '-count',
      limit: LIMITS.exampleRows,
    },
  }
}

/** The most informative field: shallow, rarely missing, and with several repeated values. */
const best = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.toSorted((a, b) => unfit(a) - unfit(b))[0]

const unfit = ({ path, nullShare, distinct, share, kind, isListed }: Candidate): number =>
  path.length +
  nullShare * 4 +
  share * 2 +
  (kind === 'boolean' ? 1 : 0) +
  fewOrMany(kind, distinct) -
  (isListed ? 1 : 0)

function fewOrMany(kind: Candidate['kind'], distinct: number): number {
  if (distinct < 2) return 3
  const isGroup = kind === 'text' || kind === 'boolean'
  return isGroup && distinct > PROFILE_LIMITS.topValues * 4 ? 2 : 0
}
