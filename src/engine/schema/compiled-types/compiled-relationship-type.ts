import type { CARDINALITIES, ON_DELETE } from '../../../contract/shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import type { Allowance } from '../json-schema/compile.ts'

export type Cardinality = (typeof CARDINALITIES)[number]
export type OnDelete = (typeof ON_DELETE)[number]

/**
 * A relationship type in the form for reads and writes: compiled schema, and the version stamp it was
 * compiled from.
 */
export type CompiledRelationshipType = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  /** Version stamp, unique across re-creations of the type. */
  readonly stamp: string
  readonly name: string
  /** Ids of record types, or only `*` for any. */
  readonly sourceRecordTypes: readonly string[]
  readonly targetRecordTypes: readonly string[]
  readonly cardinality: Cardinality
  readonly onDelete: OnDelete
  readonly dataSchema: unknown
  /** Validates the data of a link at the path `at`. Compiles the schema on first use. */
  validate(data: unknown, at?: string, allowance?: Allowance): Detail[]
}

/** Whether an end of the relationship type allows the record type. */
export const isAmong = (recordType: string, named: readonly string[]): boolean =>
  named.includes('*') || named.includes(recordType)

/** Whether a source may have only one target. */
export const hasOneTarget = (cardinality: Cardinality): boolean =>
  cardinality === 'many_to_one' || cardinality === 'one_to_one'

/** Whether a target may have only one source. */
export const hasOneSource = (cardinality: Cardinality): boolean =>
  cardinality === 'one_to_many' || cardinality === 'one_to_one'

/**
 * The stamp as SQL over `plinth.relationship_type`. Includes the creation time, because versions may repeat
 * when a type is recreated.
 */
export const STAMP = `version || '@' || extract(epoch FROM created_at)`
