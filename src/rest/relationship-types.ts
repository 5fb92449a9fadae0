import { z } from 'zod'
import { pageBody, trim } from '../contract/response-bodies.ts'
import { CARDINALITIES, ON_DELETE, RelationshipTypePut } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { listOf, without } from './page.ts'
import { pageOf, pageQuery } from './query.ts'
import { route } from './route.ts'
import { baseId, Deleted, onBase, relTypeId, time } from './shapes.ts'

const RelationshipType = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    data_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The JSON Schema of what its links hold.' }),
    source_record_types: z.array(z.string()).meta({
      description: 'Record types that a link may start from; `["*"]` is any. Those the token may read.',
    }),
    target_record_types: z.array(z.string()).meta({
      description: 'Record types that a link may lead to; `["*"]` is any. Those the token may read.',
    }),
    cardinality: z.enum(CARDINALITIES),
    on_delete: z.enum(ON_DELETE),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'RelationshipType' })

const RelationshipTypeFields = graphql(`fragment RelationshipTypeFields on RelationshipType {
  id name description data_schema: dataSchema source_record_types: sourceRecordTypes
  target_record_types: targetRecordTypes cardinality on_delete: onDelete version created_at: createdAt updated_at: updatedAt
}`)

type Body = z.output<typeof RelationshipTypePut>

const params = z.strictObject({ base_id: baseId(), id: relTypeId })
const changeQuery = z.strictObject({
  on_invalid: z
    .enum(['allow'])
    .optional()
    .meta({ description: '`allow`: keep relationships the schema refuses, flagged `valid: false`.' }),
})
const need = onBase('manage')
const sight = ({ base_id = '' }) => ({ sight: base_id })

/** Only what is given: to a PATCH, null is a value. */
const input = (body: Body) => ({
  ...(body.name !== undefined && { name: body.name }),
  ...(body.description !== undefined && { description: body.description }),
  ...(body.data_schema !== undefined && { dataSchema: body.data_schema }),
  ...(body.source_record_types && { sourceRecordTypes: body.source_record_types }),
  ...(body.target_record_types && { targetRecordTypes: body.target_record_types }),
  ...(body.cardinality && { cardinality: body.cardinality }),
  ...(body.on_delete && { onDelete: body.on_delete }),
})

/** The rows of relationship types. */
export const relationshipTypes = [
  route('GET /:base_id/relationship-types', {
    tag: 'Relationship types',
    summary: 'List relationship types',
    need: sight,
    params: params.pick({ base_id: true }),
    query: pageQuery,
    operation: graphql(
      `query ListRelationshipTypes($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        relationshipTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...RelationshipTypeFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [RelationshipTypeFields],
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      ...pageOf(query),
    }),
    reply: ({ relationshipTypes }) => ({ body: pageBody(relationshipTypes) }),
    answers: listOf(RelationshipType),
  }),
  route('PUT /:base_id/relationship-types/:id', {
    tag: 'Relationship types',
    summary: 'Create a relationship type or replace it',
    need,
    params,
    query: changeQuery,
    body: RelationshipTypePut,
    versioned: true,
    operation: graphql(
      `mutation PutRelationshipType($base: String!, $id: String!, $input: RelationshipTypeInput!, $allowInvalid: Boolean,
        $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        putRelationshipType(base: $base, id: $id, input: $input, allowInvalid: $allowInvalid,
          expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...RelationshipTypeFields operation dry_run: dryRun
        }
      }`,
      [RelationshipTypeFields],
    ),
    variables: ({ params, query, body, conditions }) => ({
      base: params.base_id,
      id: params.id,
      input: input(body),
      allowInvalid: query.on_invalid === 'allow',
      ...conditions,
    }),
    reply: ({ putRelationshipType }, { params }) => ({
      status: putRelationshipType.operation === 'created' ? 201 : 200,
      location: `/v1/${params.base_id}/relationship-types/${putRelationshipType.id}`,
      body: trim(without(putRelationshipType, 'operation')),
    }),
    statuses: [200, 201],
    answers: RelationshipType,
  }),
  route('GET /:base_id/relationship-types/:id', {
    tag: 'Relationship types',
    summary: 'Get a relationship type',
    need: sight,
    params,
    operation: graphql(
      `query GetRelationshipType($base: String!, $id: String!) {
        relationshipType(base: $base, id: $id) { ...RelationshipTypeFields }
      }`,
      [RelationshipTypeFields],
    ),
    variables: ({ params }) => ({ base: params.base_id, id: params.id }),
    reply: ({ relationshipType }) => ({ body: relationshipType }),
    answers: RelationshipType,
  }),
  route('PATCH /:base_id/relationship-types/:id', {
    tag: 'Relationship types',
    summary: 'Change the named fields of a relationship type',
    need,
    params,
    query: changeQuery,
    body: RelationshipTypePut,
    versioned: true,
    operation: graphql(
      `mutation PatchRelationshipType($base: String!, $id: String!, $input: RelationshipTypeInput!, $allowInvalid: Boolean,
        $expectedVersions: [Int!], $mustExist: Boolean) {
        patchRelationshipType(base: $base, id: $id, input: $input, allowInvalid: $allowInvalid,
          expectedVersions: $expectedVersions, mustExist: $mustExist) {
          ...RelationshipTypeFields dry_run: dryRun
        }
      }`,
      [RelationshipTypeFields],
    ),
    variables: ({ params, query, body, conditions }) => ({
      base: params.base_id,
      id: params.id,
      input: input(body),
      allowInvalid: query.on_invalid === 'allow',
      expectedVersions: conditions.expectedVersions,
      mustExist: conditions.mustExist,
    }),
    reply: ({ patchRelationshipType }) => ({ body: trim(patchRelationshipType) }),
    answers: RelationshipType,
  }),
  route('DELETE /:base_id/relationship-types/:id', {
    tag: 'Relationship types',
    summary: 'Delete a relationship type',
    need,
    params,
    query: z.strictObject({
      confirm: z
        .string()
        .optional()
        .meta({ description: "The type's id; needed when it has relationships." }),
    }),
    versioned: true,
    operation:
      graphql(`mutation DeleteRelationshipType($base: String!, $id: String!, $confirm: String, $expectedVersions: [Int!]) {
      deleteRelationshipType(base: $base, id: $id, confirm: $confirm, expectedVersions: $expectedVersions) {
        id deleted dry_run: dryRun
      }
    }`),
    variables: ({ params, query, conditions }) => ({
      base: params.base_id,
      id: params.id,
      confirm: query.confirm,
      expectedVersions: conditions.expectedVersions,
    }),
    reply: ({ deleteRelationshipType }) => ({ body: trim(deleteRelationshipType) }),
    answers: Deleted,
  }),
]
