/** The fast path of a delivery: one that makes one record is one statement, which concurrent deliveries of a webhook share. */

import { requireType } from '../../configuration/record-types/index.ts'
import { authorize } from '../../core/row-policy/apply.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { hasUnique, variantFor } from '../../data/indexes/index.ts'
import { foundByPair, putMany } from '../../data/ledger/put.ts'
import { dataText, type Pair, readPair } from '../../data/ledger/record.ts'
import { MAX_GROUP_TEXT } from '../../data/ledger/request-batching.ts'
import { refuseSourcePair } from '../../data/ledger/source-pair.ts'
import type { Authorship } from '../../log/entry.ts'
import { authorOf } from '../../log/log-rows.ts'
import { checkData, withDefaults } from '../../records/index.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { SharedWrite } from '../../storage/database/write-together.ts'
import type { Mapped } from './map-payload.ts'
import type { Delivery } from './open-delivery.ts'

/**
 * Writes records and deliveries. Leaves out a delivery whose sender's id is known. The look-up is a scalar, because a join
 * might read all deliveries.
 */
const WRITE = putMany('ingest_records', {
  input: `sent AS MATERIALIZED (
     SELECT i.delivery, i.delivery_id, i.id, i.external_source, i.external_id, i.data, i.request_id, i.content_type, i.excerpt, i.warnings
     FROM unnest((SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::text[]), (SELECT $12::text[]),
       (SELECT $13::jsonb[]), (SELECT $14::text[]), (SELECT $15::text[]), (SELECT $16::text[]), (SELECT $17::json[]))
       AS i (delivery, delivery_id, id, external_source, external_id, data, request_id, content_type, excerpt, warnings)
     WHERE EXISTS (SELECT FROM ty) AND (
       SELECT d.id FROM plinth.inbound_delivery d
       WHERE d.delivery_id = i.delivery_id COLLATE "C" AND (d.base_id, d.webhook_id) IS NOT DISTINCT FROM ($1::text, $4::text)
       LIMIT 1) IS NULL),
   ${foundByPair('s.external_source, s.external_id, s.data, s.delivery, s.request_id')}`,
  carried: ['delivery', 'request_id'],
  isByPair: true,
  author: authorOf('$5', '$6', '$7', 'w.request_id', 'NULL::jsonb'),
  cause: 'w.delivery',
  after: `kept AS (
     INSERT INTO plinth.inbound_delivery
       (base_id, webhook_id, id, delivery_id, status, records, content_type, request_id, excerpt, warnings, last_attempt_at, created_at)
     SELECT $1, $4, s.delivery, s.delivery_id, 'succeeded', jsonb_build_array(jsonb_build_object('id', d.id, 'operation', d.kind)),
       s.content_type, s.request_id, s.excerpt, s.warnings, clock_timestamp(), clock_timestamp()
     FROM done d JOIN sent s ON s.delivery = d.delivery ORDER BY s.delivery_id)`,
  answer: 'delivery, id, kind AS operation',
})

/** The row of a delivery, as far as it is known before its record is written. */
type Kept = {
  readonly deliveryId: string | null
  readonly newId: string
  readonly excerpt: string
  readonly warnings: string | null
}
type DeliveryWrite = Kept & {
  readonly type: CompiledType
  readonly webhookId: string
  readonly delivery: string
  readonly contentType: string | null
  readonly pair: Pair | null
  readonly text: string
  readonly author: Authorship
}
type Row = { readonly delivery: string; readonly id: string; readonly operation: string }

const SHARED_WRITE: SharedWrite<DeliveryWrite, Row> = {
  groupOf: ({ type, webhookId, author }) =>
    [type.baseId, type.id, type.revision, webhookId, author[0], author[1], author[2]].join('\n'),
  // Of two deliveries of one record, the later one is written last.
  targetOf: ({ type, pair, delivery }) =>
    `${type.baseId}\n${type.id}\n${pair ? JSON.stringify([pair.externalSource, pair.externalId]) : delivery}`,
  async run(db, writes) {
    const [{ type, webhookId, author }] = writes as [DeliveryWrite]
    const rows = await db.query<Row>(variantFor(WRITE, type), [
      ...[type.baseId, type.id, type.revision, webhookId, author[0], author[1], author[2]],
      writes.map(({ delivery }) => delivery),
      writes.map(({ deliveryId }) => deliveryId),
      writes.map(({ newId }) => newId),
      writes.map(({ pair }) => pair?.externalSource ?? null),
      writes.map(({ pair }) => pair?.externalId ?? null),
      writes.map(({ text }) => text),
      writes.map((write) => write.author[3]),
      writes.map(({ contentType }) => contentType),
      writes.map(({ excerpt }) => excerpt),
      writes.map(({ warnings }) => warnings),
    ])
    const byDelivery = new Map(rows.map((row) => [row.delivery, row]))
    return writes.map(({ delivery }) => byDelivery.get(delivery))
  },
}

/**
 * Writes the record of a delivery in the shared statement; undefined if it needs the transaction of `ingest.ts`.
 * @throws VALIDATION_ERROR; NOT_FOUND
 */
export async function writeByFastPath(
  scope: WriteScope,
  { webhook, contentType }: Delivery,
  { id: delivery, ...kept }: Kept & { readonly id: string },
  record: Mapped,
): Promise<{ id: string; operation: string } | undefined> {
  const { baseId, recordType, id: webhookId } = webhook
  if (scope.db.isTransaction || authorize(scope, 'write', baseId, recordType)) return undefined
  const type = await requireType(scope, baseId, recordType)
  const pair = readPair(record)
  refuseSourcePair(type, pair)
  const text = dataText(record.data, scope.limits.recordBytes)
  const whole = withDefaults(scope, type, { data: record.data, text })
  checkData(scope, type, whole.data)
  if (hasUnique(type) || whole.text.length > MAX_GROUP_TEXT) return undefined
  const row = await scope.db.retry(() =>
    scope.batching.write(SHARED_WRITE, {
      ...{ ...kept, type, webhookId, delivery, contentType, pair },
      ...{ text: whole.text, author: authorship(scope) },
    }),
  )
  return row && { id: row.id, operation: row.operation }
}
