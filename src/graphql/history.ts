/** GraphQL queries for earlier versions, and the mutation that reverts a change. */
import { listVersions, type RecordVersion, revertChange } from '../engine/history/index.ts'
import { builder } from './builder.ts'
import { Actor, Change } from './changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const RecordVersionRef = builder.objectRef<RecordVersion>('RecordVersion').implement({
  description: 'One version of a record, and what made it.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    operation: t.exposeString('operation', {
      description: '"create", "update", "cancel", "delete" or "restore".',
    }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.field({ type: Actor, resolve: (version) => version.actor }),
    requestId: t.exposeString('requestId'),
    seq: t.exposeFloat('seq', { description: "The change's place in the log of the base." }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The change, delivery or run behind it.',
    }),
    diff: t.field({
      type: 'JSON',
      description: 'RFC 6902, from the version before, of { data, status, external_id, external_source }.',
      resolve: (version) => version.diff,
    }),
  }),
})

const RecordVersionPage = pageType('RecordVersionPage', RecordVersionRef)

builder.queryFields((t) => ({
  recordHistory: t.field({
    type: RecordVersionPage,
    description: 'The versions of a record, newest first; of one that is deleted too.',
    args: {
      base: t.arg.string({ required: true }),
      recordType: t.arg.string({ required: true }),
      id: t.arg.string({ required: true }),
      ...pageArgs(),
    },
    resolve: (_root, { base, recordType, id, ...args }, { scope }) =>
      listVersions(scope, base, recordType, id, args),
  }),
}))

mutation('revertChange', {
  description: 'Writes the inverse of a change of a record or a relationship, and answers that change.',
  type: Change,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    seq: t.float({ required: true, description: "The change's place in the log." }),
    force: t.boolean({ description: 'Also when later changes stand on it, which it takes back with it.' }),
  })),
  resolve: (scope, { base, seq, force }) => revertChange(scope, base, seq, force ?? false),
})
