/** The end of change-sets that nobody works on, and the way back of those that are closed. */
import { isOpen } from '../../../contract/change-set-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { type Base, DEFAULT_SETTINGS, deleteBase, getBase } from '../../configuration/bases/index.ts'
import { requireChangeSet } from '../../core/change-set/change-set-scope.ts'
import { holdChangeSet, takeStep } from '../../core/change-set/lifecycle.ts'
import { endPausesOfExpired } from '../../core/review-request-log.ts'
import type { Scope } from '../../core/scope.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import { type WriteScope, write } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { keepRoom } from './open.ts'
import { settleRequests } from './reviews.ts'

// A base that was made before the setting has the default.
const DUE = statement(
  'change_sets_that_are_over',
  `SELECT c.base_id AS id FROM plinth.change_set c JOIN plinth.base p ON p.id = split_part(c.base_id, '--', 1)
   WHERE c.closed_at IS NULL
     AND c.written_at < now() - make_interval(days => coalesce((p.settings #>> '{change_sets,expire_days}')::int, ${DEFAULT_SETTINGS.change_sets.expire_days}))`,
)
const GONE = statement(
  'change_sets_to_purge',
  `SELECT c.base_id AS id FROM plinth.change_set c JOIN plinth.base p ON p.id = split_part(c.base_id, '--', 1)
   WHERE c.closed_at < now() - make_interval(days => (p.settings ->> 'trash_days')::int)`,
)
type Found = { id: string }

/** Job: closes what was not written for long, deletes what has been closed for the days of the trash, and ends pauses of expired tokens. */
export async function sweepChangeSets(scope: Scope, signal: AbortSignal): Promise<void> {
  const each = async (due: typeof DUE, act: (within: WriteScope, id: string) => Promise<object>) => {
    for (const { id } of await scope.db.query<Found>(due, [])) {
      signal.throwIfAborted()
      const options = { dryRun: false, idempotencyKey: null, request: () => [] }
      await write({ ...scope, requestId: uuidv7() }, options, (within) => act(within, id))
    }
  }
  await each(DUE, expire)
  await each(GONE, (within, id) => deleteBase(within, id, id, NO_EXPECTATION))
  const requestId = uuidv7()
  await scope.db.transaction((tx) => endPausesOfExpired({ ...scope, db: tx, requestId }))
}

const expire = (scope: WriteScope, id: string): Promise<object> =>
  scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    const { status } = await holdChangeSet(tx, id)
    // It may have been written meanwhile.
    const isDue = isOpen(status) && (await tx.query<Found>(DUE, [])).some((each) => each.id === id)
    if (!isDue) return {}
    await takeStep(within, id, { event: 'expired', status: 'expired' })
    await settleRequests(within, id, { verdict: 'reject', text: 'It expired.' })
    return {}
  })

/**
 * Opens a rejected or expired change-set again, as it was.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR; CONFLICT for one that is open, or merged
 */
export async function reopenChangeSet(scope: WriteScope, id: string): Promise<Base> {
  await requireChangeSet(scope, id)
  await scope.db.transaction(async (tx) => {
    const { status } = await holdChangeSet(tx, id)
    const row = await tx.orm.changeSet.findUnique({ where: { baseId: id }, select: { tokenId: true } })
    const isOwn = row?.tokenId != null && row.tokenId === scope.actor.tokenId
    if (!isOwn) requirePermission(scope.access, 'write', productionOf(id), '*')
    if (status !== 'rejected' && status !== 'expired') throw notReopened(id, status)
    await keepRoom(tx, productionOf(id), row?.tokenId ?? null)
    await takeStep({ ...scope, db: tx }, id, { event: 'reopened', status: 'open' })
  })
  return getBase(scope, id)
}

function notReopened(id: string, status: string): DomainError {
  const message = `The change-set "${id}" is ${status}. Only a rejected or expired one is opened again.`
  return oneFault('CONFLICT', message, { path: '/base_id', code: 'not_reopened' })
}
