import { z } from 'zod'
import { ACTOR_KINDS } from '../../contract/shapes.ts'
import { graphql } from '../../graphql/document.ts'
import { WrittenInto } from '../route/change-set.ts'
import { Cuts } from '../route/max-string.ts'
import { time } from '../route/shapes.ts'

// A claim in the answers of REST.

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
      .object({ token_id: z.string(), name: z.string(), kind: z.enum(ACTOR_KINDS) })
      .meta({ description: 'The token that made the claim.' }),
    claimed_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Claim' })

/** The fields of a claim in responses. */
export const ClaimFields = graphql(`fragment ClaimFields on Claim {
  id record_type: recordType record_id: recordId status attempts expires_at: expiresAt
  holder { token_id: tokenId name kind } claimed_at: claimedAt
}`)

/** Linked records, present with `expand`. */
const expansion = {
  _expanded: z
    .record(z.string(), z.array(z.record(z.string(), z.unknown())))
    .optional()
    .meta({
      description:
        'Lists of `{ relationship, record }` by relationship type, with the prefix `~` for incoming ones; or of `attachments`. At most 100 each.',
    }),
  _expanded_truncated: z
    .array(z.string())
    .optional()
    .meta({ description: 'Which of these lists are truncated. `…/related` pages through the rest.' }),
  claim: Claim.nullable()
    .optional()
    .meta({ description: 'Present with `include=claim`: the active claim, or null if nobody holds one.' }),
}

const OF_SOURCE = 'Null for a record of an external source, which is not stored here.'

/** A record in the response of a write. */
export const Record = z
  .object({
    id: z.string(),
    record_type: z.string(),
    data: z.record(z.string(), z.unknown()),
    created_at: time.nullable().meta({ description: OF_SOURCE }),
    updated_at: time.nullable().meta({ description: OF_SOURCE }),
    external_id: z.string().nullable(),
    external_source: z.string().nullable(),
    version: z.int().nullable().meta({ description: OF_SOURCE }),
    status: z.enum(['active', 'cancelled']).nullable().meta({ description: OF_SOURCE }),
    cancelled_at: time.nullable(),
    valid: z
      .literal(false)
      .optional()
      .meta({ description: 'Present only if the record violates a schema that was changed later.' }),
    operation: z
      .enum(['created', 'updated', 'unchanged'])
      .optional()
      .meta({ description: 'What a PUT, POST or PATCH did.' }),
    dry_run: z.literal(true).optional(),
    ...WrittenInto,
  })
  .meta({ id: 'StoredRecord' })

/** How many relationships a write created, updated and left unchanged. */
export const LinkCounts = z
  .object({ created: z.int(), updated: z.int(), unchanged: z.int() })
  .meta({ id: 'LinkCounts' })

/** A record in the response of a write of its data. */
export const WrittenRecord = Record.extend({
  meta: z
    .object({ warnings: z.array(z.string()) })
    .optional()
    .meta({
      description:
        'Present if the request had properties that the schema seems to name otherwise. They are stored.',
    }),
}).meta({ id: 'WrittenRecord' })

/** A record in the response of a write that may have relationships. */
export const PutRecord = WrittenRecord.extend({
  relationships: LinkCounts.optional().meta({
    description: 'Present if the request had `relationships`: how many were created, updated and unchanged.',
  }),
}).meta({ id: 'PutRecord' })

/** A record of a list. With `fields`, only the selected fields. */
export const FoundRecord = Record.omit({ operation: true, dry_run: true })
  .partial()
  .extend({
    ...expansion,
    _search_score: z
      .number()
      .optional()
      .meta({ description: 'Relevance to the `search` of the filter; higher is better.' }),
    _snippets: z
      .array(
        z.object({
          field: z.string().meta({ description: 'Where the text is: `data.notes[2].body`.' }),
          text: z.string().meta({ description: 'The text as it is stored. Nothing is marked or added.' }),
          matches: z.array(z.string()).meta({ description: 'The words of the text that match.' }),
          truncated: z.literal(true).optional().meta({ description: 'The text is a part of the value.' }),
        }),
      )
      .optional()
      .meta({ description: 'Present with `snippets`: what the `search` of the filter found. At most 3.' }),
  })
  .meta({ id: 'FoundRecord' })

/** A record read by id. */
export const OneRecord = Record.omit({ operation: true, dry_run: true })
  .extend({ ...expansion, ...Cuts })
  .meta({ id: 'OneRecord' })
