import { builder } from './builder.ts'

/** What a write did. */
export const Operation = builder.enumType('WriteOperation', {
  values: ['created', 'updated', 'unchanged'] as const,
})

export const Deleted = builder
  .objectRef<{ id: string; deleted: boolean; dryRun?: boolean }>('Deleted')
  .implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      deleted: t.exposeBoolean('deleted'),
      dryRun: t.exposeBoolean('dryRun', { nullable: true }),
    }),
  })

/** The conditions a write of what exists may carry; see `engine/expectation.ts`. */
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
