/** GraphQL type of deletion plans. */
import type { DeletionPlan } from '../engine/write/deletion-plan.ts'
import { builder } from './builder.ts'

const Count = builder.objectRef<DeletionPlan['records']['of'][number]>('DeletionCount').implement({
  fields: (t) => ({ type: t.exposeString('type'), count: t.exposeInt('count') }),
})

const Group = builder.objectRef<DeletionPlan['records']>('DeletionGroup').implement({
  description: 'Things of one kind that would go.',
  fields: (t) => ({
    count: t.exposeInt('count'),
    of: t.field({
      type: [Count],
      description: 'By name, the most first; of many names the first 20.',
      resolve: ({ of }) => [...of],
    }),
  }),
})

export const DeletionPlanRef = builder.objectRef<DeletionPlan>('DeletionPlan').implement({
  description: 'What a deletion would take, of what the token may read. Nothing is deleted yet.',
  fields: (t) => ({
    what: t.exposeString('what', { description: 'In a sentence.' }),
    bases: t.field({ type: Group, resolve: ({ bases }) => bases }),
    recordTypes: t.field({ type: Group, resolve: ({ recordTypes }) => recordTypes }),
    relationshipTypes: t.field({ type: Group, resolve: ({ relationshipTypes }) => relationshipTypes }),
    records: t.field({ type: Group, resolve: ({ records }) => records }),
    relationships: t.field({ type: Group, resolve: ({ relationships }) => relationships }),
    samples: t.exposeStringList('samples', {
      description: '`type/id` of the first ten records, those that were named before what goes along.',
    }),
    token: t.exposeString('token', {
      description: 'Sent as `planToken` with the same request by the same token, it approves of this plan.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})
