/** GraphQL type, queries and mutations of records. */

import * as sources from '../engine/automation/sources/index.ts'
import { expectation } from '../engine/core/write/preconditions.ts'
import * as records from '../engine/records/index.ts'
import { invalid } from '../foundation/errors.ts'
import { builder } from './builder.ts'
import { ClaimRef } from './claim-type.ts'
import { Deleted, expectationArgs, LinkCountsRef, notYetDeleted, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { nodeId } from './node-id.ts'
import { pageArgs, pageFields } from './page.ts'
import { reserveSource, writerOf } from './record-writers.ts'

type OfSource = sources.SourceRecord & {
  linked?: records.RecordItem['linked']
  warnings?: records.RecordItem['warnings']
}

const Snippet = builder.objectRef<NonNullable<records.RecordItem['snippets']>[number]>('Snippet').implement({
  description: 'A part of a text that a search found.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Where it is: "data.notes[2].body".' }),
    text: t.exposeString('text', { description: 'As it is stored. Nothing is marked or added.' }),
    matches: t.exposeStringList('matches', { description: 'The words of the text that match.' }),
    truncated: t.boolean({
      nullable: true,
      description: 'True if the text is a part of the value.',
      resolve: ({ truncated }) => truncated,
    }),
  }),
})

const NOT_STORED = 'Null for a record of an external source, which is not stored here.'

const WrittenRecord = builder.interfaceRef<records.RecordItem | OfSource>('WrittenRecord').implement({
  description:
    'A record as writes return it, stored or of an external source. Its content is one JSON value, for every record type.',
  resolveType: ({ version }) => (version === null ? 'SourceRecord' : 'Record'),
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Of a record of an external source: its external id.' }),
    nodeId: nodeId(t, ({ recordType, id, version, externalSource }) => [
      ...[recordType, id],
      // A record of an external source, which has no version.
      ...(version == null ? [externalSource] : []),
    ]),
    recordType: t.exposeString('recordType'),
    data: t.expose('data', { type: 'JSON' }),
    externalId: t.exposeString('externalId', { nullable: true }),
    externalSource: t.exposeString('externalSource', { nullable: true }),
    version: t.exposeInt('version', { nullable: true, description: NOT_STORED }),
    status: t.exposeString('status', { nullable: true, description: NOT_STORED }),
    cancelledAt: t.expose('cancelledAt', { type: 'DateTime', nullable: true }),
    valid: t.expose('valid', {
      type: 'Boolean',
      nullable: true,
      description: 'False if the record violates a schema that was changed later; otherwise null.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: NOT_STORED }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: NOT_STORED }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
    relationships: t.expose('linked', {
      type: LinkCountsRef,
      nullable: true,
      description: 'Present if the write had `relationships`: how many were created, updated and unchanged.',
    }),
    warnings: t.stringList({
      nullable: true,
      description: 'Present after a write with properties that the schema seems to name otherwise.',
      resolve: ({ warnings }) => (warnings ? [...warnings] : null),
    }),
  }),
})

export const RecordRef = builder.objectRef<records.RecordItem>('Record').implement({
  description: 'A stored record. Its content is one JSON value, for every record type.',
  interfaces: [WrittenRecord],
  fields: (t) => ({
    id: t.exposeString('id'),
    version: t.exposeInt('version', { description: 'From 1.' }),
    status: t.exposeString('status', { description: '"active" or "cancelled".' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    searchScore: t.exposeFloat('searchScore', {
      nullable: true,
      description: 'Relevance to the `search` of the filter; higher is better.',
    }),
    snippets: t.expose('snippets', {
      type: [Snippet],
      nullable: true,
      description:
        'With `snippets`: the parts of the record that the `search` of the filter found. At most 3.',
    }),
    expanded: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'With `expand`: lists of `{ relationship, record }` by relationship type, in the form of REST. At most 100 each.',
      resolve: ({ expansion }) => expansion?._expanded,
    }),
    expandedTruncated: t.stringList({
      nullable: true,
      description: 'Which of these lists are truncated. `related` pages through the rest.',
      resolve: ({ expansion }) => expansion?._expanded_truncated,
    }),
    claim: t.expose('claim', {
      type: ClaimRef,
      nullable: true,
      description: 'With `include: [claim]`: the active claim of the record; null if there is none.',
    }),
  }),
})

