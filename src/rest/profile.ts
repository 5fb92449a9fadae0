/** REST route for statistics about the records of a type. */
import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { route, tagged } from './route/route.ts'
import { baseId, typeId } from './route/shapes.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])

const Profile = z
  .object({
    count: z
      .number()
      .meta({ description: 'Number of records; an estimate for types with millions of records.' }),
    sampled: z
      .boolean()
      .meta({ description: 'True if the statistics of `fields` come from a sample of the records.' }),
    fields: z
      .array(
        z.object({
          field: z.string().meta({ description: 'The path, as in filters and sorts.' }),
          types: z.array(z.string()).meta({ description: 'Most frequent first.' }),
          null_share: z.number().nullable().meta({
            description: 'The share of records that match `is_null`; null if there are no records.',
          }),
          distinct: z.int().meta({ description: 'Number of distinct values in the sample.' }),
          top: z.array(z.object({ value: scalar, count: z.int() })).meta({
            description: 'The most frequent values, without arrays, objects and long strings.',
          }),
          min: scalar.nullable().meta({
            description: 'The first value in sort order; null if there is none or it is long.',
          }),
          max: scalar.nullable(),
        }),
      )
      .meta({ description: 'Most frequent first. Always includes the fields of the schema.' }),
    omitted_fields: z.int().optional().meta({ description: 'Minimum number of fields that are not shown.' }),
    relationships: z
      .array(
        z.object({
          rel_type: z.string(),
          direction: z.enum(['outgoing', 'incoming']),
          record_types: z.array(z.string()).meta({ description: 'The record types at the other end.' }),
          count: z.int(),
          capped: z.literal(true).optional().meta({ description: 'True if there are more than counted.' }),
        }),
      )
      .meta({ description: 'The relationship types that records of the type take part in.' }),
    examples: z
      .array(z.object({ description: z.string(), query: z.record(z.string(), z.unknown()) }))
      .meta({ description: 'Request bodies of `…/query`, or of `…/aggregate` if they have `aggregations`.' }),
  })
  .meta({ id: 'RecordTypeProfile' })

const InferredSchema = z
  .object({
    record_type: z.string(),
    json_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'Every record that was read fits it.' }),
    count: z
      .number()
      .meta({ description: 'Number of records; an estimate for types with millions of records.' }),
    read: z.int().meta({ description: 'Number of records that were read, evenly spread.' }),
    omitted_fields: z
      .int()
      .optional()
      .meta({ description: 'Minimum number of fields that the schema does not have.' }),
  })
  .meta({ id: 'InferredSchema' })

export const profile = tagged('Record types', [
  route('GET /:base_id/record-types/:id/infer', {
    summary: 'Propose a JSON Schema from the records of a type',
    need: ({ base_id = '', id = '' }) => ({ permission: 'read', base: base_id, recordType: id }),
    params: z.strictObject({ base_id: baseId(), id: typeId }),
    renamed: { record_type: 'id' },
    query: z.strictObject({
      from: z
        .enum(['records'])
        .optional()
        .meta({ description: 'What it is proposed from. Defaults to `records`.' }),
    }),
    operation: graphql(
      `query InferSchema($base: String!, $id: String!) {
        inferredSchema(base: $base, id: $id) { json_schema: jsonSchema count read omitted: omittedFields }
      }`,
    ),
    reply: ({ inferredSchema: { omitted, ...found } }, { params }) => ({
      body: { record_type: params.id, ...found, ...(omitted > 0 && { omitted_fields: omitted }) },
    }),
    answers: InferredSchema,
  }),
  route('GET /:base_id/record-types/:id/profile', {
    summary: 'Profile the records of a type: fields, frequent values, ranges, examples',
    need: ({ base_id = '', id = '' }) => ({ permission: 'read', base: base_id, recordType: id }),
    params: z.strictObject({ base_id: baseId(), id: typeId }),
    renamed: { record_type: 'id' },
    operation: graphql(
      `query RecordTypeProfile($base: String!, $id: String!) {
        recordTypeProfile(base: $base, id: $id) {
          count sampled
          fields { field types null_share: nullShare distinct top { value count } min max }
          omitted: omittedFields relationships examples { description query }
        }
      }`,
    ),
    reply: ({ recordTypeProfile: { count, sampled, fields, omitted, relationships, examples } }) => ({
      body: {
        count,
        sampled,
        fields,
        ...(omitted > 0 && { omitted_fields: omitted }),
        relationships,
        examples,
      },
    }),
    answers: Profile,
  }),
])
