/** REST routes of triggers and their deliveries. */
import { z } from 'zod'
import { DELIVERY_STATUSES, TriggerBody } from '../contract/trigger-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { answerOf, crud, rotation, WarningsMeta } from './route/crud.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, configurationId, onBase, time } from './route/shapes.ts'

const Trigger = answerOf('Trigger', TriggerBody).extend({
  secret: z.string().nullable().meta({
    description: 'The secret that signs deliveries, in the answer that makes it; otherwise `<redacted>`.',
  }),
  status: z
    .object({
      last_success_at: time.nullable(),
      last_failure_at: time.nullable(),
      consecutive_failures: z.int(),
      disabled_reason: z
        .string()
        .nullable()
        .meta({ description: 'Why the server disabled it. Any write of the trigger enables it again.' }),
    })
    .nullable()
    .meta({ description: 'The results of its deliveries. Null for a past version.' }),
  meta: WarningsMeta,
})

const kind = {
  tag: 'Triggers',
  label: 'A trigger',
  body: TriggerBody,
  answers: Trigger,
  removes: 'a trigger and its deliveries',
}

const DeliveryFields = graphql(`fragment DeliveryFields on TriggerDelivery {
  id webhook_id: webhookId event record_type: recordType record_id: recordId change_seq: changeSeq status attempts
  next_attempt_at: nextAttemptAt last_attempt_at: lastAttemptAt response error created_at: createdAt
}`)

/** What the receiver of a delivery answered. */
export const ReceiverAnswer = z
  .object({ status: z.int(), body: z.string(), duration_ms: z.int() })
  .nullable()
  .meta({ description: 'What the receiver answered last: the first 4 KiB, without known secrets.' })

const Delivery = z
  .object({
    id: z.string(),
    webhook_id: z.string().meta({ description: 'The header `webhook-id`: the same in each attempt.' }),
    event: z
      .string()
      .meta({ description: '`record.created`, `preview.submitted` and so on, or `trigger.test`.' }),
    record_type: z.string().nullable(),
    record_id: z.string().nullable(),
    change_seq: z.int().nullable().meta({ description: 'The entry of the change log. Null for a test.' }),
    status: z.enum(DELIVERY_STATUSES).meta({
      description: '`failed`: it is tried again at `next_attempt_at`. `dead`: it is not.',
    }),
    attempts: z.int(),
    next_attempt_at: time.nullable(),
    last_attempt_at: time.nullable(),
    response: ReceiverAnswer,
    error: z.string().nullable(),
    created_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'TriggerDelivery' })

const params = z.strictObject({ base_id: baseId(), id: configurationId('A trigger') })
const act = { need: onBase('manage'), body: z.strictObject({}).optional() } as const

export const triggers = tagged('Triggers', [
  ...crud('/:base_id/triggers', kind),
  route('GET /:base_id/triggers/:id/deliveries', {
    summary: 'List the deliveries of a trigger, newest first',
    need: onBase('read'),
    params,
    query: pageQuery.extend({
      status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries in this status.' }),
    }),
    operation: graphql(
      `query ListDeliveries($base: String!, $id: String!, $status: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: triggerDeliveries(base: $base, trigger: $id, status: $status, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...DeliveryFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [DeliveryFields],
    ),
    answers: listOf(Delivery),
  }),
  route('POST /:base_id/triggers/:id/deliveries/:delivery_id/replay', {
    ...act,
    summary: 'Send a delivery again, with the same webhook id',
    params: params.extend({ delivery_id: z.string().min(1).max(64).meta({ description: 'A delivery id.' }) }),
    operation: graphql(
      `mutation ReplayDelivery($base: String!, $id: String!, $deliveryId: String!) {
        done: replayTriggerDelivery(base: $base, id: $id, delivery: $deliveryId) { ...DeliveryFields dry_run: dryRun }
      }`,
      [DeliveryFields],
    ),
    answers: Delivery,
  }),
  route('POST /:base_id/triggers/:id/test', {
    ...act,
    summary: 'Send a test event to the receiver of a trigger',
    params,
    operation: graphql(
      `mutation TestTrigger($base: String!, $id: String!) {
        done: testTrigger(base: $base, id: $id) { ...DeliveryFields dry_run: dryRun }
      }`,
      [DeliveryFields],
    ),
    answers: Delivery,
  }),
  rotation(
    '/:base_id/triggers',
    kind,
    'Give a trigger a new secret; deliveries are signed with both for 24 hours',
  ),
])
