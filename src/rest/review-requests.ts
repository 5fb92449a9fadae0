/** REST routes of review requests. */
import { z } from 'zod'
import { CONFIG_KINDS, DecisionBody, PauseBody, ReviewBody } from '../contract/config-shapes.ts'
import { trim, writtenBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { ofPreview, Promotion, PromotionFields, Proposal } from './promotions.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Actor, baseId, onBase, time } from './route/shapes.ts'

const Break = z.object({
  kind: z.enum(CONFIG_KINDS).nullable(),
  id: z.string().nullable(),
  code: z.string(),
  message: z.string(),
  count: z.int().optional(),
})
const Decision = z.object({
  decision: DecisionBody.shape.decision,
  note: z.string().nullable(),
  by: Actor,
  at: time,
  promotion_id: z.string().nullable(),
})
const Pause = z.object({
  token_id: z.string(),
  since: time.meta({
    description: 'The begin of the hour. An undo of its changes since then takes them back.',
  }),
  writes: z.int().meta({ description: 'What it has changed since.' }),
  refused: z.int().meta({ description: 'What was too much.' }),
  usual: z
    .int()
    .meta({ description: 'What it changes in an hour, of those in two weeks in which it writes.' }),
  allowed: z.int().meta({ description: 'What it may change in the hour.' }),
  wrote: z.array(
    z.object({
      change_set: z.string().nullable().meta({ description: 'Null for what is in production.' }),
      kind: z.enum(['record', 'relationship']),
      record_type: z.string().nullable(),
      count: z.int(),
    }),
  ),
  paused_by: Actor.optional().meta({
    description: 'Who did it by hand. It has no usual and allowed number then, and these are 0.',
  }),
})
export const ReviewRequest = z
  .object({
    id: z.string(),
    kind: z.enum(['promotion', 'pause']),
    from: z.string().meta({ description: 'The preview. Of a pause, the base itself.' }),
    by: Actor,
    at: time,
    title: z.string(),
    note: z.string().nullable().meta({ description: 'A word to who decides.' }),
    summary: z.string().meta({ description: 'What it would change, when it was asked for.' }),
    breaks: z.array(Break).meta({ description: 'What did not fit when it was asked for.' }),
    migration: DecisionBody.shape.migration.unwrap().nullable().meta({
      description: 'The steps that were asked for to migrate records of production, by record type.',
    }),
    state: z.enum(['open', 'accepted', 'declined', 'sent_back']),
    revision: z.int().nullable().meta({ description: 'Of a change-set: what was asked for.' }),
    may_decide: z.boolean().meta({
      description: 'Whether this token may decide it: with admin on production, if it did not ask.',
    }),
    decision: Decision.nullable(),
    pause: Pause.nullable().meta({ description: 'Of a pause: what the token did.' }),
    proposal: Proposal.nullable()
      .optional()
      .meta({ description: 'What it would change now; null if it is decided, or its preview is deleted.' }),
    promotion: Promotion.optional().meta({ description: 'The promotion, in the answer to an acceptance.' }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ReviewRequest' })

export const RequestFields = graphql(`fragment RequestFields on ReviewRequest {
  id kind from by { token_id: tokenId name kind via } at title note summary breaks migration state revision pause may_decide: mayDecide
  decision { decision note by { token_id: tokenId name kind via } at promotion_id: promotionId }
}`)

const params = z.strictObject({ base_id: baseId() })
const one = params.extend({ id: z.string().max(64).meta({ description: 'A review request id.' }) })

const ofToken = params.extend({ id: z.string().min(1).max(64).meta({ description: 'A token id.' }) })

export const reviewRequests = tagged('Environments', [
  route('POST /:base_id/review-requests', {
    summary: 'Ask a person for a promotion',
    need: onBase('read'),
    params,
    body: ReviewBody,
    operation: graphql(
      `mutation AskForReview($base: String!, $from: String, $prune: Boolean, $resources: JSON, $migration: JSON, $title: String, $note: String, $dryRun: Boolean) {
        done: askForReview(base: $base, from: $from, prune: $prune, resources: $resources, migration: $migration, title: $title, note: $note, dryRun: $dryRun) {
          ...RequestFields dry_run: dryRun
        }
      }`,
      [RequestFields],
    ),
    statuses: [201],
    answers: ReviewRequest,
  }),
  route('GET /:base_id/review-requests', {
    summary: 'List what waits for a person, or what was decided, newest first',
    need: onBase('read'),
    params,
    query: pageQuery.extend({
      state: z.enum(['open', 'decided']).optional().meta({ description: 'Defaults to `open`.' }),
    }),
    operation: graphql(
      `query ListReviewRequests($base: String!, $state: ReviewRequests, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: reviewRequests(base: $base, state: $state, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...RequestFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [RequestFields],
    ),
    answers: listOf(ReviewRequest),
  }),
  route('GET /:base_id/review-requests/:id', {
    summary: 'Get a review request, with what it would change now',
    need: onBase('read'),
    params: one,
    operation: graphql(
      `query GetReviewRequest($base: String!, $id: String!) {
        found: reviewRequest(base: $base, id: $id) {
          ...RequestFields
          proposal { from base_id: baseId changes summary conflicts breaks revision hash kept records_rewritten: recordsRewritten warnings }
        }
      }`,
      [RequestFields],
    ),
    reply: ({ found }) => ({
      body: { ...found, proposal: found.proposal && writtenBody(ofPreview(found.proposal)) },
      isLarge: true,
    }),
    answers: ReviewRequest,
  }),
  route('POST /:base_id/review-requests/:id/decision', {
    summary: 'Decide a review request; accepting promotes in the same transaction, or resumes the token',
    need: ({ base_id = '' }) => ({ permission: 'write', base: base_id, recordType: '*' }) as const,
    params: one,
    body: DecisionBody,
    operation: graphql(
      `mutation DecideReviewRequest($base: String!, $id: String!, $decision: String!, $note: String, $resources: JSON, $migration: JSON, $resolve: JSON, $revision: Int, $dryRun: Boolean) {
        done: decideReviewRequest(base: $base, id: $id, decision: $decision, note: $note, resources: $resources, migration: $migration, resolve: $resolve, revision: $revision, dryRun: $dryRun) {
          ...RequestFields dry_run: dryRun
          promotion { ...PromotionFields kept records_rewritten: recordsRewritten warnings secrets }
        }
      }`,
      [RequestFields, PromotionFields],
    ),
    reply: ({ done: { promotion, ...done } }) => ({
      body: trim({ ...done, promotion: promotion ? writtenBody(promotion) : undefined }),
      isLarge: true,
    }),
    answers: ReviewRequest,
  }),
  route('POST /:base_id/tokens/:id/pause', {
    summary: 'Pause a token in a base: it can read there, and write nothing, until somebody resumes it',
    need: onBase('write'),
    params: ofToken,
    body: PauseBody,
    operation: graphql(
      `mutation PauseToken($base: String!, $id: String!, $note: String, $dryRun: Boolean) {
        done: pauseToken(base: $base, id: $id, note: $note, dryRun: $dryRun) { ...RequestFields dry_run: dryRun }
      }`,
      [RequestFields],
    ),
    answers: ReviewRequest,
  }),
  route('POST /:base_id/tokens/:id/resume', {
    summary: 'Let a token that is paused in a base write again',
    need: onBase('write'),
    params: ofToken,
    body: PauseBody,
    operation: graphql(
      `mutation ResumeToken($base: String!, $id: String!, $note: String, $dryRun: Boolean) {
        done: resumeToken(base: $base, id: $id, note: $note, dryRun: $dryRun) { ...RequestFields dry_run: dryRun }
      }`,
      [RequestFields],
    ),
    answers: ReviewRequest,
  }),
])
