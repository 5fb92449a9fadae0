/** REST routes of the life of a change-set: submitted, reviewed, opened again. */
import { z } from 'zod'
import { VERDICTS, VerdictBody } from '../contract/change-set-shapes.ts'
import { ChangedResource, SubmitBody } from '../contract/config-shapes.ts'
import { anyPreviewOf, productionOf } from '../contract/ids.ts'
import { graphql } from '../graphql/document.ts'
import { Base, BaseFields } from './bases.ts'
import { RequestFields, ReviewRequest } from './review-requests.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Actor, baseId, time } from './route/shapes.ts'

const Review = z
  .object({
    id: z.string(),
    verdict: z.enum(VERDICTS),
    revision: z.int().meta({ description: 'The revision that it is about.' }),
    is_stale: z.boolean().meta({ description: 'Whether the change-set was written since.' }),
    resources: z.array(ChangedResource).nullable().meta({ description: 'Null for the whole.' }),
    text: z.string().nullable(),
    by: Actor,
    at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ChangeSetReview' })
const ReviewFields = graphql(`fragment ReviewFields on ChangeSetReview {
  id verdict revision is_stale: isStale resources text by { token_id: tokenId name kind via } at
}`)

const params = z.strictObject({ base_id: baseId() })
const sees = ({ base_id = '' }) => ({ permission: 'read', anyOf: base_id }) as const

export const changeSetReviews = tagged('Environments', [
  route('POST /:base_id/submit', {
    summary: 'Submit a change-set: ask a person to promote it',
    need: ({ base_id = '' }) => ({
      all: [
        { permission: 'read', anyOf: productionOf(base_id) },
        { permission: 'write', anyOf: anyPreviewOf(productionOf(base_id)) },
      ],
    }),
    params,
    renamed: { from: 'base_id' },
    body: SubmitBody.optional(),
    operation: graphql(
      `mutation SubmitPreview($base: String!, $title: String, $comment: String, $dryRun: Boolean) {
        done: submitPreview(base: $base, title: $title, comment: $comment, dryRun: $dryRun) { ...RequestFields dry_run: dryRun }
      }`,
      [RequestFields],
    ),
    statuses: [201],
    answers: ReviewRequest,
  }),
  route('POST /:base_id/reviews', {
    summary: 'Review a change-set: comment, approve, request changes, or reject',
    need: sees,
    params,
    body: VerdictBody,
    operation: graphql(
      `mutation ReviewPreview($base: String!, $verdict: ChangeSetVerdict!, $revision: Int, $resources: JSON, $text: String, $dryRun: Boolean) {
        done: reviewPreview(base: $base, verdict: $verdict, revision: $revision, resources: $resources, text: $text, dryRun: $dryRun) {
          ...ReviewFields dry_run: dryRun
        }
      }`,
      [ReviewFields],
    ),
    statuses: [201],
    answers: Review,
  }),
  route('GET /:base_id/reviews', {
    summary: 'List what was said about a change-set, newest first',
    need: sees,
    params,
    query: pageQuery,
    operation: graphql(
      `query ListReviews($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: changeSetReviews(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...ReviewFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [ReviewFields],
    ),
    answers: listOf(Review),
  }),
  route('POST /:base_id/reopen', {
    summary: 'Open a rejected or expired change-set again',
    need: ({ base_id = '' }) => ({ permission: 'write', anyOf: base_id }),
    params,
    body: z
      .strictObject({ dry_run: z.boolean().optional().meta({ description: 'Store nothing.' }) })
      .optional(),
    operation: graphql(
      `mutation ReopenPreview($base: String!, $dryRun: Boolean) {
        done: reopenPreview(base: $base, dryRun: $dryRun) { ...BaseFields dry_run: dryRun }
      }`,
      [BaseFields],
    ),
    answers: Base,
  }),
])
