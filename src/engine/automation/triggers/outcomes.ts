/** Results of attempts, stored in batches a few times a second. */
import { LIMITS } from '../../../foundation/limits.ts'
import { announce } from '../../core/cache-notices.ts'
import { batchDeletion, inBatches } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { CHAINS_ENDED } from './chain.ts'
import type { Due } from './due-deliveries.ts'
import { release } from './record-order.ts'

/** An attempt that has ended. */
export type Attempt = {
  readonly delivery: Due
  readonly at: Date
  readonly isSuccess: boolean
  readonly status: number | null
  readonly body: string
  readonly durationMs: number
  readonly error: string | null
  /** What was sent, for the next attempt. */
  readonly sent: string | null
  /** Milliseconds before it is tried again; null for never. The database, whose clock says what is due, makes the moment of it. */
  readonly waitMs: number | null
  /** The row of the delivery says so already. */
  readonly isStored?: true
  /** The receiver does not want any more. */
  readonly isGone: boolean
}

// A delivery that another process has ended meanwhile stays as it is.
const STORE = statement(
  'store_attempts',
  `UPDATE plinth.trigger_delivery d SET
     status = a.status, attempts = d.attempts + 1, next_attempt_at = clock_timestamp() + a.wait_ms * interval '1 ms', last_attempt_at = a.at, is_forced = a.is_forced AND d.is_forced,
     response_status = a.response_status, response_body = a.response_body, duration_ms = a.duration_ms, error = a.error,
     body = CASE WHEN a.status = 'succeeded' THEN NULL ELSE coalesce(d.body, a.sent) END
   FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::timestamptz[], $7::int[], $8::text[], $9::int[], $10::text[], $11::text[], $12::bool[])
     AS a (base_id, trigger_id, id, status, wait_ms, at, response_status, response_body, duration_ms, error, sent, is_forced)
   WHERE d.base_id = a.base_id AND d.trigger_id = a.trigger_id AND d.id = a.id AND d.next_attempt_at IS NOT NULL`,
)

// A trigger is disabled if nothing has succeeded for days, or at once if the receiver says so.
const COUNT = statement(
  'count_attempts',
  `UPDATE plinth.trigger t SET
     last_success_at = coalesce(a.success_at, t.last_success_at),
     last_failure_at = coalesce(a.failure_at, t.last_failure_at),
     consecutive_failures = a.failures + CASE WHEN a.success_at IS NULL THEN coalesce(t.consecutive_failures, 0) ELSE 0 END,
     failing_since = CASE WHEN a.success_at IS NULL THEN coalesce(t.failing_since, a.failing_since) ELSE a.failing_since END,
     disabled_reason = CASE
       WHEN a.gone_reason IS NOT NULL THEN a.gone_reason
       WHEN a.success_at IS NOT NULL THEN NULL
       WHEN t.disabled_reason IS NULL AND t.failing_since < now() - make_interval(days => ${LIMITS.failingDays}) THEN $8
       ELSE t.disabled_reason END
   FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::timestamptz[], $7::text[])
     AS a (base_id, id, success_at, failure_at, failures, failing_since, gone_reason)
   WHERE t.base_id = a.base_id AND t.id = a.id
   RETURNING t.base_id AS base, t.id, t.disabled_reason AS reason`,
)

const GONE = 'The receiver answered 410 Gone: it does not want this trigger any more.'
const FAILING = `No delivery has succeeded for ${LIMITS.failingDays} days.`

type Counted = { base: string; id: string; reason: string | null }

/** Stores attempts, and counts them for their triggers. Returns the triggers that are disabled now. */
export async function storeAttempts(db: Db, attempts: readonly Attempt[]): Promise<Counted[]> {
  return db.statements(async (tx) => {
    const open = attempts.filter(({ isStored }) => !isStored)
    const of = <T>(read: (attempt: Attempt) => T): T[] => open.map(read)
    await tx.query(STORE, [
      of(({ delivery }) => delivery.base_id),
      of(({ delivery }) => delivery.trigger_id),
      of(({ delivery }) => delivery.id),
      of(({ isSuccess, waitMs }) => (isSuccess ? 'succeeded' : waitMs === null ? 'dead' : 'failed')),
      of(({ waitMs }) => waitMs),
      of(({ at }) => at),
      of(({ status }) => status),
      of(({ body, status }) => (status === null ? null : body)),
      of(({ durationMs }) => durationMs),
      of(({ error }) => error),
      of(({ isSuccess, sent }) => (isSuccess ? null : sent)),
      of(({ isSuccess }) => !isSuccess),
    ])
    const first = attempts.filter(({ delivery }) => delivery.attempts === 0)
    await release(
      tx,
      first.map(({ delivery }) => delivery),
    )
    const counts = [
      ...Map.groupBy(attempts, ({ delivery: { base_id, trigger_id } }) => `${base_id}/${trigger_id}`),
    ]
      .map(([key, own]) => ({ key: key.split('/'), ...countOf(own) }))
      .sort((one, other) => (one.key.join('/') < other.key.join('/') ? -1 : 1))
    const counted = await tx.query<Counted>(COUNT, [
      counts.map(({ key }) => key[0]),
      counts.map(({ key }) => key[1]),
      counts.map(({ successAt }) => successAt),
      counts.map(({ failureAt }) => failureAt),
      counts.map(({ failures }) => failures),
      counts.map(({ failingSince }) => failingSince),
      counts.map(({ isGone }) => (isGone ? GONE : null)),
      FAILING,
    ])
    const off = counted.filter(({ reason }) => reason !== null)
    if (off.length > 0) await announce(tx, ...off.map(({ base, id }) => `trigger:${base}/${id}` as const))
    return off
  })
}

/** The attempts of one trigger, in order: failures since the last success. */
function countOf(attempts: readonly Attempt[]) {
  const lastSuccess = attempts.findLastIndex(({ isSuccess }) => isSuccess)
  const failures = attempts.slice(lastSuccess + 1)
  return {
    successAt: attempts[lastSuccess]?.at ?? null,
    failureAt: attempts.findLast(({ isSuccess }) => !isSuccess)?.at ?? null,
    failures: failures.length,
    failingSince: failures[0]?.at ?? null,
    isGone: attempts.some(({ isGone }) => isGone),
  }
}

const ENDED = batchDeletion(
  'sweep_deliveries',
  'trigger_delivery',
  `next_attempt_at IS NULL AND created_at < now() - make_interval(days => ${LIMITS.deliveryDays})`,
)

/**
 * Job: deletes deliveries that ended long ago, and the counts of their chains, in batches.
 * @throws when the job is stopped
 */
export async function sweepDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, ENDED, signal)
  await inBatches(db, CHAINS_ENDED, signal)
}