const SourceRecordRef = builder.objectRef<OfSource>('SourceRecord').implement({
  description:
    'A record of an external source. It is not stored here, so it has no version, status and times.',
  interfaces: [WrittenRecord],
})

const RecordColumns = builder
  .objectRef<NonNullable<ReturnType<Listed['columns']>>>('RecordColumns')
  .implement({
    description: 'The columns of records in a table, such as CSV.',
    fields: (t) => ({
      fields: t.exposeStringList('fields', { description: 'Fields of every record, such as "id".' }),
      properties: t.exposeStringList('properties', { description: 'Properties of the data.' }),
      jsonSchema: t.expose('jsonSchema', { type: 'JSON', description: 'The schema of the data.' }),
    }),
  })

type Listed = Awaited<ReturnType<typeof records.listRecords>>
const RecordPage = builder.objectRef<Listed>('RecordPage').implement({
  fields: (t) => ({
    data: t.field({ type: [RecordRef], resolve: (page) => page.data() }),
    rows: t.field({
      type: 'JSON',
      description: 'The same records in the form of REST with the selected `fields`.',
      resolve: (page) => page.rows(),
    }),
    columns: t.field({
      type: RecordColumns,
      description: 'What a table of the records shows: at least the properties that the schema names.',
      resolve: (page) => page.columns(),
    }),
    ...pageFields(t),
    hint: t.exposeString('hint', {
      nullable: true,
      description:
        'Present if the filter has a value that the schema excludes, or the list was slow: what to do about it.',
    }),
  }),
})

const RecordRows = builder.objectRef<records.WholeRows>('RecordRows').implement({
  description: 'Some records of a whole result.',
  fields: (t) => ({
    rows: t.expose('rows', {
      type: 'JSON',
      description: 'The records in the form of REST with the selected `fields`.',
    }),
    columns: t.expose('columns', {
      type: RecordColumns,
      nullable: true,
      description: 'With `withColumns`, of the first rows: what a table of all records shows.',
    }),
  }),
})

const SourceRecordPage = builder.objectRef<sources.SourcePage>('SourceRecordPage').implement({
  description: 'A page of records of an external source, as the source has it.',
  fields: (t) => ({
    data: t.field({ type: [SourceRecordRef], resolve: (page) => [...page.data] }),
    rows: t.expose('rows', {
      type: 'JSON',
      description: 'The same records in the form of REST with the selected `fields`.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      nullable: true,
      description: 'Whether there are more after this page. Null if the source does not say.',
    }),
    limit: t.exposeInt('limit'),
    offset: t.exposeInt('offset'),
    total: t.exposeInt('total', {
      nullable: true,
      description: 'All records of the source; only with includeTotal.',
    }),
  }),
})

const LinkDirection = builder.enumType('LinkDirection', { values: ['outgoing', 'incoming'] as const })
const RecordLink = builder.inputType('RecordLink', {
  description:
    'A link to write with a record. The other record is identified by its id or its external pair.',
  fields: (t) => ({
    relType: t.string({ required: true }),
    direction: t.field({ type: LinkDirection, description: 'Defaults to "outgoing".' }),
    recordType: t.string({ required: true }),
    id: t.string(),
    externalId: t.string(),
    externalSource: t.string(),
    data: t.field({ type: 'JSON', description: 'If omitted, an existing link keeps its data.' }),
  }),
})

const typeArgs = () =>
  builder.args((t) => ({ base: t.string({ required: true }), recordType: t.string({ required: true }) }))
const recordArgs = () => builder.args((t) => ({ ...typeArgs(), id: t.string({ required: true }) }))
const expandArgs = () =>
  builder.args((t) => ({
    expand: t.stringList({
      description: 'Relationship types to expand: "owner.company", "~member" for incoming.',
    }),
  }))
const RecordPart = builder.enumType('RecordPart', {
  description: 'Parts of a record that a read shows on request.',
  values: ['claim'] as const,
})
const includeArgs = () =>
  builder.args((t) => ({
    include: t.field({ type: [RecordPart], description: '`claim`: the active claim of each record.' }),
  }))
const pairArgs = () =>
  builder.args((t) => ({
    externalId: t.string({ description: 'Identifies the record for upsert, together with the source.' }),
    externalSource: t.string({ description: 'Defaults to "default" if only an id is given.' }),
  }))
