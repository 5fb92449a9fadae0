import type { FUNCTIONS, INTERVALS } from '../../../contract/aggregate-shapes.ts'
import type { Field } from '../../compiled-types/field-path.ts'
import type { Filter } from '../../filter/parse.ts'
import type { SortTerm } from '../../query/sort.ts'

/** A field of a record, or the id of its base. */
export type AggregateField = Field | { kind: 'base' }
export type Aggregation = {
  fn: (typeof FUNCTIONS)[number]
  field: AggregateField | null
  name: string
  /** JSON Pointers of the item and of its field in the request. */
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

/** Arguments of an aggregate, as unvalidated JSON. */
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
  /** Empty for the order of the group keys. */
  sort: readonly SortTerm[]
}
