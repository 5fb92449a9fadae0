/** GraphQL types and operations of review requests. */
import { productionOf } from '../contract/ids.ts'
import { type Promotion, reviewRequests } from '../engine/environments/index.ts'
import { builder } from './builder.ts'
import { Actor } from './changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'
import { bodyOf, MIGRATION, PromotionRef, ProposalRef, proposalArgs } from './promotions.ts'

type ReviewRequest = reviewRequests.ReviewRequest
type Decided = NonNullable<ReviewRequest['decision']>

const DecisionRef = builder.objectRef<Decided>('ReviewDecision').implement({
  description: 'How a review request was decided.',
  fields: (t) => ({
    decision: t.exposeString('decision', { description: '"accept", "decline" or "send_back".' }),
    note: t.exposeString('note', { nullable: true, description: 'A word to who asked.' }),
    by: t.expose('by', { type: Actor }),
    at: t.expose('at', { type: 'DateTime' }),
    promotionId: t.exposeString('promotionId', { nullable: true }),
  }),
})

const RequestRef = builder.objectRef<ReviewRequest>('ReviewRequest').implement({
  description:
    'Something that waits for a person: a promotion that somebody asked for, or a token that is paused.',
  fields: (t) => ({
    id: t.exposeString('id'),
    kind: t.exposeString('kind', { description: '"promotion" or "pause".' }),
    baseId: t.exposeString('baseId'),
    from: t.exposeString('from', { description: 'The preview. Of a pause, the base itself.' }),
    by: t.expose('by', { type: Actor, description: 'Who asked.' }),
    at: t.expose('at', { type: 'DateTime' }),
    title: t.exposeString('title'),
    note: t.exposeString('note', { nullable: true, description: 'A word to who decides.' }),
    summary: t.exposeString('summary', { description: 'What it would change, when it was asked for.' }),
    breaks: t.expose('breaks', {
      type: 'JSON',
      description: 'What did not fit when it was asked for: `[{ kind, id, code, message, count }]`.',
    }),
    migration: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The steps that were asked for to migrate records of production, by record type.',
      resolve: ({ asked }) => asked.migration,
    }),
    state: t.exposeString('state', { description: '"open", "accepted", "declined" or "sent_back".' }),
    revision: t.exposeInt('revision', {
      nullable: true,
      description: 'Of a change-set: what was asked for. It may have been written since.',
    }),
    mayDecide: t.exposeBoolean('mayDecide', {
      description:
        'Whether this token may decide it: with admin on production, and if it has not asked for it.',
    }),
    decision: t.expose('decision', { type: DecisionRef, nullable: true }),
    pause: t.expose('pause', {
      type: 'JSON',
      nullable: true,
      description:
        'Of a pause: what the token wrote since `since`, and how much it usually does: `{ token_id, since, writes, refused, usual, allowed, wrote }`, and who `paused_by` hand did it.',
    }),
    proposal: t.field({
      type: ProposalRef,
      nullable: true,
      description: 'What it would change now; null if it is decided, or its preview is deleted.',
      resolve: (request, _args, { scope }) => reviewRequests.proposalOf(scope, request),
    }),
    promotion: t.field({
      type: PromotionRef,
      nullable: true,
      description: 'The promotion, in the answer to an acceptance.',
      resolve: ({ promotion }): Promotion | undefined => promotion,
    }),
  }),
})
const StateRef = builder.enumType('ReviewRequests', { values: ['open', 'decided'] as const })

builder.queryFields((t) => ({
  reviewRequests: t.field({
    type: pageType('ReviewRequestPage', RequestRef),
    description: 'What waits for a person in a base, newest first, or what was decided.',
    args: { base: t.arg.string({ required: true }), state: t.arg({ type: StateRef }), ...pageArgs() },
    resolve: (_root, { base, state, ...args }, { scope }) =>
      reviewRequests.listReviewRequests(scope, base, { ...args, state: state ?? 'open' }),
  }),
  newestReviewRequest: t.field({
    type: RequestRef,
    nullable: true,
    description: 'What this token asked for the preview last.',
    args: { base: t.arg.string({ required: true }), from: t.arg.string() },
    resolve: (_root, { base, from }, { scope }) =>
      reviewRequests.newestReviewRequest(scope, base, from ?? undefined),
  }),
  reviewRequest: t.field({
    type: RequestRef,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => reviewRequests.getReviewRequest(scope, base, id),
  }),
}))

mutation('askForReview', {
  description:
    'Asks a person for a promotion. What this token asked for the preview, and is open, is replaced.',
  type: RequestRef,
  args: builder.args((t) => ({ ...proposalArgs(), title: t.string(), note: t.string() })),
  resolve: (scope, { base, ...args }) => reviewRequests.askForReview(scope, base, bodyOf(args)),
})

mutation('submitPreview', {
  description: 'Submits a change-set: asks a person to promote all of it.',
  type: RequestRef,
  args: builder.args((t) => ({
    base: t.string({ required: true, description: 'The change-set.' }),
    title: t.string({ description: 'What a person reads first.' }),
    comment: t.string({ description: 'A word to who decides.' }),
  })),
  resolve: (scope, { base: from, title, comment: note }) =>
    reviewRequests.askForReview(scope, productionOf(from), bodyOf({ from, title, note })),
})

const pauseArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true, description: 'The id of the token.' }),
    note: t.string({ description: 'Why.' }),
  }))
mutation('pauseToken', {
  description: 'Pauses a token in a base: it can read there, and write nothing, until somebody resumes it.',
  type: RequestRef,
  args: pauseArgs(),
  resolve: (scope, { base, id, ...args }) => reviewRequests.pauseToken(scope, base, id, bodyOf(args)),
})
mutation('resumeToken', {
  description: 'Lets a token that is paused write again.',
  type: RequestRef,
  args: pauseArgs(),
  resolve: (scope, { base, id, ...args }) => reviewRequests.resumeToken(scope, base, id, bodyOf(args)),
})

mutation('decideReviewRequest', {
  description: 'Decides a review request. "accept" promotes in the same transaction, or resumes the token.',
  type: RequestRef,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    decision: t.string({ required: true }),
    note: t.string(),
    resources: t.field({ type: 'JSON', description: 'Only these: `[{ kind, id }]`.' }),
    migration: t.field(MIGRATION),
    resolve: t.field({ type: 'JSON', description: 'Of a change-set: how each conflict ends.' }),
    revision: t.int({ description: 'Of a change-set: what was looked at. Defaults to what was asked for.' }),
  })),
  resolve: (scope, { base, id, ...args }) =>
    reviewRequests.decideReviewRequest(scope, base, id, bodyOf(args)),
})
