import type { CARDINALITIES, ON_DELETE } from '../../contract/shapes.ts'
import type { Detail } from '../../foundation/errors.ts'
import type { Allowance } from '../json-schema/index.ts'

export type Cardinality = (typeof CARDINALITIES)[number]
export type OnDelete = (typeof ON_DELETE)[number]

/** A relationship type as reads and writes need it: its schema compiled, under the stamp of what it was compiled from. */
export type CompiledRelationshipType = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  /** Names the version among those of all types that have had the id. */
  readonly stamp: string
  readonly name: string
  /** Ids of record types, or `*` alone for any. */
  readonly sourceRecordTypes: readonly string[]
  readonly targetRecordTypes: readonly string[]
  readonly cardinality: Cardinality
  readonly onDelete: OnDelete
  readonly dataSchema: unknown
  /** The faults of a link's data, which stands at `at` in the request; compiled at its first use. */
  validate(data: unknown, at?: string, allowance?: Allowance): Detail[]
}

/** Are records of the type among those that an end names? */
export const isAmong = (recordType: string, named: readonly string[]): boolean =>
  named.includes('*') || named.includes(recordType)

/** May a source have no other target? */
export const hasOneTarget = (cardinality: Cardinality): boolean =>
  cardinality === 'many_to_one' || cardinality === 'one_to_one'

/** May a target have no other source? */
export const hasOneSource = (cardinality: Cardinality): boolean =>
  cardinality === 'one_to_many' || cardinality === 'one_to_one'

/** The stamp as SQL over `plinth.relationship_type`: versions begin anew where a type is made again. */
export const STAMP = `version || '@' || extract(epoch FROM created_at)`
