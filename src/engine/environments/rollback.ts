/** Rolls a promotion back: applies its exact inverse to production. */
import { RollbackBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { requirePermission } from '../access/access.ts'
import { setCause } from '../change-log/entry.ts'
import { lockForPromotion } from '../configuration/lifecycle/lock.ts'
import type { WriteScope } from '../write/write.ts'
import { applyEdits, isSame } from './edits.ts'
import { moveFork } from './fork.ts'
import { atResource, originOf } from './promote.ts'
import {
  editsOf,
  logPromotion,
  type PastEdit,
  type Promotion,
  promotionNotFound,
  storePromotion,
  toPromotion,
} from './promotion.ts'
import { type Snapshot, snapshotIn } from './snapshot.ts'

/**
 * Undoes a promotion, as a new entry of the history. The preview keeps its state, so that it can be promoted
 * again.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT when the same resources have changed since
 */
export async function rollback(scope: WriteScope, baseId: string, input: object): Promise<Promotion> {
  requirePermission(scope.access, 'admin', baseId, '*')
  const { promotion_id: undone } = check(RollbackBody, input, inBody())
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx, via: 'promotion' }
    await lockForPromotion(within, baseId)
    const where = { baseId_id: { baseId, id: undone } }
    const row = await tx.orm.promotion.findUnique({ where })
    if (!row) throw promotionNotFound('/promotion_id', undone)
    requirePermission(scope.access, 'read', row.fromBase, '*')
    if (row.status === 'rolled_back') throw refused('rolled_back', 'This promotion is rolled back already.')
    if (row.kind === 'rollback')
      throw refused('is_rollback', 'This is a rollback. To undo it, promote the preview again.')
    const past = editsOf(row)
    checkUnchanged(past, await snapshotIn(tx, baseId))
    const edits = past.map(
      ({ before, after, ...edit }): PastEdit => ({ ...edit, before: after, after: before }),
    )
    const id = uuidv7()
    await setCause(tx, id)
    await applyEdits(within, baseId, edits, { isForced: false, located: atResource, originOf })
    if ((await tx.orm.base.count({ where: { id: row.fromBase } })) > 0)
      await moveFork(
        tx,
        row.fromBase,
        edits.map(({ kind, id, after }) => ({ kind: kind.name, id, is: after })),
      )
    const next = await tx.orm.promotion.update({ where, data: { status: 'rolled_back' } })
    await logPromotion(within, toPromotion(next), 'update')
    return storePromotion(within, {
      id,
      baseId,
      kind: 'rollback',
      fromBase: row.fromBase,
      edits,
      conflicts: [],
    })
  })
}

/** @throws CONFLICT with each resource that is no longer as the promotion left it */
function checkUnchanged(past: readonly PastEdit[], production: Snapshot): void {
  const changed = past.filter(
    ({ kind, id, after }) => !isSame(production.get(kind.name)?.get(id) ?? null, after),
  )
  if (changed.length === 0) return
  const details = changed.map(
    ({ kind, id }): Detail => ({
      path: `/${kind.name}/${id}`,
      code: 'changed_since',
      message: `${kind.name} "${id}" has changed since the promotion. Undo that change first.`,
    }),
  )
  throw new DomainError('CONFLICT', 'Later changes touch the same resources. Nothing was rolled back.', {
    details,
  })
}

const refused = (code: string, message: string) =>
  new DomainError('CONFLICT', message, { details: [{ path: '/promotion_id', code, message }] })
