/** REST routes of all deliveries of a base. */
import { z } from 'zod'
import { momentOf } from '../contract/time-input.ts'
import { DELIVERY_STATUSES } from '../contract/trigger-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { includeTitles, pageQuery, title } from './route/query.ts'
import { type Route, route, tagged } from './route/route.ts'
import { baseId, onBase, time } from './route/shapes.ts'
import { ReceiverAnswer } from './triggers.ts'

const Delivery = z
  .object({
    direction: z.enum(['out', 'in']),
    of: z.object({ kind: z.enum(['trigger', 'inbound_webhook']), id: z.string(), name: z.string() }).meta({
      description:
        'The trigger or inbound webhook. Its own list of deliveries shows all of this one, of `in` also what was sent.',
    }),
    id: z.string(),
    webhook_id: z.string().nullable().meta({ description: 'Of `out`: the header `webhook-id`.' }),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    record_type: z.string().nullable(),
    record_id: z
      .string()
      .nullable()
      .meta({ description: 'The record that was changed; of `in`, the first one that it wrote.' }),
    title,
    event: z.string().nullable(),
    change_seq: z.int().nullable(),
    next_attempt_at: time.nullable(),
    last_attempt_at: time.nullable(),
    response_status: z.int().nullable(),
    response: ReceiverAnswer,
    error: z.string().nullable().meta({ description: 'Why it failed.' }),
    created_at: time,
  })
  .meta({ id: 'Delivery' })

const direction = z
  .enum(['out', 'in'])
  .optional()
  .meta({ description: '`out`: of triggers. `in`: to inbound webhooks. Defaults to both.' })
const of = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .meta({ description: 'The id of a trigger or inbound webhook.' })
const since = momentOf('Made from this time on')
const params = z.strictObject({ base_id: baseId() })

export const deliveries: Route[] = tagged('Deliveries', [
  route('GET /:base_id/deliveries', {
    summary: 'List the deliveries of all triggers and inbound webhooks of a base, newest first',
    need: onBase('read'),
    params,
    query: pageQuery.extend({
      direction,
      of,
      status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries in this status.' }),
      since,
      include: includeTitles,
      until: momentOf('Made before this time'),
      record_type: z.string().optional().meta({ description: 'Only deliveries of records of this type.' }),
      id: z
        .string()
        .optional()
        .meta({ description: 'Only deliveries of this record, with its `record_type`.' }),
    }),
    operation: graphql(
      `query ListBaseDeliveries($base: String!, $direction: String, $of: String, $status: String, $since: DateTime, $until: DateTime,
        $recordType: String, $id: String, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean, $withTitles: Boolean!) {
        page: deliveries(base: $base, direction: $direction, of: $of, status: $status, since: $since, until: $until,
          recordType: $recordType, id: $id, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data {
            direction of id webhook_id: webhookId status attempts record_type: recordType record_id: recordId title @include(if: $withTitles) event change_seq: changeSeq
            next_attempt_at: nextAttemptAt last_attempt_at: lastAttemptAt response_status: responseStatus response error created_at: createdAt
          }
          hasMore truncated limit offset total nextCursor
        }
      }`,
    ),
    variables: (parts) => ({ ...byName(parts), withTitles: parts.query.include !== undefined }),
    answers: listOf(Delivery),
  }),
  route('POST /:base_id/deliveries/replay', {
    summary: 'Send or take again up to 1,000 deliveries, the newest first; a dry run only counts',
    need: onBase('manage'),
    params,
    body: z.strictObject({
      direction,
      of,
      status: z.enum(['failed', 'dead', 'succeeded']).meta({
        description: 'The status of those to replay. Inbound ones that succeeded are not taken again.',
      }),
      since,
    }),
    operation: graphql(
      `mutation ReplayDeliveries($base: String!, $direction: String, $of: String, $status: String!, $since: DateTime) {
        done: replayDeliveries(base: $base, direction: $direction, of: $of, status: $status, since: $since) {
          count failed has_more: hasMore dry_run: dryRun
        }
      }`,
    ),
    answers: z
      .object({
        count: z.int().meta({ description: 'How many are sent or were taken again.' }),
        failed: z.int().meta({ description: 'How many inbound ones failed again.' }),
        has_more: z.boolean().meta({ description: 'Whether more match than were replayed.' }),
        dry_run: z.literal(true).optional(),
      })
      .meta({ id: 'Replayed' }),
  }),
])
