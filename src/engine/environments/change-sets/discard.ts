/** Takes changes out of a change-set: what it names is shown as production has it again. */
import { DiscardBody } from '../../../contract/config-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { requireChangeSet } from '../../core/change-set/change-set-scope.ts'
import { holdChangeSet, requireOpen, takeStep } from '../../core/change-set/lifecycle.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { type ShownEdit, shownDrafts } from '../edits.ts'
import { asEdit, readDrafts, typesOf } from './drafts.ts'
import { dropDrafts } from './drop-drafts.ts'
import { keepPace, paced } from './pace.ts'
import { selectDrafts } from './selection.ts'

const RAISE = statement(
  'raise_revision',
  `UPDATE plinth.change_set SET revision = revision + 1, written_at = now(), status = 'open' WHERE base_id = $1 RETURNING revision`,
)

export type Discarded = { from: string; revision: number; changes: readonly ShownEdit[] }

/**
 * Discards drafts, and the links of records that only the change-set had.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function discardDrafts(scope: WriteScope, id: string, input: object): Promise<Discarded> {
  const { access } = scope
  await requireChangeSet(scope, id)
  const { resources } = check(DiscardBody, input, inBody())
  const { db } = await paced(scope, id, false)
  return db.transaction(async (tx) => {
    requireOpen(id, (await holdChangeSet(tx, id)).status)
    const [raised] = await tx.query<{ revision: number }>(RAISE, [id])
    const selected = selectDrafts(await readDrafts(tx, id), resources)
    for (const type of new Set(selected.flatMap(typesOf))) {
      requirePermission(access, 'read', productionOf(id), type)
      requirePermission(access, 'write', id, type)
    }
    await dropDrafts(tx, id, selected, { withLinks: true })
    const about = { discarded: selected.length }
    await takeStep({ ...scope, db: tx }, id, { event: 'discarded', about })
    const changes = await shownDrafts({ ...scope, db: tx }, productionOf(id), selected.map(asEdit))
    // No trigger logs what is taken out.
    await keepPace({ ...scope, db: tx }, productionOf(id), selected.length)
    return { from: id, revision: raised?.revision ?? 0, changes }
  })
}
