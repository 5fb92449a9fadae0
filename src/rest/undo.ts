/** REST route that reverts all changes of a request, or of an actor. */
import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { momentOf } from '../contract/time-input.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { ChangeCount } from './changes.ts'
import { NewSecrets } from './config.ts'
import { title } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { anywhere, baseId } from './route/shapes.ts'

const Body = z.strictObject({
  request_id: z
    .string()
    .optional()
    .meta({ description: 'All changes of the request with this `X-Request-Id`.' }),
  actor: z
    .string()
    .optional()
    .meta({ description: 'All changes of this token, by id or name: with `since` or `until`.' }),
  since: momentOf('From this time on'),
  until: momentOf('Before this time'),
  record_type: z.string().optional().meta({ description: 'Only changes of records of this type.' }),
  last: z.boolean().optional().meta({
    description:
      'The last request of this token that is not an undo and not undone: a second undo goes further back. Without the other fields.',
  }),
  on_conflict: z.enum(['fail', 'skip', 'force']).optional().meta({
    description:
      'What was changed since: `fail` (default) is a 409 that lists it, `skip` leaves it as it is and lists it in `skipped`, `force` takes it back too and lists it in `also`.',
  }),
  include: z
    .array(z.enum(['titles']))
    .optional()
    .meta({ description: '`titles`: add the `title` of each record.' }),
  with_effects: z.boolean().optional().meta({
    description:
      'Also what triggers and actions did because of the changes. What they sent out is listed in `effects`, and not undone.',
  }),
})

const undone = {
  diff: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description:
      'In a dry run: what the revert changes, from the state of now; `before` is the value of now.',
  }),
  title,
}
const operation = z.enum(['create', 'update', 'cancel', 'delete', 'restore'])
const of = { kind: z.string(), record_type: z.string().nullable(), id: z.string() }

const Effect = z
  .object({
    id: z.string(),
    of: z.string().meta({ description: 'The trigger or action.' }),
    status: z.string(),
  })
  .meta({ id: 'UndoEffect' })

const Undo = z
  .object({
    request_id: z.string().meta({ description: 'The request that did it. Revert it to undo the undo.' }),
    last: z
      .object({ request_id: z.string(), at: z.string(), via: z.string(), tool: z.string().nullable() })
      .optional()
      .meta({ description: 'The request that is undone, with `last`; `tool` is the MCP tool.' }),
    count: z.int().meta({ description: 'How many changes were reverted.' }),
    by: z.array(ChangeCount).meta({ description: 'What the reverts did.' }),
    data: z.array(z.object({ reverts: z.int(), ...of, operation, ...undone })).meta({
      description:
        'The reverted changes, newest first: `reverts` is the seq, `operation` what its revert did.',
    }),
    also: z.array(z.object({ reverts: z.int(), ...of, operation, ...undone })).meta({
      description: 'What came after and was reverted too, with `on_conflict: "force"`.',
    }),
    effects: z
      .object({
        changes: z.int().meta({
          description:
            'How many changes of triggers and actions were reverted too; in a dry run without `with_effects`, would be with it.',
        }),
        deliveries: z.array(Effect).meta({ description: 'Deliveries to other systems: they stay sent.' }),
        runs: z
          .array(Effect)
          .meta({ description: 'Runs of actions: what their requests did elsewhere stays.' }),
      })
      .optional()
      .meta({
        description: `Present with \`with_effects\`, and in a dry run. Lists ${LIMITS.traceEffects} of each.`,
      }),
    skipped: z
      .array(
        z.object({
          ...of,
          title,
          seq: z.int(),
          overtaken_by: z.int().nullable(),
          code: z.string(),
          message: z.string(),
        }),
      )
      .meta({ description: 'What was left as it is, and why.' }),
    secrets: NewSecrets,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Undo' })

export const undo = tagged('History', [
  route('POST /:base_id/revert', {
    summary:
      'Revert all changes of a request, of an actor since a time, or of the own last request, in one transaction',
    need: anywhere('write'),
    params: z.strictObject({ base_id: baseId() }),
    body: Body,
    operation: graphql(
      `mutation RevertChanges($base: String!, $requestId: String, $actor: String, $since: DateTime, $until: DateTime,
        $recordType: String, $last: Boolean, $skipConflicts: Boolean, $force: Boolean, $withEffects: Boolean, $withDiffs: Boolean!, $withTitles: Boolean!) {
        revertChanges(base: $base, requestId: $requestId, actor: $actor, since: $since, until: $until, recordType: $recordType,
          last: $last, skipConflicts: $skipConflicts, force: $force, withEffects: $withEffects, withDiffs: $withDiffs, withTitles: $withTitles) {
          request_id: requestId last { request_id: requestId at via tool } count by { kind record_type: recordType operation count }
          data: rows also { reverts kind record_type: recordType id operation diff @include(if: $withDiffs) title @include(if: $withTitles) }
          effects { changes deliveries { id of status } runs { id of status } } skipped: skippedRows secrets dry_run: dryRun
        }
      }`,
    ),
    variables: ({ params, query, body }) => ({
      base: params.base_id,
      requestId: body.request_id,
      actor: body.actor,
      since: body.since,
      until: body.until,
      recordType: body.record_type,
      last: body.last,
      skipConflicts: body.on_conflict === 'skip',
      force: body.on_conflict === 'force',
      withEffects: body.with_effects,
      withDiffs: (query as { dry_run?: boolean }).dry_run ?? false,
      withTitles: body.include !== undefined,
    }),
    reply: ({ revertChanges: { effects, ...undone } }) => ({
      body: { ...trim(undone), ...(effects && { effects }) },
    }),
    answers: Undo,
  }),
])
