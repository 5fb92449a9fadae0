/** Where a token that proposes writes: the newest open change-set of its own, which its first write opens. */
import { hexDigest } from '../../../contract/canonical-hash.ts'
import { anyPreviewOf } from '../../../contract/ids.ts'
import { accessInChangeSet, inChangeSet, ofToken } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'
import { openingOf } from './open.ts'

// What waits for a decision is as it was asked for: the next write opens another one. What is sent back is gone on with.
// By the numbers of a sequence: clocks may go back.
const NEWEST = statement(
  'newest_change_set',
  `SELECT c.base_id AS id, c.status IN ('open', 'changes_requested') AS "goesOn"
   FROM plinth.change_set c JOIN plinth.base b ON b.id = c.base_id
   WHERE c.token_id = $1 AND b.production_base = $2 ORDER BY "goesOn" DESC, b.file_index_id DESC LIMIT 1`,
)
type Newest = { id: string; goesOn: boolean }

const newest = async ({ db, actor }: Scope, baseId: string): Promise<Newest | undefined> =>
  (await db.query<Newest>(NEWEST, [actor.tokenId, baseId]))[0]

/** The change-set that the token writes to; else the one that it wrote to last, however far it is. */
export const lastChangeSet = async (scope: Scope, baseId: string): Promise<string | undefined> =>
  (await newest(scope, baseId))?.id

/** The change-set that the token writes to; undefined if it has none. */
export async function ownChangeSet(scope: Scope, baseId: string): Promise<string | undefined> {
  const found = await newest(scope, baseId)
  return found?.goesOn ? found.id : undefined
}

/**
 * The scope of a write: in the change-set of the token. Its first write opens it, in its own transaction. The name is known
 * before, so first writes at once agree on it.
 */
export async function toOwnChangeSet(scope: Scope, baseId: string): Promise<Scope> {
  const found = await newest(scope, baseId)
  if (found?.goesOn) return inChangeSet(scope, found.id)
  const name = `p-${hexDigest([scope.actor.tokenId, found?.id ?? null]).slice(0, 12)}`
  const opening = openingOf(ofToken(scope), { baseId, name })
  return inChangeSet(scope, `${anyPreviewOf(baseId)}${name}`, { opening })
}

/** The scope of a read before the first write: it shows which types the token may propose to. */
export const beforeProposals = (scope: Scope, baseId: string): Scope =>
  scope.proposal ? scope : { ...scope, access: accessInChangeSet(scope.access, anyPreviewOf(baseId)) }