const sourceArg = () =>
  builder.args((t) => ({
    source: t.string({ required: true, description: 'The name of a source of the record type.' }),
  }))
const claimArgs = () =>
  builder.args((t) => ({
    claimId: t.string({
      description: 'A claim on the record. If the token no longer holds it, the write is rolled back.',
    }),
  }))
const statedArgs = () =>
  builder.args((t) => ({
    stated: t.field({
      type: 'JSON',
      description:
        'Read-only fields as they were read, by their REST names. The write is refused if they differ.',
    }),
  }))
const contentArgs = () =>
  builder.args((t) => ({
    data: t.field({ type: 'JSON', required: true }),
    relationships: t.field({
      type: [RecordLink],
      description: 'Links to add in the same transaction.',
    }),
    ...pairArgs(),
  }))

const questionArgs = () =>
  builder.args((t) => ({
    filter: t.field({
      type: 'JSON',
      description:
        '{"field","op","value"}, {"and":[…]}, {"or":[…]}, {"not":{…}}, {"some":{…}} or {"none":{…}}.',
    }),
    sort: t.field({ type: 'JSON', description: '[{"field","direction"}] or "-created_at,id".' }),
    fields: t.stringList({ description: 'Fields to return: "id", "data.name".' }),
  }))
const asOfArg = () =>
  builder.args((t) => ({
    asOf: t.string({ description: 'Point-in-time read: the state of the records at this time.' }),
  }))

builder.subscriptionField('recordRows', (t) =>
  t.field({
    type: RecordRows,
    description:
      'Streams all records of a type that match, of one moment, and then ends. It fails if the token is revoked, or if its client takes nothing for long.',
    args: {
      ...typeArgs(),
      ...questionArgs(),
      ...asOfArg(),
      withColumns: t.arg.boolean({
        description: 'Find the columns first. This reads the records once more.',
      }),
    },
    subscribe: (_root, { base, recordType, ...args }, { scope }) =>
      records.streamRecords(scope, base, recordType, args),
    resolve: (rows) => rows,
  }),
)

builder.queryFields((t) => ({
  records: t.field({
    type: RecordPage,
    description: 'The records of a type that match, newest first unless sorted.',
    args: {
      ...typeArgs(),
      ...questionArgs(),
      ...expandArgs(),
      ...includeArgs(),
      snippets: t.arg.boolean({
        description: 'Show what the `search` of the filter found. `limit` is then at most 100.',
      }),
      ...asOfArg(),
      ...pageArgs(),
    },
    resolve: (_root, { base, recordType, ...args }, { scope }) =>
      records.listRecords(scope, base, recordType, args),
  }),
  waitForRecords: t.field({
    type: RecordPage,
    description:
      'Long-polls for a matching record. Returns the first page that has one, or an empty page after `timeout` seconds.',
    args: {
      ...typeArgs(),
      ...questionArgs(),
      limit: pageArgs().limit,
      timeout: t.arg.int({ description: 'Seconds, 0 to 60. Defaults to 30.' }),
    },
    resolve: (_root, { base, recordType, ...args }, { scope }) =>
      records.waitForRecords(scope, base, recordType, args),
  }),
  record: t.field({
    type: RecordRef,
    description: 'A record: its current state, one of its versions, or its state at a time.',
    args: {
      ...recordArgs(),
      ...expandArgs(),
      ...includeArgs(),
      version: t.arg.int({ description: 'From 1.' }),
      asOf: t.arg.string({ description: 'A time: "2026-01-31T09:30:00Z", or an age: "2h".' }),
    },
    resolve: (_root, { base, recordType, id, ...args }, { scope }) =>
      records.getRecord(scope, base, recordType, id, args),
  }),
  sourceRecords: t.field({
    type: SourceRecordPage,
    description:
      'A page of an external source of the type. The source decides which records it has, and their order.',
    args: {
      ...typeArgs(),
      ...sourceArg(),
      fields: t.arg.stringList({ description: 'Fields to return: "id", "data.name".' }),
      limit: pageArgs().limit,
      offset: pageArgs().offset,
      includeTotal: t.arg.boolean({ description: 'Whether to return `total`, if the source says it.' }),
    },
    resolve: (_root, { base, recordType, source, ...args }, { scope }) =>
      sources.listSourceRecords(scope, base, recordType, source, args),
  }),
  sourceRecord: t.field({
    type: SourceRecordRef,
    description: 'A record of an external source, by its id in the source.',
    args: { ...typeArgs(), ...sourceArg(), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, recordType, source, id }, { scope }) =>
      sources.getSourceRecord(scope, base, recordType, source, id),
  }),
}))

