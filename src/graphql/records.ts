import { expectation } from '../engine/expectation.ts'
import * as records from '../engine/records/index.ts'
import { invalid } from '../errors.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageFields } from './page.ts'

type Item = records.RecordItem & { dryRun?: boolean; searchScore?: number | null }

export const RecordRef = builder.objectRef<Item>('Record').implement({
  description: 'One record. Its content is one JSON value, whatever its type.',
  fields: (t) => ({
    id: t.exposeString('id'),
    recordType: t.exposeString('recordType'),
    data: t.expose('data', { type: 'JSON' }),
    externalId: t.exposeString('externalId', { nullable: true }),
    externalSource: t.exposeString('externalSource', { nullable: true }),
    version: t.exposeInt('version'),
    status: t.exposeString('status', { description: '"active" or "cancelled".' }),
    cancelledAt: t.expose('cancelledAt', { type: 'DateTime', nullable: true }),
    valid: t.field({
      type: 'Boolean',
      nullable: true,
      description: 'False when the schema, changed since, refuses what the record holds; otherwise null.',
      resolve: (record) => record.valid,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.field({ type: Operation, nullable: true, resolve: (record) => record.operation }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
    searchScore: t.exposeFloat('searchScore', {
      nullable: true,
      description: 'How well it matches the search of the filter; higher is better.',
    }),
  }),
})

const RecordPage = builder
  .objectRef<Awaited<ReturnType<typeof records.listRecords>>>('RecordPage')
  .implement({
    fields: (t) => ({
      data: t.field({ type: [RecordRef], resolve: (page) => page.data() }),
      rows: t.field({
        type: 'JSON',
        description: 'The same records as REST shows them, narrowed to `fields`.',
        resolve: (page) => page.rows(),
      }),
      ...pageFields(t),
      hint: t.exposeString('hint', {
        nullable: true,
        description: 'What would make such a list faster, when it was slow.',
      }),
    }),
  })

const typeArgs = () =>
  builder.args((t) => ({ base: t.string({ required: true }), recordType: t.string({ required: true }) }))
const recordArgs = () => ({ ...typeArgs(), ...builder.args((t) => ({ id: t.string({ required: true }) })) })
const pairArgs = () =>
  builder.args((t) => ({
    externalId: t.string({ description: 'Identifies the record for upsert, together with the source.' }),
    externalSource: t.string({ description: '"default" when only an id is given.' }),
  }))
const dataArgs = () => ({
  ...builder.args((t) => ({ data: t.field({ type: 'JSON', required: true }) })),
  ...pairArgs(),
})

builder.queryFields((t) => ({
  records: t.field({
    type: RecordPage,
    description: 'The records of a type that match, newest first unless sorted.',
    args: {
      ...typeArgs(),
      filter: t.arg({
        type: 'JSON',
        description: '{"field","op","value"}, {"and":[…]}, {"or":[…]} or {"not":{…}}.',
      }),
      sort: t.arg({ type: 'JSON', description: '[{"field","direction"}] or "-created_at,id".' }),
      fields: t.arg.stringList({ description: 'What of each record is shown: "id", "data.name".' }),
      expand: t.arg.stringList({ description: 'Relationship types to follow: "owner.company", "~member".' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, recordType, ...args }, { scope }) =>
      records.listRecords(scope, base, recordType, args),
  }),
  record: t.field({
    type: RecordRef,
    args: recordArgs(),
    resolve: (_root, { base, recordType, id }, { scope }) => records.getRecord(scope, base, recordType, id),
  }),
}))

mutation('putRecord', {
  description:
    'Upserts a record: the one the pair belongs to, else the one with the id. Replaces `data` whole.',
  type: RecordRef,
  args: { ...recordArgs(), ...dataArgs(), ...expectationArgs() },
  resolve: (scope, { base, recordType, id, data, externalId, externalSource, ...expected }) =>
    records.putRecord(
      scope,
      base,
      recordType,
      id,
      { data, externalId, externalSource },
      expectation(expected),
    ),
})

mutation('putRecordByExternalId', {
  description: 'Upserts the record the external pair belongs to, under a server-made id when it is created.',
  type: RecordRef,
  args: { ...typeArgs(), ...dataArgs(), ...expectationArgs() },
  resolve: (scope, { base, recordType, data, externalId, externalSource, ...expected }) =>
    records.putRecordByPair(
      scope,
      base,
      recordType,
      { data, externalId, externalSource },
      expectation(expected),
    ),
})

mutation('createRecord', {
  description: 'Creates a record. A taken id or pair is a CONFLICT.',
  type: RecordRef,
  args: { ...typeArgs(), ...builder.args((t) => ({ id: t.string() })), ...dataArgs() },
  resolve: (scope, { base, recordType, id, data, externalId, externalSource }) =>
    records.createRecord(scope, base, recordType, { id, data, externalId, externalSource }),
})

mutation('patchRecord', {
  description:
    'Patches a record: `merge` is an RFC 7396 patch of its data, `operations` an RFC 6902 one of the record.',
  type: RecordRef,
  args: {
    ...recordArgs(),
    ...builder.args((t) => ({ merge: t.field({ type: 'JSON' }), operations: t.field({ type: 'JSON' }) })),
    ...pairArgs(),
    ...versionArgs(),
  },
  resolve: (scope, { base, recordType, id, merge, operations, externalId, externalSource, ...expected }) => {
    if (operations && [merge, externalId, externalSource].some((each) => each !== undefined && each !== null))
      throw invalid({
        path: '/operations',
        code: 'exclusive',
        message: 'Send operations alone: they can change data, external_id and external_source.',
      })
    const patch =
      operations === undefined || operations === null
        ? { merge: { data: merge, externalId, externalSource } }
        : { operations }
    return records.patchRecord(scope, base, recordType, id, patch, expectation(expected))
  },
})

mutation('cancelRecord', {
  description: 'Sets the status to "cancelled"; the record stays readable and writable.',
  type: RecordRef,
  args: { ...recordArgs(), ...versionArgs() },
  resolve: (scope, { base, recordType, id, ...expected }) =>
    records.cancelRecord(scope, [base, recordType, id], expectation(expected)),
})

mutation('restoreRecord', {
  description: 'Undoes a cancel; an active record stays as it is.',
  type: RecordRef,
  args: { ...recordArgs(), ...versionArgs() },
  resolve: (scope, { base, recordType, id, ...expected }) =>
    records.restoreRecord(scope, [base, recordType, id], expectation(expected)),
})

mutation('deleteRecord', {
  description: 'Takes the record out of every present read.',
  type: Deleted,
  args: { ...recordArgs(), ...versionArgs() },
  resolve: (scope, { base, recordType, id, ...expected }) =>
    records.deleteRecord(scope, [base, recordType, id], expectation(expected)),
})
