/** REST routes of claims: leases on records for exclusive work. */
import { z } from 'zod'
import { Filter, sortBody } from '../contract/query-shapes.ts'
import { claimedBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { Claim, ClaimFields, Record } from './records/shapes.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { flag, includeTitles, pageQuery, title } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { anywhere, baseAccess, baseId, onType, typeId } from './route/shapes.ts'

const Claimed = z
  .object({
    data: z.array(
      z.object({ record: Record, claim: Claim.pick({ id: true, expires_at: true, attempts: true }) }),
    ),
    meta: z.object({
      count: z.int(),
      limit: z.int(),
      has_more: z.literal(true).optional(),
      truncated: z.literal(true).optional().meta({
        description:
          'More records are free but exceed the byte limit of a response (16 MiB). They were not claimed. `limit` is then the number of records returned.',
      }),
      hint: z
        .string()
        .optional()
        .meta({ description: 'No record is free, and the filter has a value that the schema excludes.' }),
    }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ClaimedRecords' })

export const leaseSeconds = z.int().min(1).max(LIMITS.leaseSecondsMax).optional()
const ClaimBody = z
  .strictObject({
    filter: Filter.optional().meta({ description: 'The records to claim from. Defaults to all.' }),
    sort: sortBody('-data.priority,created_at', 'The order of assignment. Defaults to oldest first.'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.claimRecords)
      .optional()
      .meta({ description: 'Maximum number of records. Defaults to 1.' }),
    lease_seconds: leaseSeconds.meta({
      description: `Seconds until the claim expires without a heartbeat. Defaults to ${LIMITS.leaseSeconds}.`,
    }),
    max_attempts: z.int().min(1).max(LIMITS.claimAttemptsMax).optional().meta({
      description: 'A record that was claimed this often is skipped until it changes.',
    }),
    patch: z.record(z.string(), z.unknown()).optional().meta({
      description: 'A merge patch of `data`, written to each claimed record in the same transaction.',
    }),
  })
  .optional()
const HeartbeatBody = z
  .strictObject({ lease_seconds: leaseSeconds.meta({ description: 'A new lease, in seconds.' }) })
  .optional()

export const inBase = z.strictObject({ base_id: baseId() })
const one = inBase.extend({ id: z.string().min(1).max(64).meta({ description: 'A claim id.' }) })

export const claims = tagged('Claims', [
  route('POST /:base_id/records/:record_type/claim', {
    summary: 'Claim records: each is assigned to one caller until its lease ends',
    need: onType('write'),
    params: inBase.extend({ record_type: typeId }),
    body: ClaimBody,
    operation: graphql(
      `mutation ClaimRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $limit: Int, $leaseSeconds: Int, $maxAttempts: Int, $patch: JSON) {
        claimRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, limit: $limit,
          leaseSeconds: $leaseSeconds, maxAttempts: $maxAttempts, patch: $patch) {
          data {
            record {
              id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
              external_source: externalSource version status cancelled_at: cancelledAt valid
            }
            claim { id expires_at: expiresAt attempts }
          }
          limit truncated hint dry_run: dryRun
        }
      }`,
    ),
    reply: ({ claimRecords }) => ({ body: claimedBody(claimRecords) }),
    answers: Claimed,
  }),
  route('GET /:base_id/claims', {
    summary: 'List claims',
    need: baseAccess,
    params: inBase,
    query: pageQuery.extend({
      status: z
        .enum(['active', 'completed', 'exhausted'])
        .optional()
        .meta({ description: 'Only claims with this value.' }),
      record_type: z.string().optional().meta({ description: 'Only claims on records of this type.' }),
      record_id: z.string().optional().meta({ description: 'Only claims on records with this id.' }),
      include: includeTitles,
      holder: z.string().optional().meta({ description: 'Only claims of this token: its id or its name.' }),
    }),
    operation: graphql(
      `query ListClaims($base: String!, $status: ClaimStatus, $recordType: String, $recordId: String, $holder: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean, $withTitles: Boolean!) {
        page: claims(base: $base, status: $status, recordType: $recordType, recordId: $recordId, holder: $holder, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...ClaimFields title @include(if: $withTitles) } hasMore truncated limit offset total nextCursor
        }
      }`,
      [ClaimFields],
    ),
    variables: (parts) => ({ ...byName(parts), withTitles: parts.query.include !== undefined }),
    answers: listOf(Claim.extend({ title })),
  }),
  route('GET /:base_id/claims/:id', {
    summary: 'Get a claim; 409 if it was lost',
    need: baseAccess,
    params: one,
    operation: graphql(
      `query GetClaim($base: String!, $id: String!) { claim(base: $base, id: $id) { ...ClaimFields } }`,
      [ClaimFields],
    ),
    answers: Claim,
  }),
  route('POST /:base_id/claims/:id/heartbeat', {
    summary: 'Extend a claim by its lease',
    need: anywhere('write'),
    params: one,
    body: HeartbeatBody,
    operation: graphql(
      `mutation HeartbeatClaim($base: String!, $id: String!, $leaseSeconds: Int) {
        heartbeatClaim(base: $base, id: $id, leaseSeconds: $leaseSeconds) { ...ClaimFields dry_run: dryRun }
      }`,
      [ClaimFields],
    ),
    answers: Claim,
  }),
  route('POST /:base_id/claims/:id/release', {
    summary: 'Release a claim: its record can be claimed again',
    need: anywhere('write'),
    params: one,
    query: z.strictObject({
      force: flag('End the claim of another token too. Needs `manage` on the record type.'),
    }),
    operation: graphql(
      `mutation ReleaseClaim($base: String!, $id: String!, $force: Boolean) {
        releaseClaim(base: $base, id: $id, force: $force) { ...ClaimFields dry_run: dryRun }
      }`,
      [ClaimFields],
    ),
    answers: Claim,
  }),
  route('POST /:base_id/claims/:id/complete', {
    summary: 'Complete a claim: its record cannot be claimed again until it changes',
    need: anywhere('write'),
    params: one,
    operation: graphql(
      `mutation CompleteClaim($base: String!, $id: String!) { completeClaim(base: $base, id: $id) { ...ClaimFields dry_run: dryRun } }`,
      [ClaimFields],
    ),
    answers: Claim,
  }),
])
