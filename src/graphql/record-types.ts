/** GraphQL type, queries and mutations of record types. */
import { followTypes, type TypeChange } from '../engine/changes/follow-types.ts'
import * as recordTypes from '../engine/configuration/record-types/index.ts'
import { expectation } from '../engine/write/preconditions.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, notYetDeleted, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type RecordType = recordTypes.RecordType & { dryRun?: boolean }

const RecordTypeType = builder.objectRef<RecordType>('RecordType').implement({
  description: 'A kind of record: its JSON Schema and how it is shown.',
  fields: (t) => ({
    id: t.exposeString('id'),
    portableId: t.exposeString('portableId', {
      description: 'The id as it stands in tool names; it never changes.',
    }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    icon: t.exposeString('icon', { nullable: true }),
    color: t.exposeString('color', { nullable: true }),
    jsonSchema: t.expose('jsonSchema', { type: 'JSON' }),
    indexes: t.expose('indexes', {
      type: 'JSON',
      description: 'As declared, each with its `status`: `building`, `ready` or `failed`.',
    }),
    timezone: t.exposeString('timezone', {
      description: 'IANA name; times of its records without an offset are read in it.',
    }),
    sources: t.field({ type: 'JSON', resolve: () => [] }),
    display: t.expose('display', { type: 'JSON' }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.field({ type: Operation, nullable: true, resolve: (type) => type.operation }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})
const RecordTypePage = pageType('RecordTypePage', RecordTypeType)

builder.queryFields((t) => ({
  recordTypes: t.field({
    type: RecordTypePage,
    description: 'The record types of a base that the token may read, newest first.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => recordTypes.listRecordTypes(scope, base, args),
  }),
  recordType: t.field({
    type: RecordTypeType,
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => recordTypes.getRecordType(scope, base, id),
  }),
}))

const RecordTypeChange = builder.objectRef<TypeChange>('RecordTypeChange').implement({
  fields: (t) => ({
    recordType: t.exposeString('recordType', {
      nullable: true,
      description:
        'The type that was made, changed or removed; null says that any may have been, or an endpoint that the token may read.',
    }),
  }),
})

builder.subscriptionFields((t) => ({
  recordTypeChanges: t.field({
    type: RecordTypeChange,
    description:
      'Tells that record types of a base changed, of those that the token may read. Without a base it tells nothing, and ends when the token does.',
    args: {
      base: t.arg.string(),
      endpoint: t.arg.string({ description: 'At the address of this endpoint: its changes are told too.' }),
    },
    subscribe: (_root, { base, endpoint }, { scope }) => followTypes(scope, base ?? null, endpoint ?? null),
    resolve: (change) => change,
  }),
}))

const RecordTypeInput = builder.inputType('RecordTypeInput', {
  fields: (t) => ({
    name: t.string(),
    description: t.string(),
    icon: t.string(),
    color: t.string(),
    jsonSchema: t.field({
      type: 'JSON',
      description: 'JSON Schema 2020-12, or draft-07 when `$schema` says so.',
    }),
    indexes: t.field({
      type: 'JSON',
      description: 'A list of `{ fields, unique?, type? }`, replaced whole.',
    }),
    timezone: t.string(),
    display: t.field({ type: 'JSON' }),
  }),
})
const OnInvalid = builder.enumType('OnInvalid', {
  description: 'What happens to records that a new schema refuses.',
  values: ['refuse', 'allow', 'migrate'] as const,
})

const writeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    input: t.field({ type: RecordTypeInput, required: true }),
    onInvalid: t.field({ type: OnInvalid }),
    migration: t.field({
      type: 'JSON',
      description: 'Steps that repair the records; with onInvalid: migrate.',
    }),
    ...versionArgs(),
  }))

mutation('putRecordType', {
  description: 'Creates a record type or replaces it whole.',
  type: RecordTypeType,
  args: { ...writeArgs(), ...expectationArgs() },
  resolve: (scope, { base, id, input, onInvalid, migration, ...expected }) =>
    recordTypes.putRecordType(scope, base, id, input, {
      expected: expectation(expected),
      onInvalid: onInvalid ?? 'refuse',
      migration,
    }),
})

mutation('patchRecordType', {
  description: 'Changes the fields of a record type that are named; each is replaced whole.',
  type: RecordTypeType,
  args: writeArgs(),
  resolve: (scope, { base, id, input, onInvalid, migration, ...expected }) =>
    recordTypes.patchRecordType(scope, base, id, input, {
      expected: expectation(expected),
      onInvalid: onInvalid ?? 'refuse',
      migration,
    }),
})

mutation('deleteRecordType', {
  description: 'Deletes a record type; one with records wants `confirm` equal to its id.',
  type: Deleted,
  planned: notYetDeleted,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    id: t.string({ required: true }),
    confirm: t.string(),
    ...versionArgs(),
  })),
  resolve: (scope, { base, id, confirm, ...expected }) =>
    recordTypes.deleteRecordType(scope, base, id, confirm ?? null, expectation(expected)),
})