mutation('putRecord', {
  description:
    'Upserts a record, identified by its external pair, else by its id. Replaces the whole `data`.',
  type: WrittenRecord,
  args: { ...recordArgs(), ...contentArgs(), ...expectationArgs(), ...claimArgs(), ...statedArgs() },
  reserve: reserveSource,
  resolve: (scope, { base, recordType, id, data, ...args }) =>
    writerOf(args).putRecord(scope, base, recordType, id, { ...args, data }, expectation(args)),
})

mutation('putRecordByExternalId', {
  description: 'Upserts the record with the external pair. A new record gets an id from the server.',
  type: WrittenRecord,
  args: { ...typeArgs(), ...contentArgs(), ...expectationArgs(), ...claimArgs(), ...statedArgs() },
  reserve: reserveSource,
  resolve: (scope, { base, recordType, data, ...args }) =>
    writerOf(args).putRecordByPair(scope, base, recordType, { ...args, data }, expectation(args)),
})

mutation('createRecord', {
  description: 'Creates a record. An id or external pair that exists is a CONFLICT.',
  type: WrittenRecord,
  args: builder.args((t) => ({ ...typeArgs(), id: t.string(), ...contentArgs() })),
  reserve: reserveSource,
  resolve: (scope, { base, recordType, data, ...input }) =>
    writerOf(input).createRecord(scope, base, recordType, { ...input, data }),
})

mutation('patchRecord', {
  description:
    'Patches a record: `merge` is an RFC 7396 patch of its data, `append` and `remove` change its lists, `operations` is an RFC 6902 patch of the record.',
  type: WrittenRecord,
  args: builder.args((t) => ({
    ...recordArgs(),
    merge: t.field({ type: 'JSON' }),
    append: t.field({
      type: 'JSON',
      description: 'Members to append to lists, in the shape of the data: {"tags":["x"]}.',
    }),
    remove: t.field({
      type: 'JSON',
      description:
        'Members to remove from lists, in the shape of the data. Equal ones go, before others are appended.',
    }),
    operations: t.field({ type: 'JSON' }),
    ...pairArgs(),
    ...versionArgs(),
    ...claimArgs(),
    ...statedArgs(),
  })),
  reserve: reserveSource,
  resolve: (scope, { base, recordType, id, operations, ...args }) => {
    const { merge, append, remove, externalId, externalSource, ...expected } = args
    if (
      operations &&
      [merge, append, remove, externalId, externalSource].some((each) => each !== undefined && each !== null)
    )
      throw invalid({
        path: '/operations',
        code: 'exclusive',
        message: 'Send operations alone: they can change data, external_id and external_source.',
      })
    const patch =
      operations === undefined || operations === null
        ? { merge: { data: merge, append, remove, externalId, externalSource } }
        : { operations }
    return writerOf({ externalSource }).patchRecord(scope, base, recordType, id, patch, expectation(expected))
  },
})

mutation('cancelRecord', {
  description: 'Sets the status to "cancelled"; the record stays readable and writable.',
  type: RecordRef,
  args: { ...recordArgs(), ...versionArgs(), ...claimArgs() },
  resolve: (scope, { base, recordType, id, ...expected }): Promise<records.RecordItem> =>
    records.cancelRecord(scope, [base, recordType, id], expectation(expected)),
})

mutation('restoreRecord', {
  description: 'Restores a cancelled or deleted record. An active record stays unchanged.',
  type: RecordRef,
  args: { ...recordArgs(), ...versionArgs(), ...claimArgs() },
  resolve: (scope, { base, recordType, id, ...expected }): Promise<records.RecordItem> =>
    records.restoreRecord(scope, [base, recordType, id], expectation(expected)),
})

mutation('deleteRecord', {
  description: 'Deletes a record with its links, and the records that they cascade to.',
  type: Deleted,
  planned: notYetDeleted,
  args: { ...recordArgs(), ...versionArgs(), ...claimArgs() },
  resolve: (scope, { base, recordType, id, ...expected }) =>
    records.deleteRecord(scope, [base, recordType, id], expectation(expected)),
})
