/** REST route that applies a merge patch or JSON Patch to a record. */
import { z } from 'zod'
import { writtenBody } from '../../contract/response-bodies.ts'
import { invalid } from '../../foundation/errors.ts'
import { graphql } from '../../graphql/document.ts'
import { patchForms } from '../route/patch-forms.ts'
import { route } from '../route/route.ts'
import { expectedVersion, onType } from '../route/shapes.ts'
import { claimId, one, RecordFields, target } from './fragments.ts'
import { WrittenRecord } from './shapes.ts'

const members = z.record(z.string(), z.unknown()).optional()
const MergeBody = z.strictObject({
  id: z.string().optional(),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'An RFC 7396 merge patch of the content.' }),
  append: members.meta({
    description:
      'Members to append to lists, in the shape of `data`: `{"tags":["x"]}`. Makes a list where none is.',
  }),
  remove: members.meta({
    description: 'Members to remove from lists, in the shape of `data`, before others are appended.',
  }),
  external_id: z.string().optional(),
  external_source: z.string().optional(),
  expected_version: expectedVersion,
  claim_id: claimId,
})
const twoClaims = () =>
  invalid({
    path: 'query/claim_id',
    code: 'disagrees',
    message: 'The body and the query name different claims. Send one of them.',
  })

export const recordPatch = [
  route('PATCH /:base_id/records/:record_type/:id', {
    size: 'record',
    summary: 'Patch a record',
    need: onType('write'),
    params: one,
    query: z.strictObject({ claim_id: claimId }),
    ...patchForms(MergeBody, 'RFC 6902 operations on `/data`, `/external_id`, `/external_source`.'),
    versioned: true,
    operation: graphql(
      `mutation PatchRecord($base: String!, $recordType: String!, $id: String!, $merge: JSON, $append: JSON, $remove: JSON, $operations: JSON,
        $externalId: String, $externalSource: String, $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String) {
        patchRecord(base: $base, recordType: $recordType, id: $id, merge: $merge, append: $append, remove: $remove, operations: $operations,
          externalId: $externalId, externalSource: $externalSource, expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId) {
          ...RecordFields operation warnings dry_run: dryRun
        }
      }`,
      [RecordFields],
    ),
    variables: ({ params, query, body, conditions }) => {
      const { expectedVersions, mustExist } = conditions
      const when = { ...target(params), expectedVersions, mustExist, claimId: query.claim_id }
      if (Array.isArray(body)) return { ...when, operations: body }
      const { data, append, remove, external_id, external_source, claim_id = query.claim_id } = body
      if (query.claim_id !== undefined && claim_id !== query.claim_id) throw twoClaims()
      return {
        ...when,
        claimId: claim_id,
        ...(data !== undefined && { merge: data }),
        ...(append && { append }),
        ...(remove && { remove }),
        ...(external_id !== undefined && { externalId: external_id }),
        ...(external_source !== undefined && { externalSource: external_source }),
      }
    },
    reply: ({ patchRecord }) => ({ body: writtenBody(patchRecord) }),
    answers: WrittenRecord,
  }),
]
