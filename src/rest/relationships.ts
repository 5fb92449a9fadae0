import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { replace } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { byName } from './route/by-name.ts'
import { WrittenInto } from './route/change-set.ts'
import { listOf } from './route/page.ts'
import { askedIn, json, pageQuery } from './route/query.ts'
import type { Reply } from './route/reply.ts'
import { route, tagged } from './route/route.ts'
import {
  anywhere,
  baseAccess,
  baseId,
  Deleted,
  expectedVersion,
  recordId,
  relTypeId,
  time,
  typeId,
} from './route/shapes.ts'

/** A relationship in responses. */
export const Relationship = z
  .object({
    id: z.string(),
    rel_type: z.string(),
    source_record_type: z.string(),
    source_id: z.string(),
    target_record_type: z.string(),
    target_id: z.string(),
    data: z.record(z.string(), z.unknown()),
    external_id: z.string().nullable(),
    external_source: z.string().nullable(),
    version: z.int(),
    valid: z
      .literal(false)
      .optional()
      .meta({ description: 'Present only if the relationship violates a schema that was changed later.' }),
    created_at: time,
    updated_at: time,
    operation: z
      .enum(['created', 'updated', 'unchanged'])
      .optional()
      .meta({ description: 'What a PUT or POST did.' }),
    replaced: z
      .array(z.string())
      .optional()
      .meta({ description: 'Ids of the relationships that this one replaced, which are deleted.' }),
    dry_run: z.literal(true).optional(),
    ...WrittenInto,
  })
  .meta({ id: 'Relationship' })

const RelationshipFields = graphql(`fragment RelationshipFields on Relationship {
  id rel_type: relType source_record_type: sourceRecordType source_id: sourceId target_record_type: targetRecordType
  target_id: targetId data external_id: externalId external_source: externalSource version valid
  created_at: createdAt updated_at: updatedAt
}`)

const Link = z.strictObject({
  rel_type: relTypeId,
  source_record_type: typeId,
  source_id: recordId,
  target_record_type: typeId,
  target_id: recordId,
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'The content. Must match the schema of its type. Defaults to `{}`.' }),
  external_id: z
    .string()
    .optional()
    .meta({ description: 'Identifies the relationship in its type, together with external_source.' }),
  external_source: z
    .string()
    .optional()
    .meta({ description: 'Defaults to `default` if only an id is given.' }),
})
const PostBody = Link.extend({ id: recordId.optional() })
const PutBody = Link.extend({ replace, expected_version: expectedVersion })
const EndsQuery = Link.pick({
  rel_type: true,
  source_record_type: true,
  source_id: true,
  target_record_type: true,
  target_id: true,
})

const inBase = z.strictObject({ base_id: baseId() })
const one = inBase.extend({ id: recordId })

const input = (body: z.output<typeof Link> & { replace?: boolean | undefined }) => ({
  replace: body.replace,
  relType: body.rel_type,
  sourceRecordType: body.source_record_type,
  sourceId: body.source_id,
  targetRecordType: body.target_record_type,
  targetId: body.target_id,
  data: body.data,
  externalId: body.external_id,
  externalSource: body.external_source,
})

type Written = { id: string; operation: 'created' | 'updated' | 'unchanged' | null }
const written = (relationship: Written, { base_id }: { base_id: string }): Reply => ({
  status: relationship.operation === 'created' ? 201 : 200,
  location: `/v1/${base_id}/relationships/${relationship.id}`,
  body: trim(relationship),
})

const PutRelationship = graphql(
  `mutation PutRelationship($base: String!, $id: String, $input: RelationshipInput!,
    $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
    putRelationship(base: $base, id: $id, input: $input,
      expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
      ...RelationshipFields operation replaced dry_run: dryRun
    }
  }`,
  [RelationshipFields],
)

