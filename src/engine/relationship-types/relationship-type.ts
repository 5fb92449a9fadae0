import { DomainError } from '../../foundation/errors.ts'
import type { Access } from '../access.ts'
import type { Cardinality, OnDelete } from '../compiled-relationship-type.ts'
import type { Named } from '../configuration/kind.ts'
import type { RelationshipType as Row } from '../prisma/client.ts'

/** Relationship types, as what names one of them knows them. */
export const RELATIONSHIP_TYPE: Named = {
  name: 'relationship_type',
  label: 'a relationship type',
  codes: { notFound: 'relationship_type_not_found', unknown: 'unknown_relationship_type' },
}

/** A relationship type as every surface shows it. */
export type RelationshipType = {
  baseId: string
  id: string
  name: string
  description: string | null
  dataSchema: object
  /** Ids of record types, or `*` for any; of those that the token may read. */
  sourceRecordTypes: readonly string[]
  targetRecordTypes: readonly string[]
  cardinality: Cardinality
  onDelete: OnDelete
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

export const toRelationshipType = (row: Row): RelationshipType => ({
  baseId: row.baseId,
  id: row.id,
  name: row.name,
  description: row.description,
  dataSchema: row.dataSchema as object,
  sourceRecordTypes: row.sourceRecordTypes,
  targetRecordTypes: row.targetRecordTypes,
  cardinality: row.cardinality as Cardinality,
  onDelete: row.onDelete as OnDelete,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The type without the record types that the token may not read; null when one of its ends could not be read. */
export function shownTo(access: Access, type: RelationshipType): RelationshipType | null {
  const readable = access.types('read', type.baseId)
  if (readable === '*') return type
  const known = (named: readonly string[]) => named.filter((id) => id === '*' || readable.has(id))
  const shown = {
    ...type,
    sourceRecordTypes: known(type.sourceRecordTypes),
    targetRecordTypes: known(type.targetRecordTypes),
  }
  const isEmpty = shown.sourceRecordTypes.length === 0 || shown.targetRecordTypes.length === 0
  return isEmpty || readable.size === 0 ? null : shown
}

export const relationshipTypeNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no relationship type "${id}".`, {
    details: [
      {
        path: '/id',
        code: 'relationship_type_not_found',
        message: 'List the relationship types of the base, or PUT this one first.',
      },
    ],
  })
