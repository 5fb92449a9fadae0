/** GraphQL types of deletions and their plans. */
import type { Deletion, DeletionPlan } from '../engine/core/write/deletion-plan.ts'
import { builder } from './builder.ts'

const Count = builder.objectRef<Deletion['records']['of'][number]>('DeletionCount').implement({
  fields: (t) => ({ type: t.exposeString('type'), count: t.exposeInt('count') }),
})

const Group = builder.objectRef<Deletion['records']>('DeletionGroup').implement({
  description: 'Resources of one kind that are deleted.',
  fields: (t) => ({
    count: t.exposeInt('count'),
    of: t.field({
      type: [Count],
      description: 'Counts by name, largest first. At most 20 names.',
      resolve: ({ of }) => [...of],
    }),
  }),
})

type Fields<T extends object> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, T>

const parts = <T extends Deletion>(t: Fields<T>) => ({
  bases: t.field({ type: Group, resolve: ({ bases }) => bases }),
  recordTypes: t.field({ type: Group, resolve: ({ recordTypes }) => recordTypes }),
  relationshipTypes: t.field({ type: Group, resolve: ({ relationshipTypes }) => relationshipTypes }),
  fileTypes: t.field({ type: Group, resolve: ({ fileTypes }) => fileTypes }),
  records: t.field({ type: Group, resolve: ({ records }) => records }),
  relationships: t.field({ type: Group, resolve: ({ relationships }) => relationships }),
  files: t.field({ type: Group, resolve: ({ files }) => files }),
  attachments: t.field({ type: Group, resolve: ({ attachments }) => attachments }),
  samples: t.stringList({
    description: '`type/id` of the first ten records. Requested records come before cascaded ones.',
    resolve: ({ samples }) => [...samples],
  }),
  titles: t.field({
    type: ['String'],
    nullable: { list: false, items: true },
    description: 'Of each sample the title, or else the id that it has elsewhere.',
    resolve: ({ titles }) => [...titles],
  }),
})

const DeletionRef = builder.objectRef<Deletion>('Deletion').implement({
  description: 'What a deletion deletes, as far as the token can read it.',
  fields: parts,
})

/** The field of a result that says what was deleted. */
export const deletionField = <T extends { deletion?: Deletion }>(t: Fields<T>) =>
  t.field({
    type: DeletionRef,
    nullable: true,
    description: 'What was deleted, in a dry run and after an approved plan.',
    resolve: ({ deletion }) => deletion,
  })

export const DeletionPlanRef = builder.objectRef<DeletionPlan>('DeletionPlan').implement({
  description: 'What a deletion would delete, as far as the token can read it. Nothing is deleted yet.',
  fields: (t) => ({
    what: t.exposeString('what', { description: 'The plan as a sentence.' }),
    ...parts(t),
    token: t.exposeString('token', {
      description: 'Approves the plan: send it as `planToken` in the same request with the same API token.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

type Transaction = { dryRun?: boolean; requestId: string | null; deletion?: Deletion; plan?: DeletionPlan }

/** The fields of a result of many writes in one transaction. */
export const transactionFields = <T extends Transaction>(t: Fields<T>) => ({
  requestId: t.string({
    nullable: true,
    description: 'The request that did it, to undo it; null where nothing was written.',
    resolve: ({ requestId, dryRun }) => (dryRun ? null : requestId),
  }),
  deletion: deletionField(t),
  plan: t.field({
    type: DeletionPlanRef,
    nullable: true,
    description: 'The deletion plan, if one was requested. Then nothing was executed.',
    resolve: ({ plan }) => plan,
  }),
})
