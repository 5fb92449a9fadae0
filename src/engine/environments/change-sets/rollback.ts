/** Takes the promotion of a change-set back: undoes what it did. */
import { DomainError } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { undoChanges } from '../../history/undo/undo.ts'
import type { Promotion as Row } from '../../prisma/client.ts'
import { statement } from '../../storage/database/client.ts'
import { markRolledBack, type Promotion, storePromotion } from '../promotion.ts'
import { readEdits } from '../promotion-edits.ts'

const REQUEST = statement(
  'request_of_promotion',
  `SELECT request_id FROM plinth.change
   WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = 'promotion' AND id = $2 AND operation = 'create'`,
)

const IS_OF_CHANGE_SET = statement(
  'is_promotion_of_change_set',
  `SELECT FROM plinth.promotion_edit
   WHERE base_id = $1 AND promotion_id = $2 AND kind IN ('record', 'relationship') LIMIT 1`,
)

/** Whether a promotion is of a change-set. */
export const isOfChangeSet = async ({ db }: Scope, baseId: string, id: string): Promise<boolean> =>
  (await db.query(IS_OF_CHANGE_SET, [baseId, id])).length > 0

/** @throws FORBIDDEN without `write` on what it changed; CONFLICT where that has changed since, or its history is purged */
export function rollbackChangeSet(
  scope: WriteScope,
  baseId: string,
  { id: undone, fromBase }: Pick<Row, 'id' | 'fromBase'>,
): Promise<Promotion> {
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const [entry] = await tx.query<{ request_id: string }>(REQUEST, [baseId, undone])
    if (!entry) throw purged()
    const drafts = (await readEdits(tx, baseId, [undone])).get(undone)?.drafts ?? []
    await undoChanges(within, baseId, { requestId: entry.request_id, promotion: undone, onConflict: 'fail' })
    await markRolledBack(within, baseId, undone)
    return storePromotion(within, {
      ...{ id: uuidv7(), baseId, kind: 'rollback', fromBase, edits: [], conflicts: [] },
      drafts: drafts.map(({ before, after, ...draft }) => ({ ...draft, before: after, after: before })),
    })
  })
}

function purged(): DomainError {
  const message = 'The history of this promotion is purged, so that it cannot be taken back.'
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/promotion_id', code: 'history_purged', message }],
  })
}
