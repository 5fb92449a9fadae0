import type { Deletion, DeletionPlan } from '../engine/core/write/deletion-plan.ts'
import type { Approvable } from '../engine/core/write/plan-approval.ts'
import type { LinkCounts } from '../engine/data/ledger/link-counts.ts'
import type { Titled } from '../engine/records/titles.ts'
import { builder } from './builder.ts'
import { DeletionPlanRef, deletionField } from './deletion-plan.ts'

/** The effect of a write. */
export const Operation = builder.enumType('WriteOperation', {
  values: ['created', 'updated', 'unchanged'] as const,
})

/** Counts of the operations on the links of a record write. */
export const LinkCountsRef = builder.objectRef<LinkCounts>('LinkCounts').implement({
  description: 'How many links a record write created, updated and left as they were.',
  fields: (t) => ({
    created: t.exposeInt('created'),
    updated: t.exposeInt('updated'),
    unchanged: t.exposeInt('unchanged'),
  }),
})

type DeletedShape = {
  id: string
  deleted: boolean
  deletion?: Deletion
  plan?: DeletionPlan
}

export const Deleted = builder.objectRef<DeletedShape>('Deleted').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    deleted: t.exposeBoolean('deleted', { description: 'False if only a plan was made.' }),
    deletion: deletionField(t),
    plan: t.expose('plan', { type: DeletionPlanRef, nullable: true }),
  }),
})

/** The result of a delete that only returned its plan. */
export const notYetDeleted = (plan: DeletionPlan, { id }: { id: string }): DeletedShape => ({
  id,
  deleted: false,
  plan,
})

/** The plan of a write, which a person approves by its token. */
export const planType = (name: string, act: string) =>
  builder.objectRef<Approvable & { what: string }>(name).implement({
    description: `What ${act} would do, and the token that approves it.`,
    fields: (t) => ({
      what: t.exposeString('what', { description: 'The plan as a sentence.' }),
      token: t.exposeString('token'),
      expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    }),
  })

type Fields<T extends object> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, T>

/** The title of what an item of a list is of, which is read if it is selected. */
export const titleField = <T extends Partial<Titled<object>>>(t: Fields<T>) =>
  t.string({
    nullable: true,
    description:
      'The title of the record: `display.title` of its type says which property. Of other resources their name.',
    resolve: ({ title }) => title?.() ?? null,
  })

/** The arguments that name a resource of a base. */
export const targetArgs = () =>
  builder.args((t) => ({ base: t.string({ required: true }), id: t.string({ required: true }) }))

/** Precondition arguments of a write to an existing resource. */
export const versionArgs = () =>
  builder.args((t) => ({
    expectedVersions: t.intList({
      description: 'Precondition: write only if the current version is one of these.',
    }),
    mustExist: t.boolean({ description: 'Precondition: write only if the resource exists.' }),
  }))

/** Precondition arguments of an upsert. */
export const expectationArgs = () =>
  builder.args((t) => ({
    ...versionArgs(),
    mustBeAbsent: t.boolean({ description: 'Precondition: write only if the resource does not exist.' }),
  }))
