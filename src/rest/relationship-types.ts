import { z } from 'zod'
import { CARDINALITIES, ON_DELETE, RelationshipTypeBody, RelationshipTypePut } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { DeletionParts } from '../http/deletion-plan-fragment.ts'
import { crud, WarningsMeta } from './route/crud.ts'
import { baseAccess, time } from './route/shapes.ts'

const RelationshipType = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    data_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The JSON Schema of the data of its links.' }),
    source_record_types: z.array(z.string()).meta({
      description: 'Allowed source record types that the token can read; `["*"]` is any.',
    }),
    target_record_types: z.array(z.string()).meta({
      description: 'Allowed target record types that the token can read; `["*"]` is any.',
    }),
    cardinality: z.enum(CARDINALITIES),
    on_delete: z.enum(ON_DELETE),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
    meta: WarningsMeta,
  })
  .meta({ id: 'RelationshipType' })

const RelationshipTypeFields = graphql(`fragment RelationshipTypeFields on RelationshipType {
  id name description data_schema: dataSchema source_record_types: sourceRecordTypes
  target_record_types: targetRecordTypes cardinality on_delete: onDelete version created_at: createdAt updated_at: updatedAt
}`)

/** REST routes of relationship types. */
export const relationshipTypes = crud('/:base_id/relationship-types', {
  tag: 'Relationship types',
  label: 'A relationship type',
  body: RelationshipTypeBody,
  sent: RelationshipTypePut,
  answers: RelationshipType,
  needs: { read: baseAccess },
  writes: {
    query: z.strictObject({
      on_invalid: z.enum(['allow']).optional().meta({
        description: '`allow`: keep relationships that violate the schema, flagged `valid: false`.',
      }),
    }),
    variables: ({ on_invalid }) => ({ allowInvalid: on_invalid === 'allow' }),
  },
  list: graphql(
    `query ListRelationshipTypes($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      page: relationshipTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        data { ...RelationshipTypeFields } hasMore truncated limit offset total nextCursor
      }
    }`,
    [RelationshipTypeFields],
  ),
  get: graphql(
    `query GetRelationshipType($base: String!, $id: String!, $version: Int) {
      found: relationshipType(base: $base, id: $id, version: $version) { ...RelationshipTypeFields }
    }`,
    [RelationshipTypeFields],
  ),
  put: graphql(
    `mutation PutRelationshipType($base: String!, $id: String!, $input: RelationshipTypeInput!, $allowInvalid: Boolean,
      $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
      written: putRelationshipType(base: $base, id: $id, input: $input, allowInvalid: $allowInvalid,
        expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
        ...RelationshipTypeFields operation warnings dry_run: dryRun
      }
    }`,
    [RelationshipTypeFields],
  ),
  patch: graphql(
    `mutation PatchRelationshipType($base: String!, $id: String!, $merge: JSON, $operations: JSON, $allowInvalid: Boolean,
      $expectedVersions: [Int!], $mustExist: Boolean) {
      written: patchRelationshipType(base: $base, id: $id, merge: $merge, operations: $operations, allowInvalid: $allowInvalid,
        expectedVersions: $expectedVersions, mustExist: $mustExist) {
        ...RelationshipTypeFields warnings dry_run: dryRun
      }
    }`,
    [RelationshipTypeFields],
  ),
  remove: graphql(
    `mutation DeleteRelationshipType($base: String!, $id: String!, $confirm: String, $expectedVersions: [Int!]) {
      gone: deleteRelationshipType(base: $base, id: $id, confirm: $confirm, expectedVersions: $expectedVersions) {
        id deleted dry_run: dryRun deletion { ...DeletionParts }
      }
    }`,
    [DeletionParts],
  ),
  confirm: "The type's id. Required if it has relationships.",
})
