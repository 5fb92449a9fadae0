/** GraphQL type, queries and mutations of promotions. */
import { snakeFields } from '../contract/field-names.ts'
import type { Approvable } from '../engine/core/write/plan-approval.ts'
import * as environments from '../engine/environments/index.ts'
import { builder } from './builder.ts'
import { planType } from './common.ts'
import { CHANGES, CONFLICTS, KEPT, RECORDS_REWRITTEN, SECRETS, SUMMARY, WARNINGS } from './config-changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type PromotionPlan = Approvable & { what: string; promotion: environments.Promotion }
type Promotion = environments.Promotion & { plan?: PromotionPlan }

export const PromotionRef = builder.objectRef<Promotion>('Promotion').implement({
  description: 'Configuration that was promoted from a preview to production, or rolled back there.',
  fields: (t) => ({
    id: t.exposeString('id', {
      nullable: true,
      description: 'Null where nothing was to be promoted: the history has no entry of it.',
    }),
    kind: t.exposeString('kind', { description: '"promotion" or "rollback".' }),
    from: t.exposeString('from', { description: 'The preview.' }),
    baseId: t.exposeString('baseId', { description: 'The production base.' }),
    status: t.exposeString('status', { description: '"applied" or "rolled_back".' }),
    changes: t.field(CHANGES),
    conflicts: t.field(CONFLICTS),
    createdBy: t.exposeString('createdBy', { nullable: true, description: 'The id of the token.' }),
    createdByName: t.exposeString('createdByName', {
      nullable: true,
      description: 'The name that the token had.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    kept: t.field(KEPT),
    recordsRewritten: t.field(RECORDS_REWRITTEN),
    warnings: t.field(WARNINGS),
    secrets: t.field(SECRETS),
    plan: t.expose('plan', {
      type: planType('PromotionPlan', 'a promotion'),
      nullable: true,
      description: 'The plan, if one was requested. Then nothing was promoted.',
    }),
  }),
})

builder.queryFields((t) => ({
  promotions: t.field({
    type: pageType('PromotionPage', PromotionRef),
    description: 'The promotions and rollbacks of a base, newest first.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => environments.listPromotions(scope, base, args),
  }),
  promotion: t.field({
    type: PromotionRef,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => environments.getPromotion(scope, base, id),
  }),
}))

/** The arguments of a body in the names of REST, without those that are left out. */
export const bodyOf = (args: object): object =>
  snakeFields(Object.fromEntries(Object.entries(args).filter(([, value]) => value != null)))

export const MIGRATION = {
  type: 'JSON',
  description:
    'Steps that migrate the records of production, by record type: `{ deal: [{ op, field, … }] }`.',
} as const

const selectionArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    prune: t.boolean({ description: 'Also delete what the preview deleted.' }),
    resources: t.field({
      type: 'JSON',
      description:
        'Only these: `[{ kind, id }]`; of a change-set `[{ kind: "record", record_type, id, fields }]`.',
    }),
    migration: t.field(MIGRATION),
  }))
/** The arguments of a proposal, and of a request for its promotion. */
export const proposalArgs = () =>
  builder.args((t) => ({
    from: t.string({
      description:
        'The preview, such as "crm--dev". By default what the token proposes: the change-set that it writes to, or wrote to last.',
    }),
    ...selectionArgs(),
  }))
const resolveArgs = () =>
  builder.args((t) => ({
    resolve: t.field({
      type: 'JSON',
      description: 'Of a change-set, how conflicts end: `[{ record_type, id, field, take, value }]`.',
    }),
  }))
const promoteArgs = () =>
  builder.args((t) => ({
    ...selectionArgs(),
    ...resolveArgs(),
    from: t.string({ required: true, description: 'The preview, such as "crm--dev".' }),
    revision: t.int({ description: 'Of a change-set: the revision that was looked at.' }),
    hash: t.string({ description: 'Of a preview of configuration: the hash of what was looked at.' }),
    force: t.boolean({
      description: 'Take the preview where both sides changed, and delete types together with their records.',
    }),
  }))

export const ProposalRef = builder.objectRef<environments.Proposal>('Proposal').implement({
  description: 'What promoting a preview would change in production, and what prevents it.',
  fields: (t) => ({
    from: t.exposeString('from', { description: 'The preview.' }),
    baseId: t.exposeString('baseId', { description: 'The production base.' }),
    changes: t.field(CHANGES),
    summary: t.field(SUMMARY),
    conflicts: t.field(CONFLICTS),
    breaks: t.expose('breaks', {
      type: 'JSON',
      description:
        'What production holds or lacks that the changes do not fit: details of an error, with counts and samples.',
    }),
    revision: t.int({
      nullable: true,
      description: 'Of a change-set: what was looked at. Send it with the promotion.',
      resolve: ({ revision }) => revision ?? null,
    }),
    hash: t.string({
      nullable: true,
      description: 'Of a preview of configuration: what was looked at. Send it with the promotion.',
      resolve: ({ hash }) => hash ?? null,
    }),
    kept: t.field(KEPT),
    recordsRewritten: t.field(RECORDS_REWRITTEN),
    warnings: t.field(WARNINGS),
  }),
})

builder.queryField('proposal', (t) =>
  t.field({
    type: ProposalRef,
    description:
      'Compares a preview with its production base, for a person to decide on a promotion. Needs read on both.',
    args: { ...proposalArgs(), ...resolveArgs() },
    resolve: (_root, { base, ...body }, { scope }) => environments.propose(scope, base, bodyOf(body)),
  }),
)

mutation<ReturnType<typeof promoteArgs>, Promotion, PromotionPlan>('promote', {
  description: 'Applies the changes of a preview to its production base, in one transaction.',
  type: PromotionRef,
  args: promoteArgs(),
  planned: (plan) => ({ ...plan.promotion, plan }),
  plannedArgs: ['prune', 'resources', 'force', 'migration', 'resolve', 'revision', 'hash'],
  resolve: (scope, { base, from, prune, resources, force, migration, resolve, revision, hash }) =>
    environments.promote(
      scope,
      base,
      bodyOf({ from, prune, resources, force, migration, resolve, revision, hash }),
    ),
})

mutation('rollbackPromotion', {
  description: 'Undoes a promotion or a part of it, as a new entry of the history.',
  type: PromotionRef,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    promotionId: t.string({ required: true }),
    resources: t.field({
      type: 'JSON',
      description:
        'Take these back only: `[{ kind, id }]`; of a change-set `[{ kind: "record", record_type, id }]`.',
    }),
    migration: t.field(MIGRATION),
  })),
  resolve: (scope, { base, ...body }) => environments.rollback(scope, base, bodyOf(body)),
})

const DiscardedRef = builder.objectRef<environments.Discarded>('DiscardedChanges').implement({
  description: 'Changes that were taken out of a change-set.',
  fields: (t) => ({
    from: t.exposeString('from', { description: 'The change-set.' }),
    revision: t.exposeInt('revision'),
    changes: t.field(CHANGES),
  }),
})

mutation('discardChanges', {
  description: 'Takes changes out of a change-set: what they are of is shown as production has it again.',
  type: DiscardedRef,
  args: builder.args((t) => ({
    base: t.string({ required: true, description: 'The change-set.' }),
    resources: t.field({
      type: 'JSON',
      required: true,
      description: '`[{ kind: "record", record_type, id, fields? }, { kind: "relationship", id }]`.',
    }),
  })),
  resolve: (scope, { base, resources }) => environments.discardDrafts(scope, base, { resources }),
})
