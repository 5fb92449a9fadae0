/** REST route of batches. */
import { z } from 'zod'
import { OPERATION_SHAPES } from '../contract/batch-shapes.ts'
import { deletedBody, planBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { DeletionParts, PlanParts } from '../http/deletion-plan-fragment.ts'
import { LinkCounts, Record } from './records/shapes.ts'
import { DeletionPlanAnswer, PlanFields } from './route/plan-fields.ts'
import { route, tagged } from './route/route.ts'
import { anywhere, baseId, Deletion } from './route/shapes.ts'

const Operation = z.discriminatedUnion('type', [
  OPERATION_SHAPES.upsert_record,
  OPERATION_SHAPES.create_record,
  OPERATION_SHAPES.patch_record,
  OPERATION_SHAPES.delete_record,
  OPERATION_SHAPES.cancel_record,
  OPERATION_SHAPES.upsert_relationship,
  OPERATION_SHAPES.create_relationship,
  OPERATION_SHAPES.delete_relationship,
  OPERATION_SHAPES.upsert_record_type,
  OPERATION_SHAPES.delete_record_type,
  OPERATION_SHAPES.upsert_relationship_type,
  OPERATION_SHAPES.delete_relationship_type,
])

const Body = z.strictObject({
  ...PlanFields.shape,
  operations: z.array(Operation).min(1).max(LIMITS.batchOperations).optional().meta({
    description:
      'Required without `plan_token`. Atomic. Operations on the same resource run in order. `{"$ref":"<name>"}` is the id of the earlier operation with that `name`.',
  }),
})
/** The operations are validated by the engine, which reports the faults of all of them at once. */
const Unread = z.strictObject({
  ...PlanFields.shape,
  operations: z.custom<z.output<typeof Body>['operations']>(),
})

const Answer = z.object({
  data: z.array(
    z.object({
      index: z.int().meta({ description: 'Index in the batch, from 0.' }),
      type: z.string(),
      operation: z.enum(['created', 'updated', 'unchanged', 'deleted']),
      id: z.string(),
      version: z.int(),
      relationships: LinkCounts.optional().meta({
        description:
          'Present if the operation had `relationships`: how many were created, updated and unchanged.',
      }),
      replaced: z
        .array(z.string())
        .optional()
        .meta({ description: 'Ids of the relationships that the relationship replaced, which are deleted.' }),
      warnings: z
        .array(z.string())
        .optional()
        .meta({ description: 'What to know about the record type or relationship type that was written.' }),
      record: Record.omit({ operation: true, dry_run: true })
        .optional()
        .meta({ description: 'The record after the operation.' }),
    }),
  ),
  meta: z.object({
    count: z.int(),
    warnings: z.array(z.string()).optional().meta({
      description:
        'Present if operations had properties that the schema seems to name otherwise. They are stored.',
    }),
  }),
  dry_run: z.literal(true).optional(),
  deletion: Deletion.optional(),
})

export const batch = tagged('Batch', [
  route('POST /:base_id/batch', {
    size: 'bulk',
    summary: 'Run up to 1,000 operations in one transaction',
    need: anywhere('write'),
    params: z.strictObject({ base_id: baseId() }),
    body: Body,
    bodyOf: () => Unread,
    plans: 'asked',
    operation: graphql(
      `mutation Batch($base: String!, $operations: JSON!) {
        batch(base: $base, operations: $operations) { rows count warnings dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts } }
      }`,
      [DeletionParts, PlanParts],
    ),
    variables: ({ params, body }) => ({ base: params.base_id, operations: body.operations ?? null }),
    reply: ({ batch: { rows, count, warnings, dry_run, deletion, plan } }) => ({
      body: plan
        ? planBody(plan)
        : deletedBody({ data: rows, meta: { count, ...(warnings && { warnings }) }, dry_run, deletion }),
    }),
    answers: z.union([Answer, DeletionPlanAnswer]),
  }),
])
