/** GraphQL type, queries and mutations of record types. */

import { RECORD_TYPE, sharedNames } from '../engine/configuration/record-types/index.ts'
import { followTypes, type TypeChange } from '../engine/history/changes/follow-types.ts'
import { builder } from './builder.ts'
import { configuration } from './configuration.ts'

const OnInvalid = builder.enumType('OnInvalid', {
  description: 'What happens to records that violate a new schema.',
  values: ['refuse', 'allow', 'migrate'] as const,
})

configuration('RecordType', RECORD_TYPE, {
  description: 'A kind of record: its JSON Schema and how it is shown.',
  fields: (t) => ({
    portableId: t.string({
      description: 'The id as used in tool names. It never changes.',
      resolve: (type) => String((type as { portableId?: unknown }).portableId),
    }),
    graphqlName: t.string({
      description: 'The name in the GraphQL schema of the base. It never changes.',
      resolve: (type) => String((type as { graphqlName?: unknown }).graphqlName),
    }),
    recordsRewritten: t.int({
      nullable: true,
      description: 'How many records the migration of this write rewrote, or would rewrite in a dry run.',
      resolve: (type) => (type as { recordsRewritten?: number }).recordsRewritten,
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
      description: 'IANA name. Times without an offset are in this time zone.',
    }),
    notes: t.stringList({
      description: 'Properties that have the name of a field of every record, and how to name them.',
      resolve: ({ jsonSchema }) => sharedNames(jsonSchema),
    }),
    sources: t.expose('sources', {
      type: 'JSON',
      description: 'Other systems that hold records of the type, as declared.',
    }),
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
      description: 'A list of `{ fields, unique?, type? }`. Replaces the whole list.',
    }),
    timezone: t.string(),
    sources: t.field({ type: 'JSON', description: 'A list of external sources. Replaces the whole list.' }),
    display: t.field({ type: 'JSON' }),
  }),
  list: 'The record types of a base that the token can read, newest first.',
  put: 'Creates a record type or replaces it whole.',
  remove: 'Deletes a record type. If it has records, `confirm` must equal its id.',
  writes: {
    args: builder.args((t) => ({
      onInvalid: t.field({ type: OnInvalid }),
      migration: t.field({
        type: 'JSON',
        description:
          'Steps that migrate existing records. `rename` and `drop` change the schema too, where a patch does not state the property.',
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
        'The type that was created, updated or deleted. null: any type, or an endpoint that the token can read, may have changed.',
    }),
  }),
})

builder.subscriptionFields((t) => ({
  recordTypeChanges: t.field({
    type: RecordTypeChange,
    description:
      'Notifies about changed record types of a base that the token can read. Without a base it sends nothing and ends with the token.',
    args: {
      base: t.arg.string(),
      endpoint: t.arg.string({ description: 'Also notify about changes of this endpoint.' }),
    },
    subscribe: (_root, { base, endpoint }, { scope }) => followTypes(scope, base ?? null, endpoint ?? null),
    resolve: (change) => change,
  }),
}))
