/** Promotes a change-set: merges its drafts into production, in one transaction. */
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { digestInTurns } from '../../../contract/canonical-hash.ts'
import type { PromoteBody } from '../../../contract/config-shapes.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { holdChangeSet, requireOpen, requireRevision, takeStep } from '../../core/change-set/lifecycle.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { keepingWhoProposed } from '../../history/who-proposed.ts'
import { setCause } from '../../log/entry.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { nothingPromoted, type Promotion, storePromotion } from '../promotion.ts'
import type { StoredDraft } from '../promotion-edits.ts'
import { requireApprovals } from './approvals.ts'
import { dropAll, dropDrafts, rebase, relink } from './discard.ts'
import { lockOverridden, nameOf, readDrafts, typesOf } from './drafts.ts'
import { type DraftConflict, type Merged, mergeDrafts } from './merge.ts'
import { grownDeletions, requireNotTaken } from './obstacles.ts'
import { applyDrafts } from './operations.ts'
import { openResolutions, selectDrafts, wholeAndParts } from './selection.ts'

const DIFFERS = statement(
  'change_set_differs',
  `SELECT FROM plinth.draft_record d WHERE d.branch = $1 AND plinth_draft.differs(d)
   UNION ALL SELECT FROM plinth.draft_relationship d WHERE d.branch = $1 AND plinth_draft.differs(d) LIMIT 1`,
)

type Body = z.output<typeof PromoteBody>

/**
 * Merges the drafts of a change-set, or those that the request names.
 * @throws FORBIDDEN without `write` on what it touches; VALIDATION_ERROR; NOT_FOUND; CONFLICT with each obstacle
 */
export async function promoteChangeSet(
  scope: WriteScope,
  baseId: string,
  { from, resources, resolve, revision, force: isForced = false }: Body,
  also?: (within: WriteScope, done: Promotion) => Promise<void>,
): Promise<Promotion> {
  const { planning, ...unplanned } = scope
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = {
      ...unplanned,
      // A change-set has bounds of its own.
      ...{ db: tx, via: 'promotion', batches: { left: Number.MAX_SAFE_INTEGER } },
      limits: { ...scope.limits, batchBytes: Number.MAX_SAFE_INTEGER },
    }
    const held = await holdChangeSet(tx, from)
    requireOpen(from, held.status, '/from')
    requireRevision(from, held, revision)
    await lockOverridden(tx, from, baseId)
    const all = await readDrafts(tx, from)
    for (const type of new Set(all.flatMap(typesOf))) requirePermission(scope.access, 'read', from, type)
    const selected = selectDrafts(all, resources)
    for (const type of new Set(selected.flatMap(typesOf)))
      requirePermission(scope.access, 'write', baseId, type)
    // An empty one is closed by who may promote something.
    const writable = scope.access.types('write', baseId)
    if (writable !== '*' && writable.size === 0) requirePermission(scope.access, 'write', baseId, '*')
    await requireApprovals(within, from, held, selected, isForced)
    const resolutions = openResolutions(resolve, isForced)
    const { merged, conflicts } = await mergeDrafts(selected, resolutions)
    if (conflicts.length > 0) throw inConflict(conflicts)
    await requireSameDeletions(tx, baseId, merged, resolutions)
    resolutions.check(conflicts)
    await requireNotTaken(tx, { baseId, from }, merged)
    const id = uuidv7()
    await setCause(tx, id)
    await keepingWhoProposed(tx, { baseId, from }, () => applyDrafts(within, baseId, merged, resolutions))
    // A draft of which some fields are promoted stays.
    const { whole = [], parts = [] } = wholeAndParts(selected)
    await dropDrafts(tx, from, whole)
    await relink(tx, from)
    await rebase(tx, from, parts)
    const isMerged = (await tx.query(DIFFERS, [from])).length === 0
    if (isMerged) await dropAll(tx, from)
    const about = { promotion_id: id, merged: selected.length, ...(isForced && { forced: true }) }
    await takeStep(within, from, { event: 'merged', status: isMerged ? 'merged' : undefined, about })
    const entry = {
      ...({ id, baseId, kind: 'promotion', fromBase: from, edits: [], conflicts: [] } as const),
      drafts: changesOf(merged),
    }
    const done =
      entry.drafts.length > 0 ? await storePromotion(within, entry) : nothingPromoted(within, entry)
    if (planning) {
      const state = await digestInTurns(entry.drafts)
      planning.checkApproval(entry.drafts.length > 0, () => {
        const what = `Promotes ${counted(entry.drafts)} from ${from} to ${baseId}.`
        return { state, what, plan: { what, promotion: done } }
      })
    }
    await also?.(within, done)
    return done
  })
}

/** `2 records and 1 relationship` */
const counted = (drafts: readonly { kind: string }[]): string =>
  [...Map.groupBy(drafts, ({ kind }) => kind)]
    .map(([kind, { length }]) => `${length} ${kind}${length === 1 ? '' : 's'}`)
    .join(' and ')

/** Names the deletions that take more with them than was reviewed. Those that grow meanwhile are counted when they are done. */
async function requireSameDeletions(...args: Parameters<typeof grownDeletions>): Promise<void> {
  const details = (await grownDeletions(...args)).filter(({ code }) => code === 'cascade_grew')
  if (details.length === 0) return
  const message = 'Deletions take more with them by now than the change-set deletes. Nothing was promoted.'
  throw new DomainError('CONFLICT', message, { details })
}

/** What production was and is, of each draft that changes it. */
const changesOf = (merged: readonly Merged[]): StoredDraft[] =>
  merged
    .filter(({ before, after }) => !isDeepStrictEqual(before, after))
    .map(({ draft, before, after }) => ({ kind: draft.kind, id: nameOf(draft), before, after }))

function inConflict(conflicts: readonly DraftConflict[]): DomainError {
  const details = conflicts.map(({ path, code, message, values }) => ({
    ...{ path, code, message, samples: [values] },
  }))
  const many = conflicts.length === 1 ? '1 change conflicts' : `${conflicts.length} changes conflict`
  return new DomainError('CONFLICT', `${many} with production. Nothing was promoted.`, { details })
}
