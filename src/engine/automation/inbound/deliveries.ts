/** The deliveries of an inbound webhook: list and replay. */
import { INBOUND_STATUSES } from '../../../contract/inbound-webhook-shapes.ts'
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { INBOUND_WEBHOOK } from '../../configuration/inbound-webhooks/index.ts'
import { type LogArgs, listLog } from '../../configuration/lifecycle/list-log.ts'
import { missing, requireManage } from '../../configuration/lifecycle/read.ts'
import type { Page } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { InboundDelivery as Row } from '../../prisma/client.ts'
import { ingestAgain, type Written } from './ingest.ts'
import { findWebhook } from './open-delivery.ts'
import type { PayloadWarning } from './read-payload.ts'

/** A delivery as it is shown. */
export type InboundDelivery = {
  id: string
  /** The id that the sender gave it. */
  deliveryId: string | null
  status: string
  attempts: number
  /** The records that it wrote. */
  records: readonly Written[] | null
  /** Why it failed. */
  error: object | null
  /** The start of the payload: of one that succeeded for a day. */
  body: string | null
  /** What was changed in the payload so that it could be stored. */
  warnings: readonly PayloadWarning[] | null
  requestId: string
  lastAttemptAt: string
  createdAt: string
}

type OfWebhook = { readonly baseId: string; readonly id: string }

const toDelivery = (row: Omit<Row, 'body'>): InboundDelivery => ({
  id: row.id,
  deliveryId: row.deliveryId,
  status: row.status,
  attempts: row.attempts,
  records: row.records as Written[] | null,
  error: row.error as object | null,
  body: row.status === 'succeeded' && isOld(row.lastAttemptAt) ? null : row.excerpt,
  warnings: row.warnings as PayloadWarning[] | null,
  requestId: row.requestId,
  lastAttemptAt: row.lastAttemptAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
})

const isOld = (at: Date): boolean => Date.now() - +at > LIMITS.excerptHours * 3_600_000

/** Columns that a list does not read: the whole payload. */
const OMITTED = { body: true } as const

/**
 * Lists the deliveries of an inbound webhook, newest first.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export function listDeliveries(
  scope: Scope,
  { baseId, id }: OfWebhook,
  args: LogArgs,
): Promise<Page<InboundDelivery>> {
  const { inboundDelivery } = scope.db.orm
  return listLog({ kind: INBOUND_WEBHOOK, scope, baseId, id }, args, {
    name: 'inbound deliveries',
    statuses: INBOUND_STATUSES,
    table: {
      findMany: (query) => inboundDelivery.findMany({ ...query, omit: OMITTED }),
      count: (query) => inboundDelivery.count(query),
    },
    where: { baseId, webhookId: id },
    show: toDelivery,
  })
}

/**
 * Takes a failed delivery again, by the webhook as it is now.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT if it has succeeded; and the error of a delivery that fails again
 */
export async function replayDelivery(
  scope: WriteScope,
  of: OfWebhook,
  deliveryId: string,
): Promise<InboundDelivery> {
  requireManage({ kind: INBOUND_WEBHOOK, scope, ...of })
  const webhook = await findWebhook(scope, of.baseId, of.id)
  if (!webhook) throw await missing({ kind: INBOUND_WEBHOOK, scope, ...of })
  const key = { baseId_webhookId_id: { baseId: of.baseId, webhookId: of.id, id: deliveryId } }
  const row = await scope.db.orm.inboundDelivery.findUnique({ where: key })
  if (!row) throw noDelivery(deliveryId)
  if (row.body === null) throw hasSucceeded(deliveryId)
  const delivery = {
    webhook,
    body: Buffer.from(row.body),
    contentType: row.contentType,
    deliveryId: row.deliveryId,
    isPing: false,
  }
  await ingestAgain({ ...scope, via: 'inbound' }, delivery, row)
  const done = await scope.db.orm.inboundDelivery.findUnique({ where: key, omit: OMITTED })
  if (!done) throw noDelivery(deliveryId)
  return toDelivery(done)
}

const noDelivery = (id: string) =>
  oneFault('NOT_FOUND', `There is no delivery "${id.slice(0, 64)}" of this inbound webhook.`, {
    path: '/delivery_id',
    code: 'delivery_not_found',
    message: 'List the deliveries of the inbound webhook. They are kept for 30 days.',
  })

const hasSucceeded = (id: string) =>
  oneFault('CONFLICT', `The delivery "${id.slice(0, 64)}" has succeeded.`, {
    path: '/delivery_id',
    code: 'succeeded',
    message: 'Only a delivery that failed can be replayed. Its payload is kept for that.',
  })
