/** The log of deliveries, and the acts on it. */
import { DELIVERY_STATUSES, TEST_EVENT } from '../../../contract/trigger-shapes.ts'
import { oneFault } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { type LogArgs, listLog } from '../../configuration/lifecycle/list-log.ts'
import { missing, requireManage } from '../../configuration/lifecycle/read.ts'
import { requireOwnUrl, TRIGGER } from '../../configuration/triggers/index.ts'
import { announce } from '../../core/cache-notices.ts'
import type { Page } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { TriggerDelivery as Row } from '../../prisma/client.ts'
import { statement } from '../../storage/database/client.ts'
import { webhookId } from './signature.ts'

/** A delivery: one change for one trigger. */
export type Delivery = {
  id: string
  webhookId: string
  event: string
  recordType: string | null
  recordId: string | null
  changeSeq: number | null
  status: string
  attempts: number
  nextAttemptAt: string | null
  lastAttemptAt: string | null
  /** Of the last attempt; null if nothing answered. */
  response: { status: number; body: string; duration_ms: number } | null
  error: string | null
  createdAt: string
}

type OfTrigger = { readonly baseId: string; readonly id: string }

/** Columns that no answer shows: what is sent, which can be large. */
const OMITTED = { body: true } as const

/** What a receiver answered. */
export const answerOf = (status: number | null, body: string | null, duration: number | null) =>
  status === null ? null : { status, body: body ?? '', duration_ms: duration ?? 0 }

const toDelivery = (row: Omit<Row, 'body'>): Delivery => ({
  id: row.id,
  webhookId: webhookId(row.id),
  event: row.event,
  recordType: row.recordType,
  recordId: row.recordId,
  changeSeq: row.changeSeq === null ? null : Number(row.changeSeq),
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
  response: answerOf(row.responseStatus, row.responseBody, row.durationMs),
  error: row.error,
  createdAt: row.createdAt.toISOString(),
})

/**
 * Lists the deliveries of a trigger, newest first.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export function listDeliveries(
  scope: Scope,
  { baseId, id }: OfTrigger,
  args: LogArgs,
): Promise<Page<Delivery>> {
  const { triggerDelivery } = scope.db.orm
  return listLog({ kind: TRIGGER, scope, baseId, id }, args, {
    name: 'deliveries',
    statuses: DELIVERY_STATUSES,
    table: {
      findMany: (query) => triggerDelivery.findMany({ ...query, omit: OMITTED }),
      count: (query) => triggerDelivery.count(query),
    },
    where: { baseId, triggerId: id },
    show: toDelivery,
  })
}

/** @throws NOT_FOUND */
async function requireTrigger(scope: Scope, { baseId, id }: OfTrigger): Promise<void> {
  if ((await scope.db.orm.trigger.count({ where: { baseId, id } })) > 0) return
  throw await missing({ kind: TRIGGER, scope, baseId, id })
}

/**
 * Sends a delivery again under the same id, also one that succeeded. It has all attempts again, and begins a chain.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT while it is still to be sent, or if the trigger would call production
 */
export async function replayDelivery(
  scope: WriteScope,
  of: OfTrigger,
  deliveryId: string,
): Promise<Delivery> {
  requireManage({ kind: TRIGGER, scope, ...of })
  const { baseId, id: triggerId } = of
  return scope.db.transaction(async (tx) => {
    await requireOwnUrl(tx, of)
    const sent = await sendAgain({ ...scope, db: tx }, baseId, [[triggerId, deliveryId]])
    const row = await tx.orm.triggerDelivery.findUnique({
      where: { baseId_triggerId_id: { baseId, triggerId, id: deliveryId } },
      omit: OMITTED,
    })
    if (!row) {
      await requireTrigger({ ...scope, db: tx }, of)
      throw noDelivery(deliveryId)
    }
    if (sent === 0) throw isPending(deliveryId)
    return toDelivery(row)
  })
}

const SEND_AGAIN = statement(
  'send_deliveries_again',
  `UPDATE plinth.trigger_delivery d SET status = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), is_forced = true, root_id = NULL
   FROM unnest($2::text[], $3::text[]) AS k (trigger_id, id)
   JOIN plinth.trigger t ON t.base_id = $1 AND t.id = k.trigger_id AND NOT t.calls_production
   WHERE d.base_id = $1 AND d.trigger_id = k.trigger_id AND d.id = k.id AND d.status <> 'pending'
   RETURNING d.trigger_id, d.id`,
)

/** Sends deliveries again, by trigger and id, as `replayDelivery` does; leaves out what is pending, or would call production. */
export async function sendAgain(
  scope: WriteScope,
  baseId: string,
  deliveries: readonly (readonly [triggerId: string, id: string])[],
): Promise<number> {
  if (deliveries.length === 0) return 0
  return scope.db.transaction(async (tx) => {
    const sent = await tx.query<{ trigger_id: string; id: string }>(SEND_AGAIN, [
      baseId,
      deliveries.map(([triggerId]) => triggerId),
      deliveries.map(([, id]) => id),
    ])
    await tx.orm.triggerChain.deleteMany({ where: { baseId, id: { in: sent.map(({ id }) => id) } } })
    const triggers = new Set(sent.map(({ trigger_id }) => trigger_id))
    await announce(tx, ...[...triggers].map((id) => `trigger:${baseId}/${id}` as const))
    return sent.length
  })
}

/**
 * Sends a test event to the receiver, even if the trigger is disabled. It has one attempt.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT if it would call production
 */
export async function testTrigger(scope: WriteScope, of: OfTrigger): Promise<Delivery> {
  requireManage({ kind: TRIGGER, scope, ...of })
  const { baseId, id: triggerId } = of
  return scope.db.transaction(async (tx) => {
    await requireTrigger({ ...scope, db: tx }, of)
    await requireOwnUrl(tx, of)
    const key = { baseId, triggerId, id: uuidv7() }
    // Due when the database says so, as a delivery that is sent again.
    await tx.orm.triggerDelivery.create({
      data: { ...key, event: TEST_EVENT, status: 'dead' },
    })
    await sendAgain({ ...scope, db: tx }, baseId, [[triggerId, key.id]])
    const row = await tx.orm.triggerDelivery.findUniqueOrThrow({
      where: { baseId_triggerId_id: key },
      omit: OMITTED,
    })
    return toDelivery(row)
  })
}

const noDelivery = (id: string) =>
  oneFault('NOT_FOUND', `There is no delivery "${id.slice(0, 64)}" of this trigger.`, {
    path: '/delivery_id',
    code: 'delivery_not_found',
    message: 'List the deliveries of the trigger. They are kept for 30 days.',
  })

const isPending = (id: string) =>
  oneFault('CONFLICT', `The delivery "${id.slice(0, 64)}" is being sent.`, {
    path: '/delivery_id',
    code: 'pending',
    message: 'Wait for its outcome, and replay it then.',
  })
