/** Takes the promotion of a change-set back, or a part of it: undoes what it did. */
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { undoChanges } from '../../history/undo/undo.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { type Promotion, storePromotion } from '../promotion.ts'
import { readEdits, type StoredDraft } from '../promotion-edits.ts'
import { findUndoable, keyOfPast, markUndone, type Resources, selectUndone } from '../undoable.ts'
import { type Document, endTypesOf } from './drafts.ts'
import { releaseValues } from './operations.ts'

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

const LOCK = statement(
  'lock_promotion',
  'SELECT FROM plinth.promotion WHERE base_id = $1 AND id = $2 FOR NO KEY UPDATE',
)

/**
 * Undoes what a promotion did, or what it did to the named records and relationships.
 * @throws FORBIDDEN without `write` on what it changed; VALIDATION_ERROR; CONFLICT where that has changed since, is
 * taken back already, or its history is purged
 */
export function rollbackChangeSet(
  scope: WriteScope,
  baseId: string,
  undone: string,
  resources: Resources,
): Promise<Promotion> {
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await tx.query(LOCK, [baseId, undone])
    const { fromBase } = await findUndoable(within, baseId, undone)
    const [entry] = await tx.query<{ request_id: string }>(REQUEST, [baseId, undone])
    if (!entry) throw purged()
    const all = (await readEdits(tx, baseId, [undone])).get(undone)?.drafts ?? []
    const drafts = selectUndone(all, resources)
    for (const type of new Set(drafts.flatMap(typesOfStored)))
      requirePermission(scope.access, 'write', baseId, type)
    const [named, gone] = [drafts, all.filter(({ rolledBack }) => rolledBack)].map(
      (each) => new Set(each.map(keyOfPast)),
    )
    const takes = (key: string) => (resources ? named?.has(key) === true : gone?.has(key) !== true)
    await releaseValues(within, baseId, drafts.flatMap(returning))
    await undoChanges(within, baseId, {
      ...{ requestId: entry.request_id, promotion: { id: undone, takes }, onConflict: 'fail_rollback' },
    })
    await markUndone(within, baseId, undone, drafts)
    return storePromotion(within, {
      ...{ id: uuidv7(), baseId, kind: 'rollback', fromBase, edits: [], conflicts: [] },
      drafts: drafts.map(({ kind, id, before, after }) => ({ kind, id, before: after, after: before })),
    })
  })
}

/** A record that gets its former content back. */
function returning({ kind, id, before, after }: StoredDraft) {
  const [type = '', ...own] = id.split('/')
  return kind === 'record' && before && after ? [{ type, id: own.join('/'), after: before as Document }] : []
}

const typesOfStored = ({ kind, id, before, after }: StoredDraft): string[] =>
  kind === 'record'
    ? id.split('/', 1)
    : [before, after].flatMap((link) => (link ? endTypesOf(link as Document) : []))

function purged(): DomainError {
  const message = 'The history of this promotion is purged, so that it cannot be taken back.'
  return oneFault('CONFLICT', message, { path: '/promotion_id', code: 'history_purged' })
}
