/** REST route for statistics about the records of a type. */
import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { route } from './route/route.ts'
import { baseId, typeId } from './route/shapes.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])

const Profile = z
  .object({
    count: z.number().meta({ description: 'Its records; of a type of millions an estimate.' }),
    sampled: z
      .boolean()
      .meta({ description: 'True when the figures of `fields` come from a part of the records.' }),
    fields: z
      .array(
        z.object({
          field: z.string().meta({ description: 'As filters and sorts write it.' }),
          types: z.array(z.string()).meta({ description: 'The most frequent first.' }),
          null_share: z
            .number()
            .nullable()
            .meta({ description: 'Of records for which `is_null` holds; null without records.' }),
          distinct: z.int().meta({ description: 'How many different values the sample has.' }),
          top: z.array(z.object({ value: scalar, count: z.int() })).meta({
            description: 'The most frequent values, without arrays, objects and long strings.',
          }),
          min: scalar.nullable().meta({
            description: 'The first value in the order of a sort; null for none, and for a long one.',
          }),
          max: scalar.nullable(),
        }),
      )
      .meta({ description: 'The most frequent first; those of the schema are always among them.' }),
    omitted_fields: z
      .int()
      .optional()
      .meta({ description: 'How many more fields there are at least, when not all are shown.' }),
    relationships: z
      .array(
        z.object({
          rel_type: z.string(),
          direction: z.enum(['outgoing', 'incoming']),
          record_types: z.array(z.string()).meta({ description: 'What stands at the other end.' }),
          count: z.int(),
          capped: z.literal(true).optional().meta({ description: 'There are more than were counted.' }),
        }),
      )
      .meta({ description: 'The relationship types that records of the type take part in.' }),
    examples: z
      .array(z.object({ description: z.string(), query: z.record(z.string(), z.unknown()) }))
      .meta({ description: 'Bodies of `…/query`, or of `…/aggregate` when they have `aggregations`.' }),
  })
  .meta({ id: 'RecordTypeProfile' })

export const profile = [
  route('GET /:base_id/record-types/:id/profile', {
    tag: 'Record types',
    summary: 'See what the records of a type look like',
    need: ({ base_id = '', id = '' }) => ({ permission: 'read', base: base_id, recordType: id }),
    params: z.strictObject({ base_id: baseId(), id: typeId }),
    operation: graphql(
      `query RecordTypeProfile($base: String!, $id: String!) {
        recordTypeProfile(base: $base, id: $id) {
          count sampled
          fields { field types null_share: nullShare distinct top { value count } min max }
          omitted: omittedFields relationships examples { description query }
        }
      }`,
    ),
    variables: ({ params }) => ({ base: params.base_id, id: params.id }),
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
]
