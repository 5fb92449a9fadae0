/** REST routes of actions and their runs. */
import { z } from 'zod'
import { ActionBody, RUN_STATUSES } from '../contract/action-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { WrittenInto } from './route/change-set.ts'
import { answerOf, crud, WarningsMeta } from './route/crud.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { type Route, route, tagged } from './route/route.ts'
import { baseId, configurationId, onBase, time } from './route/shapes.ts'

const kind = crud('/:base_id/actions', {
  tag: 'Actions',
  label: 'An action',
  body: ActionBody,
  answers: answerOf('Action', ActionBody).extend({ meta: WarningsMeta }),
  removes: 'an action and its log of runs',
})

const RunFields = graphql(`fragment ActionRunFields on ActionRun {
  id status action_version: actionVersion input output steps error duration_ms: durationMs actor
  request_id: requestId cause created_at: createdAt
}`)

const Run = z
  .object({
    id: z.string().meta({ description: 'The `run_id` of the answer, and the `cause` of what it wrote.' }),
    status: z.enum(RUN_STATUSES),
    action_version: z.int(),
    input: z.unknown().meta({ description: 'Null if it is too long to keep.' }),
    output: z.unknown().meta({ description: 'Null if it is too long to keep.' }),
    steps: z
      .array(z.looseObject({ name: z.string(), type: z.string(), status: z.string() }))
      .meta({ description: 'What became of each step. What a failed run wrote is undone.' }),
    error: z
      .object({ code: z.string(), message: z.string(), details: z.array(z.unknown()) })
      .nullable()
      .meta({ description: 'Why it failed.' }),
    duration_ms: z.int(),
    actor: z.object({ token_id: z.string().nullable(), name: z.string(), via: z.string() }),
    request_id: z.string(),
    cause: z
      .string()
      .nullable()
      .meta({ description: 'The delivery of the trigger that started it, if one did.' }),
    created_at: time,
  })
  .meta({ id: 'ActionRun' })

const Answer = z
  .object({
    run_id: z.string(),
    status: z.literal('succeeded'),
    output: z.unknown(),
    steps: z.array(z.looseObject({ name: z.string(), type: z.string() })).meta({
      description:
        'What each step did: `operation, id, version, record` of a write, `data, meta` of a query, `status, body` of an http step.',
    }),
    dry_run: z.literal(true).optional(),
    ...WrittenInto,
  })
  .meta({ id: 'ActionAnswer' })

const params = z.strictObject({ base_id: baseId(), id: configurationId('An action') })

export const actions: Route[] = tagged('Actions', [
  ...kind,
  route('POST /:base_id/actions/:id/run', {
    summary: 'Run an action: all of its steps, or nothing',
    need: onBase('read'),
    params,
    body: z
      .strictObject({
        input: z
          .record(z.string(), z.unknown())
          .optional()
          .meta({ description: 'What templates read as `{{input.x}}`. Defaults to `{}`.' }),
      })
      .optional(),
    operation: graphql(
      `mutation RunAction($base: String!, $id: String!, $input: JSON) {
        run: runAction(base: $base, id: $id, input: $input) { run_id: runId status output steps dry_run: dryRun }
      }`,
    ),
    variables: ({ params, body }) => ({ base: params.base_id, id: params.id, input: body?.input ?? {} }),
    answers: Answer,
  }),
  route('GET /:base_id/actions/:id/runs', {
    summary: 'List the runs of an action, newest first',
    need: onBase('read'),
    params,
    query: pageQuery.extend({
      status: z.enum(RUN_STATUSES).optional().meta({ description: 'Only runs in this status.' }),
    }),
    operation: graphql(
      `query ListActionRuns($base: String!, $id: String!, $status: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: actionRuns(base: $base, action: $id, status: $status, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...ActionRunFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [RunFields],
    ),
    answers: listOf(Run),
  }),
  route('GET /:base_id/actions/:id/runs/:run_id', {
    summary: 'Get a run of an action',
    need: onBase('read'),
    params: params.extend({ run_id: z.string().min(1).max(64).meta({ description: 'A run id.' }) }),
    operation: graphql(
      `query GetActionRun($base: String!, $id: String!, $runId: String!) {
        found: actionRun(base: $base, action: $id, id: $runId) { ...ActionRunFields }
      }`,
      [RunFields],
    ),
    answers: Run,
  }),
])
