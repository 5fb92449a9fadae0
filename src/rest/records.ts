import { z } from 'zod'
import { linkOf, trim } from '../bodies.ts'
import { invalid } from '../errors.ts'
import { graphql } from '../graphql/document.ts'
import { splitNames } from '../names.ts'
import { RecordLinks } from '../shapes.ts'
import { asOf, names, whole } from './query.ts'
import { EXPAND, recordLists } from './record-lists.ts'
import { OneRecord, Record } from './record-shapes.ts'
import { type Reply, route } from './route.ts'
import { baseId, Deleted, expectedVersion, recordId, typeId } from './shapes.ts'

/** What of a record is answered. */
export const RecordFields = graphql(`fragment RecordFields on Record {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid
}`)

const external = {
  external_id: z
    .string()
    .optional()
    .meta({ description: 'Identifies the record for upsert, together with external_source.' }),
  external_source: z.string().optional().meta({ description: '`default` when only an id is given.' }),
}
const data = z
  .record(z.string(), z.unknown())
  .meta({ description: 'The content, by the schema of the record type.' })
const claimId = z.string().min(1).max(64).optional().meta({
  description: 'A claim on the record: the write is undone, and 409, unless its token still holds it.',
})
const PutBody = z.strictObject({
  id: z.string().optional(),
  data,
  ...external,
  relationships: RecordLinks.optional(),
  expected_version: expectedVersion,
  claim_id: claimId,
})
const PostBody = z.strictObject({
  id: recordId.optional(),
  data,
  ...external,
  relationships: RecordLinks.optional(),
})
const MergeBody = z.strictObject({
  id: z.string().optional(),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'An RFC 7396 merge patch of the content.' }),
  external_id: z.string().optional(),
  external_source: z.string().optional(),
  expected_version: expectedVersion,
  claim_id: claimId,
})
const Operations = z
  .array(z.unknown())
  .max(1000)
  .meta({ description: 'RFC 6902 operations on `/data`, `/external_id`, `/external_source`.' })
const ActBody = z.strictObject({ expected_version: expectedVersion, claim_id: claimId }).optional()

const inType = z.strictObject({ base_id: baseId(), record_type: typeId })
const one = inType.extend({ id: recordId })
const past = z.strictObject({
  version: whole(1, 2_147_483_647, undefined, 'The version that is meant.'),
  as_of: asOf,
})
const needs =
  (permission: 'read' | 'write') =>
  ({ base_id = '', record_type = '' }) =>
    ({ permission, base: base_id, recordType: record_type }) as const

/** The content of a record as the mutations take it. */
const contentOf = (body: z.output<typeof PutBody> | z.output<typeof PostBody>) => ({
  data: body.data,
  externalId: body.external_id,
  externalSource: body.external_source,
  relationships: body.relationships?.map(linkOf),
})

type Target = { base_id: string; record_type: string; id: string }
const target = ({ base_id, record_type, id }: Target) => ({ base: base_id, recordType: record_type, id })
type Written = { id: string; operation: 'created' | 'updated' | 'unchanged' | null }

const written = (
  record: Written,
  { base_id, record_type }: { base_id: string; record_type: string },
): Reply => ({
  status: record.operation === 'created' ? 201 : 200,
  location: `/v1/${base_id}/records/${record_type}/${record.id}`,
  body: trim(record),
})

const twoClaims = () =>
  invalid({
    path: 'query/claim_id',
    code: 'disagrees',
    message: 'The body names another claim. Send one of them.',
  })

const MERGE_TYPES = ['application/json', 'application/merge-patch+json']
const OPERATIONS_TYPE = 'application/json-patch+json'

