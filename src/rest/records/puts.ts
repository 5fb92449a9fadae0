import { z } from 'zod'
import { linkOf } from '../../contract/response-bodies.ts'
import { RecordLinks } from '../../contract/shapes.ts'
import { graphql } from '../../graphql/document.ts'
import { byName } from '../route/by-name.ts'
import { route } from '../route/route.ts'
import { expectedVersion, onType, recordId } from '../route/shapes.ts'
import { claimId, inType, one, RecordFields, written } from './fragments.ts'
import { PutRecord } from './shapes.ts'

const external = {
  external_id: z
    .string()
    .optional()
    .meta({ description: 'Identifies the record for upsert, together with external_source.' }),
  external_source: z
    .string()
    .optional()
    .meta({ description: 'Defaults to `default` if only an id is given.' }),
}
const data = z
  .record(z.string(), z.unknown())
  .meta({ description: 'The content. Must match the schema of the record type.' })
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
const linksOf = ({ relationships }: Pick<z.output<typeof PostBody>, 'relationships'>) =>
  relationships?.map(linkOf)

/** REST routes that write whole records. */
export const recordPuts = [
  route('PUT /:base_id/records/:record_type', {
    size: 'record',
    summary: 'Upsert a record by its external id',
    need: onType('write'),
    params: inType,
    body: PutBody.omit({ id: true }),
    versioned: true,
    operation: graphql(
      `mutation PutRecordByExternalId($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean, $claimId: String) {
        putRecordByExternalId(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent, claimId: $claimId) { ...RecordFields operation relationships { created updated unchanged } warnings dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: (parts) => ({ ...byName(parts), relationships: linksOf(parts.body) }),
    reply: ({ putRecordByExternalId }, { params }) => written(putRecordByExternalId, params),
    statuses: [200, 201],
    answers: PutRecord,
  }),
  route('POST /:base_id/records/:record_type', {
    size: 'record',
    summary: 'Create a record',
    need: onType('write'),
    params: inType,
    body: PostBody,
    operation: graphql(
      `mutation CreateRecord($base: String!, $recordType: String!, $id: String, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!]) {
        createRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships) {
          ...RecordFields operation relationships { created updated unchanged } warnings dry_run: dryRun
        }
      }`,
      [RecordFields],
    ),
    variables: (parts) => ({ ...byName(parts), relationships: linksOf(parts.body) }),
    reply: ({ createRecord }, { params }) => written(createRecord, params),
    statuses: [201],
    answers: PutRecord,
  }),
  route('PUT /:base_id/records/:record_type/:id', {
    size: 'record',
    summary: 'Upsert a record',
    need: onType('write'),
    params: one,
    body: PutBody,
    versioned: true,
    operation: graphql(
      `mutation PutRecord($base: String!, $recordType: String!, $id: String!, $data: JSON!, $externalId: String, $externalSource: String,
        $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean, $claimId: String) {
        putRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource,
          relationships: $relationships, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent, claimId: $claimId) { ...RecordFields operation relationships { created updated unchanged } warnings dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    variables: (parts) => ({ ...byName(parts), relationships: linksOf(parts.body) }),
    reply: ({ putRecord }, { params }) => written(putRecord, params),
    statuses: [200, 201],
    answers: PutRecord,
  }),
]
