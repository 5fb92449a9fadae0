/** GraphQL types and operations of what reviewers say about change-sets. */
import { VERDICTS } from '../contract/change-set-shapes.ts'
import { changeSetReviews } from '../engine/environments/index.ts'
import { builder } from './builder.ts'
import { Actor } from './changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'
import { bodyOf } from './promotions.ts'

const Verdict = builder.enumType('ChangeSetVerdict', { values: VERDICTS })
const ReviewRef = builder.objectRef<changeSetReviews.Review>('ChangeSetReview').implement({
  description: 'What somebody said about a change-set, or about some of its changes.',
  fields: (t) => ({
    id: t.exposeString('id'),
    verdict: t.expose('verdict', { type: Verdict }),
    revision: t.exposeInt('revision', { description: 'The revision that it is about.' }),
    isStale: t.exposeBoolean('isStale', { description: 'Whether the change-set was written since.' }),
    resources: t.expose('resources', {
      type: 'JSON',
      nullable: true,
      description: 'What it is about: `[{ kind, record_type, id, fields }]`; null for the whole.',
    }),
    text: t.exposeString('text', { nullable: true }),
    by: t.expose('by', { type: Actor }),
    at: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const changeSet = { required: true, description: 'The change-set.' } as const

builder.queryField('changeSetReviews', (t) =>
  t.field({
    type: pageType('ChangeSetReviewPage', ReviewRef),
    description: 'What was said about a change-set, newest first.',
    args: { base: t.arg.string(changeSet), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => changeSetReviews.listReviews(scope, base, args),
  }),
)

mutation('reviewPreview', {
  description:
    'Comments on a change-set, approves a revision of it, sends it back or rejects it: all of it, or some records or fields.',
  type: ReviewRef,
  args: builder.args((t) => ({
    base: t.string(changeSet),
    verdict: t.field({ type: Verdict, required: true }),
    revision: t.int({ description: 'The revision that was looked at. An approval needs it.' }),
    resources: t.field({ type: 'JSON', description: 'Only these: `[{ kind, record_type, id, fields }]`.' }),
    text: t.string(),
  })),
  resolve: (scope, { base, ...args }) => changeSetReviews.reviewChangeSet(scope, base, bodyOf(args)),
})
