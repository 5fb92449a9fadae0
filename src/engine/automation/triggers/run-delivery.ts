/** Runs the action of a trigger for a delivery: with rights on the data of its base, and once if it succeeds. */
import { LRUCache } from 'lru-cache'
import { whenAborted } from '../../../foundation/cancellation.ts'
import { DomainError, NotBegun, toDomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { write } from '../../core/write/write.ts'
import { ResponseBudget } from '../../storage/database/capped-query.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { FairGate, type Share } from '../../storage/database/fair-gate.ts'
import { rightsOfAction, runAction, withRun } from '../actions/index.ts'
import type { Due } from './due-deliveries.ts'
import { webhookId } from './signature.ts'

/** How a run ended; `isEnded` says that the delivery had ended before. */
type RunOutcome = { readonly error: string | null; readonly isEnded: boolean }
export type DeliveryRunner = (
  delivery: Due,
  action: string,
  body: string,
  cut: AbortSignal,
) => Promise<RunOutcome | undefined>

// In the transaction of the run: both commit, or neither does. So a delivery that succeeded is not run again.
const CLAIM = statement(
  'end_delivery_of_run',
  `UPDATE plinth.trigger_delivery SET status = 'succeeded', attempts = attempts + 1, next_attempt_at = NULL,
     last_attempt_at = clock_timestamp(), is_forced = false, error = NULL, body = NULL
   WHERE base_id = $1 AND trigger_id = $2 AND id = $3 AND next_attempt_at IS NOT NULL RETURNING id`,
)

class Ended extends Error {}

/** Opens a runner that runs an action of each trigger at a time, in the order of deliveries, and few in all. */
export function openDeliveryRunner(scope: Scope): DeliveryRunner {
  const late = () => new Error('A run of a trigger waits without a limit.')
  const gate = new FairGate({ caps: [{ inAll: LIMITS.triggerRuns, ofShare: 1 }], full: late, late })
  const shares = new LRUCache<string, Share>({ max: 10_000 })
  const run: DeliveryRunner = async (delivery, action, body, cut) => {
    const key = `${delivery.base_id}/${delivery.trigger_id}`
    const share = shares.get(key) ?? gate.open()
    shares.set(key, share)
    await gate.enter(share, 0)
    try {
      return cut.aborted ? undefined : await runOnce(scope, delivery, action, body)
    } finally {
      gate.leave(share, 0)
    }
  }
  // A run that the end of the process cuts off is committed with its delivery, or is tried again.
  return (delivery, action, body, cut) => Promise.race([run(delivery, action, body, cut), whenAborted(cut)])
}

async function runOnce(
  system: Scope,
  delivery: Due,
  action: string,
  body: string,
): Promise<RunOutcome | undefined> {
  const target = { baseId: delivery.base_id, id: action }
  const { data: input } = JSON.parse(body) as { data: unknown }
  const claim = async (tx: Db): Promise<void> => {
    const { base_id, trigger_id, id } = delivery
    if ((await tx.query(CLAIM, [base_id, trigger_id, id])).length === 0) throw new Ended()
  }
  const request = { dryRun: false, idempotencyKey: null, request: () => null }
  try {
    await withRun(
      scopeOf(system, delivery),
      target,
      (scope) => write(scope, request, (within) => runAction(within, target, input)),
      { cause: delivery.id, claim },
    )
    return { error: null, isEnded: false }
  } catch (thrown) {
    // Receivers of other runs took all turns: that is no attempt of this one.
    if (thrown instanceof NotBegun) return undefined
    if (thrown instanceof Ended) return { error: null, isEnded: true }
    const { code, message } = thrown instanceof DomainError ? thrown : toDomainError(thrown)
    const error = `${code}: ${message}`.slice(0, LIMITS.deliveryAnswerBytes)
    return { error, isEnded: false }
  }
}

function scopeOf(system: Scope, { base_id, trigger_id, id }: Due): Scope {
  return {
    ...system,
    access: rightsOfAction(base_id),
    actor: { tokenId: null, name: trigger_id },
    via: 'trigger',
    requestId: webhookId(id),
    batches: { left: system.limits.batchBytes },
    answer: new ResponseBudget(LIMITS.pageBytes, Number.POSITIVE_INFINITY),
    received: new Map(),
  }
}
