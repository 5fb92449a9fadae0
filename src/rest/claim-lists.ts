/** REST routes that act on a list of claims. */

import { z } from 'zod'
import { claimOutcomesBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { inBase, leaseSeconds } from './claims.ts'
import { Claim, ClaimFields } from './records/shapes.ts'
import { byName } from './route/by-name.ts'
import { route, tagged } from './route/route.ts'
import { anywhere } from './route/shapes.ts'

const ClaimsBody = z.strictObject({
  claim_ids: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(LIMITS.claimRecords)
    .meta({ description: `1 to ${LIMITS.claimRecords} claims.` }),
})

const HeartbeatsBody = ClaimsBody.extend({
  lease_seconds: leaseSeconds.meta({ description: 'A new lease, in seconds.' }),
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

const ActOnClaims = graphql(
  `mutation ActOnClaims($base: String!, $action: ClaimAction!, $ids: [String!]!, $leaseSeconds: Int) {
    actOnClaims(base: $base, action: $action, ids: $ids, leaseSeconds: $leaseSeconds) { ...ClaimOutcomesFields }
  }`,
  [ClaimOutcomesFields],
)

/** A route that acts on each claim of a list by itself. */
const act = (
  action: 'heartbeat' | 'release' | 'complete',
  summary: string,
  body: typeof ClaimsBody | typeof HeartbeatsBody = ClaimsBody,
) =>
  route(`POST /:base_id/claims/${action}`, {
    summary,
    need: anywhere('write'),
    params: inBase,
    body,
    operation: ActOnClaims,
    variables: (parts) => ({ ...byName(parts), action, ids: parts.body.claim_ids }),
    reply: ({ actOnClaims }) => ({ body: claimOutcomesBody(actOnClaims) }),
    answers: ClaimOutcomes,
  })

export const claimLists = tagged('Claims', [
  act('heartbeat', 'Extend several claims by their leases, each independently', HeartbeatsBody),
  act('release', 'Release several claims, each independently'),
  act('complete', 'Complete several claims, each independently'),
])
