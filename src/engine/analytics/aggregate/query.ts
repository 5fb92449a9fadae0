import type { FUNCTIONS, INTERVALS } from '../../../contract/aggregate-shapes.ts'
import type { Field } from '../../compiled-types/field-path.ts'
import type { Filter } from '../../filter/parse.ts'
import type { SortTerm } from '../../query/sort.ts'

/** A field of a record, or the base that holds it. */
export type AggregateField = Field | { kind: 'base' }
export type Aggregation = {
  fn: (typeof FUNCTIONS)[number]
  field: AggregateField | null
  name: string
  /** Where it stands in the request, and where its field does. */
  at: string
  fieldAt: string
}
export type Interval = (typeof INTERVALS)[number]
export type GroupKey = {
  field: AggregateField
  interval: Interval | null
  name: string
  at: string
  fieldAt: string
}

/** What is asked of an aggregate. All of it is JSON as the caller wrote it. */
export type AggregateArgs = {
  filter?: unknown
  aggregations?: unknown
  groupBy?: unknown
  having?: unknown
  sort?: unknown
}
export type AggregateQuery = {
  filter: Filter | null
  aggregations: readonly Aggregation[]
  groups: readonly GroupKey[]
  having: Filter | null
  /** Empty when the groups come in the order of their keys. */
  sort: readonly SortTerm[]
}
