/** REST route that runs SQL statements that write. */
import { z } from 'zod'
import { deletedBody, planBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { DeletionParts, PlanParts } from '../http/deletion-plan-fragment.ts'
import { DeletionPlanAnswer, PlanFields } from './route/plan-fields.ts'
import { route, tagged } from './route/route.ts'
import { baseAccess, baseId, Deletion } from './route/shapes.ts'

const Body = z.strictObject({
  statements: z.string().optional().meta({
    description:
      'Required without `plan_token`. 1 to 20 statements of INSERT, UPDATE, DELETE and SELECT, separated by semicolons, in one transaction. Every record type is a relation by its id; `relationships` can be written too.',
  }),
  params: z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .optional()
    .meta({ description: 'A list for `$1` …, or an object for `:name` ….' }),
  dry_run: z.boolean().optional().meta({ description: 'Run the statements, and write nothing.' }),
  plan_token: PlanFields.shape.plan_token,
})

const Answer = z.object({
  data: z.array(
    z.object({
      statement: z.int().meta({ description: 'Index in the text, from 0.' }),
      operation: z.enum(['insert', 'update', 'delete', 'select']),
      count: z.int().meta({ description: 'The number of rows that it wrote or read.' }),
      rows: z
        .array(z.record(z.string(), z.unknown()))
        .meta({ description: 'The rows of SELECT or RETURNING.' }),
    }),
  ),
  meta: z.object({ count: z.int().meta({ description: 'The number of rows of all statements.' }) }),
  dry_run: z.literal(true).optional(),
  deletion: Deletion.optional(),
})

export const sqlExecute = tagged('SQL', [
  route('POST /:base_id/sql/execute', {
    size: 'bulk',
    summary: 'Run SQL statements that write, in one transaction',
    need: baseAccess,
    params: z.strictObject({ base_id: baseId() }),
    body: Body,
    plans: 'always',
    operation: graphql(
      `mutation ExecuteSql($base: String!, $statements: String, $params: JSON, $dryRun: Boolean) {
        executeSql(base: $base, statements: $statements, params: $params, dryRun: $dryRun) {
          data { statement operation count rows } count dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts }
        }
      }`,
      [DeletionParts, PlanParts],
    ),
    reply: ({ executeSql: { plan, data, count, ...done } }) => ({
      body: plan ? planBody(plan) : deletedBody({ data, meta: { count }, ...done }),
    }),
    answers: z.union([Answer, DeletionPlanAnswer]),
  }),
])
