import type { Column } from '../../contract/record-columns.ts'
import type { FieldPath } from './field-path.ts'

export type IndexKind = 'btree' | 'unique' | 'text'
/** `building`: entries are being made. `ready`: there is one for every record. `failed`: records share a unique value. */
export type IndexStatus = 'building' | 'ready' | 'failed'

/** One field of an index, resolved: a column of the record, or a path into its data. */
export type IndexField = {
  readonly field: string
  readonly column: Column | null
  readonly path: FieldPath | null
  readonly direction: 'asc' | 'desc'
  /** The zone in which the field's values are read as instants; null when they are not. */
  readonly zone: string | null
}

/** A declared index as reads and writes need it. */
export type CompiledIndex = {
  readonly id: string
  readonly kind: IndexKind
  readonly status: IndexStatus
  /** Some key was too long for an entry and is cut: the index finds values, and no longer orders them. */
  readonly hasCut: boolean
  readonly fields: readonly IndexField[]
}

/** The indexes of a type `t`, in the order they were declared, as JSON of CompiledIndex. */
export const COMPILED_INDEXES = `(
  SELECT coalesce(json_agg(json_build_object(
    'id', i.id::text, 'kind', i.kind, 'status', i.status, 'hasCut', i.has_cut, 'fields', i.fields) ORDER BY i.position), '[]')
  FROM plinth.record_type_index i WHERE i.base_id = t.base_id AND i.record_type = t.id)`
