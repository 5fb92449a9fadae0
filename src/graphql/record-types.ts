/** GraphQL type, queries and mutations of record types. */
import { followTypes, type TypeChange } from '../engine/changes/follow-types.ts'
import { RECORD_TYPE } from '../engine/configuration/record-types/index.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

const OnInvalid = builder.enumType('OnInvalid', {
  description: 'What happens to records that a new schema refuses.',
  values: ['refuse', 'allow', 'migrate'] as const,
})

configuration('RecordType', RECORD_TYPE, {
  description: 'A kind of record: its JSON Schema and how it is shown.',
  fields: (t) => ({
    portableId: t.string({
      description: 'The id as it stands in tool names; it never changes.',
      resolve: (type) => String((type as { portableId?: unknown }).portableId),
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
    warnings: t.stringList({
      nullable: true,
      description: 'Of a write: the properties that it dropped from the schema.',
      resolve: ({ warnings }) => (warnings ? [...warnings] : null),
    }),
    sources: t.field({ type: 'JSON', resolve: () => [] }),
    display: t.expose('display', { type: 'JSON' }),
  }),
  inputs: (t) => ({
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
  list: 'The record types of a base that the token may read, newest first.',
  put: 'Creates a record type or replaces it whole.',
  patch: 'Changes the fields of a record type that are named; each is replaced whole.',
  remove: 'Deletes a record type; one with records wants `confirm` equal to its id.',
  writes: {
    args: builder.args((t) => ({
      onInvalid: t.field({ type: OnInvalid }),
      migration: t.field({
        type: 'JSON',
        description: 'Steps that repair the records; with onInvalid: migrate.',
      }),
    })),
    options: ({ onInvalid, migration }) => ({ onInvalid: onInvalid ?? 'refuse', migration }),
  },
  confirms: true,
})

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
