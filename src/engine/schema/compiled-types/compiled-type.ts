/** Compiled configuration: a record type in the form for reads and writes. */

import type { Column } from '../../../contract/record-columns.ts'
import type { Source } from '../../../contract/source-shapes.ts'
import type { CompiledSchema } from '../json-schema/compile.ts'
import type { FieldPath } from './field-path.ts'

/** A record type with its compiled schema, and the version it was compiled from. */
export type CompiledType = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  /**
   * Increases with each change that writers depend on: the type itself, and the set of indexes they maintain.
   */
  readonly revision: number
  readonly timezone: string
  readonly jsonSchema: unknown
  readonly schema: CompiledSchema
  /** The property of `data` that is the title of a record, if any. */
  readonly title: string | null
  /** Other systems that hold records of the type. */
  readonly sources: readonly Source[]
  readonly indexes: readonly CompiledIndex[]
}

export type IndexKind = 'btree' | 'unique' | 'text'
/**
 * `building`: entries are being created. `ready`: every record has one. `failed`: records share a unique
 * value.
 */
export type IndexStatus = 'building' | 'ready' | 'failed'

/** A resolved index field: a column of the record, or a path into its data. */
export type IndexField = {
  readonly field: string
  readonly column: Column | null
  readonly path: FieldPath | null
  readonly direction: 'asc' | 'desc'
  /** Time zone for parsing values as instants; null if the values are not times. */
  readonly zone: string | null
  /** Of a text index: the strings of `data` outside of these properties. It is the last field, and no declared one. */
  readonly without?: string[]
}

/** A declared index in the form for reads and writes. */
export type CompiledIndex = {
  readonly id: string
  readonly kind: IndexKind
  readonly status: IndexStatus
  /** Some key exceeded the entry size and is truncated. The index then supports equality but not order. */
  readonly hasCut: boolean
  readonly fields: readonly IndexField[]
}

/** Indexes of type `t` in declaration order, as JSON of CompiledIndex. */
export const COMPILED_INDEXES = `(
  SELECT coalesce(json_agg(json_build_object(
    'id', i.id::text, 'kind', i.kind, 'status', i.status, 'hasCut', i.has_cut, 'fields', i.fields) ORDER BY i.position), '[]')
  FROM plinth.record_type_index i WHERE i.base_id = t.base_id AND i.record_type = t.id)`
