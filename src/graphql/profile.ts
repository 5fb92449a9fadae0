/** GraphQL query for statistics about the records of a type. */
import * as profiles from '../engine/analytics/profile/index.ts'
import { builder } from './builder.ts'

type Top = profiles.FieldProfile['top'][number]

const ProfileValue = builder.objectRef<Top>('ProfileValue').implement({
  fields: (t) => ({
    value: t.field({ type: 'JSON', resolve: ({ value }) => value }),
    count: t.exposeInt('count', { description: 'How often it occurs in the sample.' }),
  }),
})

const ProfileField = builder.objectRef<profiles.FieldProfile>('ProfileField').implement({
  description: 'What records have at one place of their data.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'As filters and sorts write it.' }),
    types: t.exposeStringList('types', { description: 'JSON types that occur, the most frequent first.' }),
    nullShare: t.exposeFloat('nullShare', {
      nullable: true,
      description: 'The share of records for which is_null holds; null without records.',
    }),
    distinct: t.exposeInt('distinct', { description: 'How many different values the sample has.' }),
    top: t.field({
      type: [ProfileValue],
      description: 'The most frequent values, without arrays, objects and long strings.',
      resolve: ({ top }) => top,
    }),
    min: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The first value in the order of a sort; null for none, and for a long one.',
      resolve: ({ min }) => min,
    }),
    max: t.field({ type: 'JSON', nullable: true, resolve: ({ max }) => max }),
  }),
})

const ProfileExample = builder.objectRef<profiles.Example>('ProfileExample').implement({
  fields: (t) => ({
    description: t.exposeString('description'),
    query: t.field({
      type: 'JSON',
      description: 'The arguments of a query, or of an aggregate when it has `aggregations`.',
      resolve: ({ query }) => query,
    }),
  }),
})

const RecordTypeProfile = builder.objectRef<profiles.TypeProfile>('RecordTypeProfile').implement({
  description: 'What the records of a type look like, at most 30 seconds old.',
  fields: (t) => ({
    count: t.exposeFloat('count', { description: 'Its records; of a type of millions an estimate.' }),
    sampled: t.exposeBoolean('sampled', {
      description: 'True when the figures of the fields come from a part of the records.',
    }),
    fields: t.field({ type: [ProfileField], resolve: ({ fields }) => fields }),
    omittedFields: t.exposeInt('omittedFields', {
      description: 'Fields beside those shown, as far as they were told apart.',
    }),
    relationships: t.field({ type: 'JSON', resolve: ({ relationships }) => relationships }),
    examples: t.field({ type: [ProfileExample], resolve: ({ examples }) => examples }),
    exampleData: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Data that a new record could have: frequent values, enums, and what else the schema asks for; null where none was found.',
      resolve: ({ exampleData }) => exampleData,
    }),
  }),
})

builder.queryFields((t) => ({
  recordTypeProfile: t.field({
    type: RecordTypeProfile,
    description: 'What the records of a type look like, from a sample of them.',
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => profiles.profileRecordType(scope, base, id),
  }),
}))
