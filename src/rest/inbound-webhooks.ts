/** REST routes of inbound webhooks and their deliveries. */
import { z } from 'zod'
import { INBOUND_STATUSES, InboundWebhookBody } from '../contract/inbound-webhook-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { answerOf, crud, rotation } from './route/crud.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { type Route, route, tagged } from './route/route.ts'
import { baseId, configurationId, onBase, time } from './route/shapes.ts'

const InboundWebhook = answerOf('InboundWebhook', InboundWebhookBody).extend({
  secret: z.string().nullable().meta({
    description: 'The key that signs deliveries, in the answer that makes it; otherwise `<redacted>`.',
  }),
  ingest_url: z.string().meta({ description: 'Where the sender posts its deliveries.' }),
  status: z
    .object({
      refused: z.int().meta({ description: 'Deliveries whose signature was refused.' }),
      last_refused_at: time.nullable(),
    })
    .nullable()
    .meta({ description: 'Null for a past version.' }),
})

const kind = {
  tag: 'Inbound webhooks',
  label: 'An inbound webhook',
  body: InboundWebhookBody,
  answers: InboundWebhook,
  removes: 'an inbound webhook and its deliveries',
}

const DeliveryFields = graphql(`fragment InboundDeliveryFields on InboundDelivery {
  id delivery_id: deliveryId status attempts records error body warnings request_id: requestId
  last_attempt_at: lastAttemptAt created_at: createdAt
}`)

const Delivery = z
  .object({
    id: z.string(),
    delivery_id: z.string().nullable().meta({ description: 'The id that the sender gave it.' }),
    status: z.enum(INBOUND_STATUSES),
    attempts: z.int(),
    records: z
      .array(z.object({ id: z.string(), operation: z.string() }))
      .nullable()
      .meta({ description: 'The records that it wrote.' }),
    error: z
      .object({ code: z.string(), message: z.string(), details: z.array(z.unknown()) })
      .nullable()
      .meta({ description: 'Why it failed.' }),
    body: z.string().nullable().meta({
      description: 'The first 4 KiB of the payload. Of one that succeeded, they are kept for a day.',
    }),
    warnings: z
      .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
      .nullable()
      .meta({ description: 'What was changed in the payload so that it could be stored.' }),
    request_id: z.string(),
    last_attempt_at: time,
    created_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'InboundDelivery' })

const params = z.strictObject({ base_id: baseId(), id: configurationId('An inbound webhook') })

export const inboundWebhooks: Route[] = tagged('Inbound webhooks', [
  ...crud('/:base_id/inbound-webhooks', kind),
  route('GET /:base_id/inbound-webhooks/:id/deliveries', {
    summary: 'List the deliveries of an inbound webhook, newest first',
    need: onBase('read'),
    params,
    query: pageQuery.extend({
      status: z.enum(INBOUND_STATUSES).optional().meta({ description: 'Only deliveries in this status.' }),
    }),
    operation: graphql(
      `query ListInboundDeliveries($base: String!, $id: String!, $status: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: inboundDeliveries(base: $base, webhook: $id, status: $status, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...InboundDeliveryFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [DeliveryFields],
    ),
    answers: listOf(Delivery),
  }),
  route('POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay', {
    need: onBase('manage'),
    body: z.strictObject({}).optional(),
    summary: 'Take a failed delivery again, by the inbound webhook as it is now',
    params: params.extend({ delivery_id: z.string().min(1).max(64).meta({ description: 'A delivery id.' }) }),
    operation: graphql(
      `mutation ReplayInboundDelivery($base: String!, $id: String!, $deliveryId: String!) {
        done: replayInboundDelivery(base: $base, id: $id, delivery: $deliveryId) { ...InboundDeliveryFields dry_run: dryRun }
      }`,
      [DeliveryFields],
    ),
    answers: Delivery,
  }),
  rotation(
    '/:base_id/inbound-webhooks',
    kind,
    'Give an inbound webhook a new secret; deliveries are taken with both for 24 hours',
  ),
])
