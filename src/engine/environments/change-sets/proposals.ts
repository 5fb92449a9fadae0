/** Where a token that proposes writes: the newest open change-set of its own, which its first write opens. */
import { anyPreviewOf } from '../../../contract/ids.ts'
import { accessInChangeSet } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import { write } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import { openChangeSet } from './open.ts'

// What waits for a decision is as it was asked for: the next write opens another one. What is sent back is gone on with.
const NEWEST = statement(
  'newest_change_set',
  `SELECT c.base_id AS id FROM plinth.change_set c JOIN plinth.base b ON b.id = c.base_id
   WHERE c.token_id = $1 AND c.status IN ('open', 'changes_requested') AND b.production_base = $2
   ORDER BY b.created_at DESC, b.id DESC LIMIT 1`,
)
// Two first writes at once open one.
const LOCK_FIRST = statement('lock_first_proposal', 'SELECT pg_advisory_xact_lock(hashtextextended($1, 31))')

/** Whether the token writes to this production base by proposals. */
export function proposesTo({ access }: Scope, baseId: string): boolean {
  const types = access.proposed(baseId)
  return types === '*' || types.size > 0
}

/** The change-set that the token writes to; undefined if it has none. */
export async function ownChangeSet({ db, actor }: Scope, baseId: string): Promise<string | undefined> {
  const [found] = await db.query<{ id: string }>(NEWEST, [actor.tokenId, baseId])
  return found?.id
}

/** The change-set that the token writes to. Opens it for its first write. */
export async function requireOwnChangeSet(scope: Scope, baseId: string): Promise<string> {
  const known = await ownChangeSet(scope, baseId)
  if (known !== undefined) return known
  return scope.db.transaction(async (db) => {
    const within = { ...scope, db }
    await db.query(LOCK_FIRST, [`${baseId} ${scope.actor.tokenId}`])
    const made = await ownChangeSet(within, baseId)
    if (made !== undefined) return made
    const opening = { name: undefined, description: null, title: undefined }
    const options = { dryRun: false, idempotencyKey: null, request: () => ['open', baseId] }
    return (await write(within, options, (inner) => openChangeSet(inner, baseId, opening))).id
  })
}

/** The scope of a read before the first write: it shows which types the token may propose to. */
export const beforeProposals = (scope: Scope, baseId: string): Scope => ({
  ...scope,
  access: accessInChangeSet(scope.access, anyPreviewOf(baseId)),
})
