import { oneFault } from '../../../foundation/errors.ts'
import type { Access } from '../../storage/access/access.ts'
import { written } from './record.ts'

/** A link in the format of all surfaces. */
export type Relationship = {
  id: string
  relType: string
  sourceRecordType: string
  sourceId: string
  targetRecordType: string
  targetId: string
  data: unknown
  externalId: string | null
  externalSource: string | null
  version: number
  /** False when the link violates the current schema of its type; otherwise null. */
  valid: false | null
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
  /** Ids of the links that it replaced, which are deleted. */
  replaced?: readonly string[]
}

export type RelationshipRow = {
  id: string
  rel_type: string
  source_record_type: string
  source_id: string
  target_record_type: string
  target_id: string
  data: unknown
  external_id: string | null
  external_source: string | null
  version: number
  valid: boolean
  created_at: Date | string
  updated_at: Date | string
}

/** Columns of a RelationshipRow. */
export const RELATIONSHIP_COLUMNS =
  'id, rel_type, source_record_type, source_id, target_record_type, target_id, data, external_id, external_source, version, valid, created_at, updated_at'

export const toRelationship = (row: RelationshipRow): Relationship => ({
  id: row.id,
  relType: row.rel_type,
  sourceRecordType: row.source_record_type,
  sourceId: row.source_id,
  targetRecordType: row.target_record_type,
  targetId: row.target_id,
  data: row.data,
  externalId: row.external_id,
  externalSource: row.external_source,
  version: row.version,
  valid: row.valid ? null : false,
  createdAt: written(row.created_at),
  updatedAt: written(row.updated_at),
})

/**
 * Converts a link to the format of REST and MCP. Does not use the ORM, for links that are read with records.
 */
export const toRelationshipView = (row: RelationshipRow): object => ({
  id: row.id,
  rel_type: row.rel_type,
  source_record_type: row.source_record_type,
  source_id: row.source_id,
  target_record_type: row.target_record_type,
  target_id: row.target_id,
  data: row.data,
  external_id: row.external_id,
  external_source: row.external_source,
  version: row.version,
  ...(!row.valid && { valid: false }),
  created_at: written(row.created_at),
  updated_at: written(row.updated_at),
})

type Ends = { source_record_type: string; target_record_type: string }

/** Whether the token may read both ends. Otherwise the link is not visible. */
export const maySeeLink = (access: Access, baseId: string, ends: Ends): boolean =>
  access.allows('read', baseId, ends.source_record_type) &&
  access.allows('read', baseId, ends.target_record_type)

export const relationshipNotFound = (id: string) =>
  oneFault('NOT_FOUND', `There is no relationship "${id}".`, {
    path: '/id',
    code: 'relationship_not_found',
    message: 'List the relationships of the base, or create this one.',
  })
