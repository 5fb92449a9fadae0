/** REST routes that act on a list of claims. */
import { z } from 'zod'
import { claimOutcomesBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { baseAccess, Claim, ClaimFields, inBase, leaseSeconds } from './claims.ts'
import { route } from './route/route.ts'

const ClaimsBody = z.strictObject({
  claim_ids: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(LIMITS.claimRecords)
    .meta({ description: `1 to ${LIMITS.claimRecords} claims.` }),
})

const ClaimOutcomes = z
  .object({
    data: z
      .array(
        z.union([
          Claim.omit({ dry_run: true }),
          z.object({ id: z.string(), error: z.object({ code: z.string(), message: z.string() }) }),
        ]),
      )
      .meta({ description: 'Each claim in the order of the request, or why it was refused.' }),
    meta: z.object({
      count: z.int(),
      refused: z.int().optional().meta({ description: 'How many were refused; absent if none was.' }),
    }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ClaimOutcomes' })

const ClaimOutcomesFields = graphql(
  `fragment ClaimOutcomesFields on ClaimOutcomes {
    data { id claim { ...ClaimFields } code message } dry_run: dryRun
  }`,
  [ClaimFields],
)

export const claimLists = [
  route('POST /:base_id/claims/heartbeat', {
    tag: 'Claims',
    summary: 'Extend several claims by their leases, each by itself',
    need: baseAccess,
    params: inBase,
    body: ClaimsBody.extend({
      lease_seconds: leaseSeconds.meta({ description: 'A new lease, in seconds.' }),
    }),
    operation: graphql(
      `mutation HeartbeatClaims($base: String!, $ids: [String!]!, $leaseSeconds: Int) {
        actOnClaims(base: $base, action: heartbeat, ids: $ids, leaseSeconds: $leaseSeconds) { ...ClaimOutcomesFields }
      }`,
      [ClaimOutcomesFields],
    ),
    variables: ({ params, body }) => ({
      base: params.base_id,
      ids: body.claim_ids,
      leaseSeconds: body.lease_seconds,
    }),
    reply: ({ actOnClaims }) => ({ body: claimOutcomesBody(actOnClaims) }),
    answers: ClaimOutcomes,
  }),
  route('POST /:base_id/claims/release', {
    tag: 'Claims',
    summary: 'Release several claims, each by itself',
    need: baseAccess,
    params: inBase,
    body: ClaimsBody,
    operation: graphql(
      `mutation ReleaseClaims($base: String!, $ids: [String!]!) {
        actOnClaims(base: $base, action: release, ids: $ids) { ...ClaimOutcomesFields }
      }`,
      [ClaimOutcomesFields],
    ),
    variables: ({ params, body }) => ({ base: params.base_id, ids: body.claim_ids }),
    reply: ({ actOnClaims }) => ({ body: claimOutcomesBody(actOnClaims) }),
    answers: ClaimOutcomes,
  }),
  route('POST /:base_id/claims/complete', {
    tag: 'Claims',
    summary: 'Complete several claims, each by itself',
    need: baseAccess,
    params: inBase,
    body: ClaimsBody,
    operation: graphql(
      `mutation CompleteClaims($base: String!, $ids: [String!]!) {
        actOnClaims(base: $base, action: complete, ids: $ids) { ...ClaimOutcomesFields }
      }`,
      [ClaimOutcomesFields],
    ),
    variables: ({ params, body }) => ({ base: params.base_id, ids: body.claim_ids }),
    reply: ({ actOnClaims }) => ({ body: claimOutcomesBody(actOnClaims) }),
    answers: ClaimOutcomes,
  }),
]
