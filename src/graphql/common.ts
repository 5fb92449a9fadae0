import type { DeletionPlan } from '../engine/write/deletion-plan.ts'
import { builder } from './builder.ts'
import { DeletionPlanRef } from './deletion-plan.ts'

/** What a write did. */
export const Operation = builder.enumType('WriteOperation', {
  values: ['created', 'updated', 'unchanged'] as const,
})

type DeletedShape = { id: string; deleted: boolean; dryRun?: boolean; plan?: DeletionPlan }

export const Deleted = builder.objectRef<DeletedShape>('Deleted').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    deleted: t.exposeBoolean('deleted', { description: 'False where only a plan was made.' }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
    plan: t.field({ type: DeletionPlanRef, nullable: true, resolve: ({ plan }) => plan }),
  }),
})

/** What is answered for a deletion that only a plan was made of. */
export const notYetDeleted = (plan: DeletionPlan, { id }: { id: string }): DeletedShape => ({
  id,
  deleted: false,
  plan,
})

/** The conditions a write of what exists may carry; see `engine/write/preconditions.ts`. */
export const versionArgs = () =>
  builder.args((t) => ({
    expectedVersions: t.intList({ description: 'Write only when the current version is one of these.' }),
    mustExist: t.boolean({ description: 'Write only what exists.' }),
  }))

/** The conditions an upsert may carry. */
export const expectationArgs = () => ({
  ...versionArgs(),
  ...builder.args((t) => ({ mustBeAbsent: t.boolean({ description: 'Create only.' }) })),
})
