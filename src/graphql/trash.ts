/** GraphQL query that lists deleted records. */
import { listTrash, type TrashedRecord } from '../engine/history/trash.ts'
import { builder } from './builder.ts'
import { Actor } from './changes.ts'
import { titleField } from './common.ts'
import { pageArgs, pageType } from './page.ts'
import { RecordRef } from './records.ts'

const TrashedRecordRef = builder.objectRef<TrashedRecord>('TrashedRecord').implement({
  description: 'A deleted record that can be restored.',
  fields: (t) => ({
    record: t.expose('record', { type: RecordRef, description: 'The record before its deletion.' }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime' }),
    deletedBy: t.expose('deletedBy', { type: Actor }),
    title: titleField(t),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'The time from which it can no longer be restored.',
    }),
  }),
})

builder.queryField('trash', (t) =>
  t.field({
    type: pageType('TrashPage', TrashedRecordRef),
    description: 'The deleted records that can be restored, most recently deleted first.',
    args: {
      base: t.arg.string({ required: true }),
      recordType: t.arg.string({ description: 'Only records of this type.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => listTrash(scope, base, args),
  }),
)
