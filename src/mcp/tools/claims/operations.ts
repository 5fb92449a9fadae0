/** GraphQL operations of the claims tool. */
import { graphql } from '../../../graphql/document.ts'
import { compile } from '../../../graphql/execute.ts'

const ToolClaim = graphql(`fragment ToolClaim on Claim {
  id record_type: recordType record_id: recordId status attempts expires_at: expiresAt dry_run: dryRun
}`)
export const claim = compile(
  graphql(
    `mutation ToolClaimRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $limit: Int, $leaseSeconds: Int, $maxAttempts: Int) {
      claimRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, limit: $limit,
        leaseSeconds: $leaseSeconds, maxAttempts: $maxAttempts) {
        data {
          record {
            id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
            external_source: externalSource version status cancelled_at: cancelledAt valid
          }
          claim { id expires_at: expiresAt attempts }
        }
        limit truncated dry_run: dryRun
      }
    }`,
  ),
)
export const wait = compile(
  graphql(
    `query ToolWait($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $limit: Int, $timeout: Int) {
      waitForRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, limit: $limit, timeout: $timeout) {
        rows hasMore limit offset total hint
      }
    }`,
  ),
)
export const heartbeat = compile(
  graphql(
    `mutation ToolHeartbeat($base: String!, $id: String!, $leaseSeconds: Int) {
      heartbeatClaim(base: $base, id: $id, leaseSeconds: $leaseSeconds) { ...ToolClaim }
    }`,
    [ToolClaim],
  ),
)
export const release = compile(
  graphql(
    `mutation ToolRelease($base: String!, $id: String!) { releaseClaim(base: $base, id: $id) { ...ToolClaim } }`,
    [ToolClaim],
  ),
)
export const complete = compile(
  graphql(
    `mutation ToolComplete($base: String!, $id: String!) { completeClaim(base: $base, id: $id) { ...ToolClaim } }`,
    [ToolClaim],
  ),
)
