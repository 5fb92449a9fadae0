/** A claim in the answers of REST. */
import { z } from 'zod'
import { graphql } from '../../graphql/document.ts'
import { time } from '../route/shapes.ts'

export const Claim = z
  .object({
    id: z.string(),
    record_type: z.string(),
    record_id: z.string(),
    status: z.enum(['active', 'completed', 'exhausted', 'released']).meta({
      description:
        '`completed` and `exhausted`: the record cannot be claimed until it changes. `released`: the response to a release.',
    }),
    attempts: z.int().meta({ description: 'How often the record has been claimed.' }),
    expires_at: time,
    holder: z
      .object({ token_id: z.string(), name: z.string() })
      .meta({ description: 'The token that made the claim.' }),
    claimed_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Claim' })

/** The fields of a claim in responses. */
export const ClaimFields = graphql(`fragment ClaimFields on Claim {
  id record_type: recordType record_id: recordId status attempts expires_at: expiresAt
  holder { token_id: tokenId name } claimed_at: claimedAt
}`)
