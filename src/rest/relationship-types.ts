import { z } from 'zod'
import { CARDINALITIES, ON_DELETE, RelationshipTypeBody, RelationshipTypePut } from '../contract/shapes.ts'
import { crud, WarningsMeta } from './route/crud.ts'
import { baseAccess, time } from './route/shapes.ts'

const RelationshipType = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    data_schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The JSON Schema of the data of its links.' }),
    source_record_types: z.array(z.string()).meta({
      description: 'Allowed source record types that the token can read; `["*"]` is any.',
    }),
    target_record_types: z.array(z.string()).meta({
      description: 'Allowed target record types that the token can read; `["*"]` is any.',
    }),
    cardinality: z.enum(CARDINALITIES),
    on_delete: z.enum(ON_DELETE),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
    meta: WarningsMeta,
  })
  .meta({ id: 'RelationshipType' })

/** REST routes of relationship types. */
export const relationshipTypes = crud('/:base_id/relationship-types', {
  tag: 'Relationship types',
  label: 'A relationship type',
  body: RelationshipTypeBody,
  sent: RelationshipTypePut,
  answers: RelationshipType,
  needs: { read: baseAccess },
  writes: {
    query: z.strictObject({
      on_invalid: z.enum(['allow']).optional().meta({
        description: '`allow`: keep relationships that violate the schema, flagged `valid: false`.',
      }),
    }),
    variables: ({ on_invalid }) => ({ allowInvalid: on_invalid === 'allow' }),
  },
  confirm: "The type's id. Required if it has relationships.",
})
