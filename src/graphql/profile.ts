/** GraphQL query for statistics about the records of a type. */
import * as profiles from '../engine/analytics/profile/index.ts'
import { builder } from './builder.ts'

type Top = profiles.FieldProfile['top'][number]

const ProfileValue = builder.objectRef<Top>('ProfileValue').implement({
  fields: (t) => ({
    value: t.expose('value', { type: 'JSON' }),
    count: t.exposeInt('count', { description: 'Number of occurrences in the sample.' }),
  }),
})

const ProfileField = builder.objectRef<profiles.FieldProfile>('ProfileField').implement({
  description: 'Statistics of one field of the data.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The path, as in filters and sorts.' }),
    types: t.exposeStringList('types', { description: 'JSON types that occur, most frequent first.' }),
    nullShare: t.exposeFloat('nullShare', {
      nullable: true,
      description: 'The share of records that match is_null; null if there are no records.',
    }),
    distinct: t.exposeInt('distinct', { description: 'Number of distinct values in the sample.' }),
    top: t.expose('top', {
      type: [ProfileValue],
      description: 'The most frequent values, without arrays, objects and long strings.',
    }),
    min: t.expose('min', {
      type: 'JSON',
      nullable: true,
      description: 'The first value in sort order; null if there is none or it is long.',
    }),
    max: t.expose('max', { type: 'JSON', nullable: true }),
  }),
})

const ProfileExample = builder.objectRef<profiles.Example>('ProfileExample').implement({
  fields: (t) => ({
    description: t.exposeString('description'),
    query: t.expose('query', {
      type: 'JSON',
      description: 'The arguments of a query, or of an aggregate if it has `aggregations`.',
    }),
  }),
})

const RecordTypeProfile = builder.objectRef<profiles.TypeProfile>('RecordTypeProfile').implement({
  description: 'Statistics of the records of a type, at most 30 seconds old.',
  fields: (t) => ({
    count: t.exposeFloat('count', {
      description: 'Number of records; an estimate for types with millions of records.',
    }),
    sampled: t.exposeBoolean('sampled', {
      description: 'True if the statistics of the fields come from a sample of the records.',
    }),
    fields: t.expose('fields', { type: [ProfileField] }),
    omittedFields: t.exposeInt('omittedFields', {
      description: 'Minimum number of fields that are not shown.',
    }),
    relationships: t.expose('relationships', { type: 'JSON' }),
    examples: t.expose('examples', { type: [ProfileExample] }),
    exampleData: t.expose('exampleData', {
      type: 'JSON',
      nullable: true,
      description:
        'Example data of a new record: frequent values, enum values, and what else the schema requires; null if none was found.',
    }),
  }),
})

const InferredSchemaType = builder.objectRef<profiles.InferredSchema>('InferredSchema').implement({
  description: 'A JSON Schema that describes the records of a type.',
  fields: (t) => ({
    jsonSchema: t.expose('jsonSchema', { type: 'JSON', description: 'Every record that was read fits it.' }),
    count: t.exposeFloat('count', {
      description: 'Number of records; an estimate for types with millions of records.',
    }),
    read: t.exposeInt('read', { description: 'Number of records that were read, evenly spread.' }),
    omittedFields: t.exposeInt('omittedFields', {
      description: 'Minimum number of fields that the schema does not have.',
    }),
  }),
})

builder.queryFields((t) => ({
  inferredSchema: t.field({
    type: InferredSchemaType,
    description: 'Proposes a JSON Schema from the records of a type. It changes nothing.',
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => profiles.inferSchema(scope, base, id),
  }),
  recordTypeProfile: t.field({
    type: RecordTypeProfile,
    description: 'Statistics of the records of a type, from a sample.',
    args: { base: t.arg.string({ required: true }), id: t.arg.string({ required: true }) },
    resolve: (_root, { base, id }, { scope }) => profiles.profileRecordType(scope, base, id),
  }),
}))
