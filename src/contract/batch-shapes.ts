import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { expectedVersion, RecordLink, RecordTypePut, RelationshipTypePut, replace } from './shapes.ts'

/**
 * Back-reference to the id that an earlier operation of the batch creates, by the `name` of that operation.
 */
const Ref = z.strictObject({ $ref: z.string() })

const id = z.union([z.string(), Ref], {
  error: 'It must be an id, or {"$ref":"<name of an earlier operation>"}.',
})
/** Any JSON object. A zod record would copy it and visit each key. */
export const DataObject = z
  .custom<Record<string, unknown>>()
  .check((held) => {
    const { value: input, issues } = held
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return
    issues.push({ code: 'invalid_type', expected: 'record', input })
  })
  .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} })
/** Members of lists by property, in the shape of `DataObject`. */
const members = DataObject
const pair = { external_id: z.string().optional(), external_source: z.string().optional() }
const claim_id = z.string().min(1).max(64).optional()
const named = { name: z.string().min(1).max(128).optional() }

const relationships = z
  .array(RecordLink.extend({ id: id.optional() }).meta({ id: 'BatchRecordLink' }))
  .max(LIMITS.recordLinks, `A record can be written with at most ${LIMITS.recordLinks} relationships.`)
  .optional()

/** A record operation: `record_type`, plus the body of the corresponding REST request. */
const onRecord = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...named, record_type: z.string(), ...shape })

const onLink = <T extends string>(type: T) =>
  z.strictObject({
    type: z.literal(type),
    ...named,
    id: id.optional(),
    rel_type: z.string(),
    source_record_type: z.string(),
    source_id: id,
    target_record_type: z.string(),
    target_id: id,
    data: DataObject.optional(),
    ...pair,
    replace,
    expected_version: expectedVersion,
  })

/** Without it, the body replaces the definition, as a PUT does. */
const merge = z.boolean().optional().meta({
  description: 'Merge the body into the definition, as a PATCH does, or create it: what is not sent stays.',
})
const deletion = { id: z.string(), confirm: z.string().optional(), expected_version: expectedVersion }

/** The shape of each batch operation. */
export const OPERATION_SHAPES = {
  upsert_record: onRecord('upsert_record', {
    id: id.optional(),
    data: DataObject,
    ...pair,
    relationships,
    on_existing: z.enum(['update', 'keep']).optional().meta({
      description:
        '`keep` leaves a record that exists, and its relationships, as they are. Default `update`.',
    }),
    expected_version: expectedVersion,
    claim_id,
  }),
  create_record: onRecord('create_record', {
    id: z.string().optional(),
    data: DataObject,
    ...pair,
    relationships,
  }),
  patch_record: onRecord('patch_record', {
    id,
    data: DataObject.optional(),
    append: members.optional(),
    remove: members.optional(),
    ...pair,
    expected_version: expectedVersion,
    claim_id,
  }),
  delete_record: onRecord('delete_record', { id, expected_version: expectedVersion, claim_id }),
  cancel_record: onRecord('cancel_record', { id, expected_version: expectedVersion, claim_id }),
  upsert_relationship: onLink('upsert_relationship'),
  /** Another name of `upsert_relationship`. */
  create_relationship: onLink('create_relationship'),
  /** By its id, or by its type and ends. */
  delete_relationship: z.strictObject({
    type: z.literal('delete_relationship'),
    ...named,
    id: id.optional(),
    rel_type: z.string().optional(),
    source_record_type: z.string().optional(),
    source_id: id.optional(),
    target_record_type: z.string().optional(),
    target_id: id.optional(),
    expected_version: expectedVersion,
  }),
  upsert_record_type: z.strictObject({
    type: z.literal('upsert_record_type'),
    id: z.string(),
    body: RecordTypePut.optional(),
    merge,
    on_invalid: z.literal('allow').optional(),
    migrate: z.boolean().optional(),
  }),
  delete_record_type: z.strictObject({ type: z.literal('delete_record_type'), ...deletion }),
  upsert_relationship_type: z.strictObject({
    type: z.literal('upsert_relationship_type'),
    id: z.string(),
    body: RelationshipTypePut.optional(),
    merge,
    on_invalid: z.literal('allow').optional(),
  }),
  delete_relationship_type: z.strictObject({ type: z.literal('delete_relationship_type'), ...deletion }),
} as const

export type OperationName = keyof typeof OPERATION_SHAPES
export const OPERATION_NAMES = Object.keys(OPERATION_SHAPES) as OperationName[]