/** REST routes of relationships. */
export const relationships = tagged('Relationships', [
  route('GET /:base_id/relationships', {
    summary: 'List relationships',
    need: baseAccess,
    params: inBase,
    query: pageQuery.extend({
      filter: json(
        'A filter on the fields of relationships and on `data.…`: `{"field","op","value"}`, or groups of them.',
      ),
      sort: json('`-created_at,id`, or `[{"field","direction"}]`.'),
    }),
    operation: graphql(
      `query ListRelationships($base: String!, $filter: JSON, $sort: JSON, $limit: Int, $offset: Int, $cursor: String,
        $includeTotal: Boolean) {
        page: relationships(base: $base, filter: $filter, sort: $sort, limit: $limit, offset: $offset, cursor: $cursor,
          includeTotal: $includeTotal) {
          data { ...RelationshipFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [RelationshipFields],
    ),
    variables: (parts) => ({ ...byName(parts), ...askedIn(parts.query) }),
    answers: listOf(Relationship.omit({ operation: true, replaced: true, dry_run: true })),
  }),
  route('PUT /:base_id/relationships', {
    size: 'record',
    summary: 'Upsert a relationship by its type and ends',
    need: anywhere('write'),
    params: inBase,
    body: PutBody,
    versioned: true,
    operation: PutRelationship,
    variables: (parts) => ({ ...byName(parts), input: input(parts.body) }),
    reply: ({ putRelationship }, { params }) => written(putRelationship, params),
    statuses: [200, 201],
    answers: Relationship,
  }),
  route('POST /:base_id/relationships', {
    size: 'record',
    summary: 'Create a relationship',
    need: anywhere('write'),
    params: inBase,
    body: PostBody,
    operation: graphql(
      `mutation CreateRelationship($base: String!, $id: String, $input: RelationshipInput!) {
        createRelationship(base: $base, id: $id, input: $input) { ...RelationshipFields operation dry_run: dryRun }
      }`,
      [RelationshipFields],
    ),
    variables: ({ params, body }) => ({ base: params.base_id, id: body.id, input: input(body) }),
    reply: ({ createRelationship }, { params }) => written(createRelationship, params),
    statuses: [201],
    answers: Relationship,
  }),
  route('DELETE /:base_id/relationships', {
    summary: 'Delete a relationship by its type and ends',
    need: anywhere('write'),
    params: inBase,
    query: EndsQuery,
    versioned: true,
    operation:
      graphql(`mutation Unlink($base: String!, $relType: String!, $sourceRecordType: String!, $sourceId: String!,
      $targetRecordType: String!, $targetId: String!, $expectedVersions: [Int!]) {
      unlinkRecords(base: $base, relType: $relType, sourceRecordType: $sourceRecordType, sourceId: $sourceId,
        targetRecordType: $targetRecordType, targetId: $targetId, expectedVersions: $expectedVersions) {
        id deleted dry_run: dryRun
      }
    }`),
    answers: Deleted,
  }),
  route('PUT /:base_id/relationships/:id', {
    size: 'record',
    summary: 'Upsert a relationship',
    need: anywhere('write'),
    params: one,
    body: PutBody.extend({ id: z.string().optional() }),
    versioned: true,
    operation: PutRelationship,
    variables: (parts) => ({ ...byName(parts), input: input(parts.body) }),
    reply: ({ putRelationship }, { params }) => written(putRelationship, params),
    statuses: [200, 201],
    answers: Relationship,
  }),
  route('GET /:base_id/relationships/:id', {
    summary: 'Get a relationship',
    need: baseAccess,
    params: one,
    versioned: true,
    operation: graphql(
      `query GetRelationship($base: String!, $id: String!) { relationship(base: $base, id: $id) { ...RelationshipFields } }`,
      [RelationshipFields],
    ),
    answers: Relationship,
  }),
  route('DELETE /:base_id/relationships/:id', {
    summary: 'Delete a relationship',
    need: anywhere('write'),
    params: one,
    versioned: true,
    operation: graphql(`mutation DeleteRelationship($base: String!, $id: String!, $expectedVersions: [Int!]) {
      deleteRelationship(base: $base, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
    }`),
    answers: Deleted,
  }),
])