export const records = [
  ...recordLists,
  route('PUT /:base_id/records/:record_type', {
    tag: 'Records',
    summary: 'Upsert a record by its external id',
    need: needs('write'),
    params: inType,
    body: PutBody.omit({ id: true }),
    versioned: true,
    operation: graphql(
      `mutation PutRecordByExternalId($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean, $claimId: String) {
        putRecordByExternalId(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent, claimId: $claimId) { ...RecordFields operation dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: ({ params, body, conditions }) => ({
      base: params.base_id,
      recordType: params.record_type,
      ...contentOf(body),
      claimId: body.claim_id,
      ...conditions,
    }),
    reply: ({ putRecordByExternalId }, { params }) => written(putRecordByExternalId, params),
    statuses: [200, 201],
    answers: Record,
  }),
  route('POST /:base_id/records/:record_type', {
    tag: 'Records',
    summary: 'Create a record',
    need: needs('write'),
    params: inType,
    body: PostBody,
    operation: graphql(
      `mutation CreateRecord($base: String!, $recordType: String!, $id: String, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!]) {
        createRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships) {
          ...RecordFields operation dry_run: dryRun
        }
      }`,
      [RecordFields],
    ),
    variables: ({ params, body }) => ({
      base: params.base_id,
      recordType: params.record_type,
      id: body.id,
      ...contentOf(body),
    }),
    reply: ({ createRecord }, { params }) => written(createRecord, params),
    statuses: [201],
    answers: Record,
  }),
  route('PUT /:base_id/records/:record_type/:id', {
    tag: 'Records',
    summary: 'Upsert a record',
    need: needs('write'),
    params: one,
    body: PutBody,
    versioned: true,
    operation: graphql(
      `mutation PutRecord($base: String!, $recordType: String!, $id: String!, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean, $claimId: String) {
        putRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent, claimId: $claimId) { ...RecordFields operation dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: ({ params, body, conditions }) => ({
      ...target(params),
      ...contentOf(body),
      claimId: body.claim_id,
      ...conditions,
    }),
    reply: ({ putRecord }, { params }) => written(putRecord, params),
    statuses: [200, 201],
    answers: Record,
  }),
  route('GET /:base_id/records/:record_type/:id', {
    tag: 'Records',
    summary: 'Get a record as it is, as a version of it was, or as it was at a moment',
    need: needs('read'),
    params: one,
    query: past.extend({ expand: names(EXPAND) }),
    operation: graphql(
      `query GetRecord($base: String!, $recordType: String!, $id: String!, $version: Int, $asOf: String, $expand: [String!]) {
        record(base: $base, recordType: $recordType, id: $id, version: $version, asOf: $asOf, expand: $expand) {
          ...RecordFields _expanded: expanded _expanded_truncated: expandedTruncated
        }
      }`,
      [RecordFields],
    ),
    variables: ({ params, query }) => ({
      ...target(params),
      version: query.version,
      asOf: query.as_of,
      ...(query.expand !== undefined && { expand: splitNames(query.expand, 'query/expand') }),
    }),
    reply: ({ record }) => ({ body: trim(record) }),
    answers: OneRecord,
  }),
  route('PATCH /:base_id/records/:record_type/:id', {
    tag: 'Records',
    summary: 'Patch a record',
    need: needs('write'),
    params: one,
    query: z.strictObject({ claim_id: claimId }),
    body: z.union([MergeBody, Operations]),
    bodyOf: (mediaType) => (mediaType === OPERATIONS_TYPE ? Operations : MergeBody),
    accepts: [...MERGE_TYPES, OPERATIONS_TYPE],
    versioned: true,
    operation: graphql(
      `mutation PatchRecord($base: String!, $recordType: String!, $id: String!, $merge: JSON, $operations: JSON,
        $externalId: String, $externalSource: String, $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String) {
        patchRecord(base: $base, recordType: $recordType, id: $id, merge: $merge, operations: $operations,
          externalId: $externalId, externalSource: $externalSource, expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId) {
          ...RecordFields operation dry_run: dryRun
        }
      }`,
      [RecordFields],
    ),
    variables: ({ params, query, body, conditions }) => {
      const { expectedVersions, mustExist } = conditions
      const when = { ...target(params), expectedVersions, mustExist, claimId: query.claim_id }
      if (Array.isArray(body)) return { ...when, operations: body }
      const { data, external_id, external_source, claim_id = query.claim_id } = body
      if (query.claim_id !== undefined && claim_id !== query.claim_id) throw twoClaims()
      return {
        ...when,
        claimId: claim_id,
        ...(data !== undefined && { merge: data }),
        ...(external_id !== undefined && { externalId: external_id }),
        ...(external_source !== undefined && { externalSource: external_source }),
      }
    },
    reply: ({ patchRecord }) => ({ body: trim(patchRecord) }),
    answers: Record,
  }),
  route('DELETE /:base_id/records/:record_type/:id', {
    tag: 'Records',
    summary: 'Delete a record',
    need: needs('write'),
    params: one,
    query: z.strictObject({ claim_id: claimId }),
    versioned: true,
    operation:
      graphql(`mutation DeleteRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
      deleteRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { id deleted dry_run: dryRun }
    }`),
    variables: ({ params, query, conditions }) => ({
      ...target(params),
      expectedVersions: conditions.expectedVersions,
      claimId: query.claim_id,
    }),
    reply: ({ deleteRecord }) => ({ body: trim(deleteRecord) }),
    answers: Deleted,
  }),
  route('POST /:base_id/records/:record_type/:id/cancel', {
    tag: 'Records',
    summary: 'Cancel a record',
    need: needs('write'),
    params: one,
    body: ActBody,
    versioned: true,
    operation: graphql(
      `mutation CancelRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
        cancelRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { ...RecordFields dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: ({ params, body, conditions }) => ({
      ...target(params),
      expectedVersions: conditions.expectedVersions,
      claimId: body?.claim_id,
    }),
    reply: ({ cancelRecord }) => ({ body: trim(cancelRecord) }),
    answers: Record,
  }),
  route('POST /:base_id/records/:record_type/:id/restore', {
    tag: 'Records',
    summary: 'Restore a cancelled or deleted record',
    need: needs('write'),
    params: one,
    body: ActBody,
    versioned: true,
    operation: graphql(
      `mutation RestoreRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
        restoreRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { ...RecordFields dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: ({ params, body, conditions }) => ({
      ...target(params),
      expectedVersions: conditions.expectedVersions,
      claimId: body?.claim_id,
    }),
    reply: ({ restoreRecord }) => ({ body: trim(restoreRecord) }),
    answers: Record,
  }),
]
