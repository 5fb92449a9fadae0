/** Rolls a promotion back: applies its exact inverse to production. */
import { RollbackBody } from '../../contract/config-shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { lockIfPresent } from '../configuration/lifecycle/lock.ts'
import type { WriteScope } from '../core/write/write.ts'
import { setCause } from '../log/entry.ts'
import { requirePermission } from '../storage/access/access.ts'
import { applyEdits, prepareEdits } from './apply-edits.ts'
import { isOfChangeSet, rollbackChangeSet } from './change-sets/rollback.ts'
import { editWarnings } from './change-warnings.ts'
import { isSame, nonEmpty } from './edits.ts'
import { atUndone } from './failures.ts'
import { changeOptimistically } from './optimistic-change.ts'
import { type Promotion, storePromotion } from './promotion.ts'
import { type PromotionEdit, readEdits } from './promotion-edits.ts'
import { prepareOptions } from './promotion-request.ts'
import { type Snapshot, snapshotIn } from './snapshot.ts'
import { moveFork } from './three-way.ts'
import { findUndoable, markUndone, selectUndone } from './undoable.ts'

/**
 * Undoes a promotion or a part of it, as a new entry of the history. The preview keeps its state, so that it can be promoted
 * again.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT when the same resources have changed since, or are taken back
 */
export async function rollback(scope: WriteScope, baseId: string, input: object): Promise<Promotion> {
  const { promotion_id: undone, resources, migration } = check(RollbackBody, input, inBody())
  if (await isOfChangeSet(scope, baseId, undone)) return rollbackChangeSet(scope, baseId, undone, resources)
  requirePermission(scope.access, 'admin', baseId, '*')
  const plan = async (at: WriteScope) => {
    await findUndoable(at, baseId, undone)
    const all = (await readEdits(at.db, baseId, [undone])).get(undone)?.edits ?? []
    const past = selectUndone(all, resources)
    await checkUnchanged(past, await snapshotIn(at.db, baseId))
    const edits = past.map(
      ({ before, after, rolledBack: _, ...edit }): PromotionEdit => ({
        ...edit,
        before: after,
        after: before,
      }),
    )
    const prepared = await prepareEdits(edits, prepareOptions(edits, migration, atUndone), {
      scope: at,
      baseId,
    })
    return { prepared, warnings: await editWarnings(at, baseId, prepared) }
  }
  return changeOptimistically(scope, [baseId], plan, async (within, { prepared, warnings }) => {
    const { fromBase, createdAt } = await findUndoable(within, baseId, undone)
    const id = uuidv7()
    await setCause(within.db, id)
    const { secrets, recordsRewritten } = await applyEdits(within, baseId, prepared, {
      isForced: false,
      located: atUndone,
    })
    const edits = prepared.map(({ edit }) => edit)
    const preview = await lockIfPresent(within, fromBase)
    // One that was made again since has not made these changes, and does not promote them again.
    if (preview && preview.created_at < createdAt)
      await moveFork(
        within.db,
        fromBase,
        edits.map(({ kind, id: of, after, fork = after }) => ({ kind: kind.name, id: of, definition: fork })),
      )
    await markUndone(within, baseId, undone, edits)
    const entry = { id, baseId, kind: 'rollback', fromBase, edits, conflicts: [] }
    return {
      ...(await storePromotion(within, entry)),
      ...nonEmpty({ recordsRewritten, secrets, warnings }),
    }
  })
}

/** @throws CONFLICT with each resource that is no longer as the promotion left it */
async function checkUnchanged(past: readonly PromotionEdit[], production: Snapshot): Promise<void> {
  const changed: PromotionEdit[] = []
  for (const edit of past) {
    if (turnIsOver()) await nextTurn()
    if (!isSame(production.get(edit.kind.name)?.get(edit.id) ?? null, edit.after)) changed.push(edit)
  }
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
