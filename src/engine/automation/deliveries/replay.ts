/** Sends or takes again many deliveries of a base. */
import { DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireManage } from '../../configuration/lifecycle/read.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import { replayDelivery } from '../inbound/index.ts'
import { sendAgain } from '../triggers/index.ts'
import { type BaseDelivery, type DeliveryFilter, listBaseDeliveries, SENDERS } from './list.ts'

/** How many were sent or taken again, how many failed again, and whether more match. */
export type Replayed = { count: number; failed: number; hasMore: boolean }

type Filter = Pick<DeliveryFilter, 'direction' | 'of' | 'since'> & { readonly status: string }

/**
 * Sends or takes again up to 1,000 deliveries that match, the newest first. One that fails again does not keep the others
 * from it. A dry run only counts.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function replayDeliveries(scope: WriteScope, baseId: string, filter: Filter): Promise<Replayed> {
  for (const kind of SENDERS) requireManage({ kind, scope, baseId, id: '' })
  if (filter.status === 'pending')
    throw invalid({
      path: '/status',
      code: 'pending',
      message: 'A pending delivery is going to be sent. Send failed, dead or succeeded.',
    })
  const { data, hasMore } = await listBaseDeliveries(scope, baseId, { ...filter, limit: LIMITS.pageMax })
  const [out, arrived] = [data.filter(({ direction }) => direction === 'out'), data.filter(isKept)]
  const sent = await sendAgain(
    scope,
    baseId,
    out.map(({ of, id }) => [of.id, id] as const),
  )
  const taken = scope.isRehearsal
    ? { count: arrived.length, failed: 0, left: 0 }
    : await takeAgain(scope, baseId, arrived)
  return { count: sent + taken.count, failed: taken.failed, hasMore: hasMore || taken.left > 0 }
}

/** Of a delivery that succeeded, there is no payload left to take again. */
const isKept = ({ direction, status }: BaseDelivery) => direction === 'in' && status === 'failed'

const SAVEPOINT = statement('replay_savepoint', 'SAVEPOINT replay')
const ROLL_BACK = statement('replay_roll_back', 'ROLLBACK TO SAVEPOINT replay')

/** Takes deliveries to inbound webhooks again, one after the other, as long as a request may take. */
async function takeAgain(scope: WriteScope, baseId: string, arrived: readonly BaseDelivery[]) {
  const until = performance.now() + LIMITS.replayMs
  let [count, failed] = [0, 0]
  for (const { of, id } of arrived) {
    if (performance.now() > until) break
    if (scope.db.isTransaction) await scope.db.query(SAVEPOINT, [])
    try {
      await replayDelivery(scope, { baseId, id: of.id }, id)
      count++
    } catch (thrown) {
      if (!(thrown instanceof DomainError) || thrown.code === 'INTERNAL_ERROR') throw thrown
      if (scope.db.isTransaction) await scope.db.query(ROLL_BACK, [])
      failed++
    }
  }
  return { count, failed, left: arrived.length - count - failed }
}
