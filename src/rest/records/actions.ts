import { z } from 'zod'
import { deletedBody } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import { DeletionParts } from '../../http/deletion-plan-fragment.ts'
import { route } from '../route/route.ts'
import { Deleted, expectedVersion, onType } from '../route/shapes.ts'
import { claimId, one, RecordFields } from './fragments.ts'
import { Record } from './shapes.ts'

const ActBody = z.strictObject({ expected_version: expectedVersion, claim_id: claimId }).optional()

/** REST routes for actions on an existing record. */
export const recordActs = [
  route('DELETE /:base_id/records/:record_type/:id', {
    summary: 'Delete a record',
    need: onType('write'),
    params: one,
    query: z.strictObject({ claim_id: claimId }),
    versioned: true,
    operation: graphql(
      `mutation DeleteRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
        deleteRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) {
          id deleted dry_run: dryRun deletion { ...DeletionParts }
        }
      }`,
      [DeletionParts],
    ),
    reply: ({ deleteRecord }) => ({ body: deletedBody(deleteRecord) }),
    answers: Deleted,
  }),
  route('POST /:base_id/records/:record_type/:id/cancel', {
    summary: 'Cancel a record',
    need: onType('write'),
    params: one,
    body: ActBody,
    versioned: true,
    operation: graphql(
      `mutation CancelRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
        cancelRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { ...RecordFields dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    answers: Record,
  }),
  route('POST /:base_id/records/:record_type/:id/restore', {
    summary: 'Restore a cancelled or deleted record',
    need: onType('write'),
    params: one,
    body: ActBody,
    versioned: true,
    operation: graphql(
      `mutation RestoreRecord($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!], $claimId: String) {
        restoreRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions, claimId: $claimId) { ...RecordFields dry_run: dryRun }
      }`,
      [RecordFields],
    ),
    answers: Record,
  }),
]
