/** GraphQL type of deletion plans. */
import type { DeletionPlan } from '../engine/write/deletion-plan.ts'
import { builder } from './builder.ts'

const Count = builder.objectRef<DeletionPlan['records']['of'][number]>('DeletionCount').implement({
  fields: (t) => ({ type: t.exposeString('type'), count: t.exposeInt('count') }),
})

const Group = builder.objectRef<DeletionPlan['records']>('DeletionGroup').implement({
  description: 'Resources of one kind that would be deleted.',
  fields: (t) => ({
    count: t.exposeInt('count'),
    of: t.field({
      type: [Count],
      description: 'Counts by name, largest first. At most 20 names.',
      resolve: ({ of }) => [...of],
    }),
  }),
})

export const DeletionPlanRef = builder.objectRef<DeletionPlan>('DeletionPlan').implement({
  description: 'What a deletion would delete, as far as the token can read it. Nothing is deleted yet.',
  fields: (t) => ({
    what: t.exposeString('what', { description: 'The plan as a sentence.' }),
    bases: t.field({ type: Group, resolve: ({ bases }) => bases }),
    recordTypes: t.field({ type: Group, resolve: ({ recordTypes }) => recordTypes }),
    relationshipTypes: t.field({ type: Group, resolve: ({ relationshipTypes }) => relationshipTypes }),
    fileTypes: t.field({ type: Group, resolve: ({ fileTypes }) => fileTypes }),
    records: t.field({ type: Group, resolve: ({ records }) => records }),
    relationships: t.field({ type: Group, resolve: ({ relationships }) => relationships }),
    files: t.field({ type: Group, resolve: ({ files }) => files }),
    attachments: t.field({ type: Group, resolve: ({ attachments }) => attachments }),
    samples: t.exposeStringList('samples', {
      description: '`type/id` of the first ten records. Requested records come before cascaded ones.',
    }),
    token: t.exposeString('token', {
      description: 'Approves the plan: send it as `planToken` in the same request with the same API token.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})
