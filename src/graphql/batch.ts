/** GraphQL mutation for batches: many operations in one transaction. */

import type { Deletion, DeletionPlan } from '../engine/core/write/deletion-plan.ts'
import { type Outcome, outcomeRows, runBatch, withoutRecord } from '../engine/records/batch/run-batch.ts'
import { builder } from './builder.ts'
import { LinkCountsRef } from './common.ts'
import { transactionFields } from './deletion-plan.ts'
import { mutation } from './mutation.ts'
import { RecordRef } from './records.ts'

const Did = builder.enumType('BatchOperation', {
  description: 'What an operation of a batch did to the record.',
  values: ['created', 'updated', 'unchanged', 'deleted'] as const,
})

const Item = builder.objectRef<Outcome>('BatchItem').implement({
  description: 'The result of one operation of a batch.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Index in the batch, from 0.' }),
    type: t.exposeString('type'),
    operation: t.expose('operation', { type: Did }),
    id: t.exposeString('id'),
    version: t.exposeInt('version'),
    relationships: t.expose('linked', {
      type: LinkCountsRef,
      nullable: true,
      description:
        'Present if the operation wrote a record with `relationships`: how many were created, updated and unchanged.',
    }),
    replaced: t.field({
      type: ['String'],
      nullable: true,
      description: 'Ids of the links that the link replaced, which are deleted.',
      resolve: ({ replaced }) => replaced && [...replaced],
    }),
    warnings: t.stringList({
      nullable: true,
      description: 'What to know about the record type or relationship type that was written.',
      resolve: ({ warnings }) => (warnings ? [...warnings] : null),
    }),
    record: t.expose('record', {
      type: RecordRef,
      nullable: true,
      description: 'The record after the operation; null if there is none.',
    }),
  }),
})

type Answer = Awaited<ReturnType<typeof runBatch>> & {
  requestId: string | null
  dryRun?: boolean
  deletion?: Deletion
  plan?: DeletionPlan
}

const Batch = builder.objectRef<Answer>('Batch').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [Item] }),
    rows: t.field({
      type: 'JSON',
      description: 'The results in the form of REST.',
      args: { records: t.arg.boolean({ description: 'Whether to return the records. Defaults to true.' }) },
      resolve: ({ data }, { records }) => ((records ?? true) ? outcomeRows(data) : data.map(withoutRecord)),
    }),
    count: t.int({ resolve: ({ data }) => data.length }),
    warnings: t.stringList({
      nullable: true,
      description: 'Present if operations had properties that the schema seems to name otherwise.',
      resolve: ({ warnings }) => (warnings?.length ? [...warnings] : null),
    }),
    ...transactionFields(t),
  }),
})

mutation('batch', {
  description: 'Runs 1 to 1,000 operations in one transaction. Operations on the same resource run in order.',
  type: Batch,
  planned: (plan): Answer => ({ data: [], requestId: null, plan }),
  plannedArgs: ['operations'],
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    operations: t.field({
      type: 'JSON',
      description:
        'A list of operations in the form of REST: {"type":"upsert_record","record_type":…}. Left out with `planToken`.',
    }),
  })),
  resolve: async (scope, { base, operations }) => ({
    ...(await runBatch(scope, base, operations)),
    requestId: scope.requestId,
  }),
})
