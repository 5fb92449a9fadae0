import { isProductionBaseId, productionOf } from '../../../contract/ids.ts'
import { requirePermission } from '../../access/access.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import { announce } from '../../core/cache-notices.ts'
import { statement } from '../../database/client.ts'
import { dropIndexes } from '../../indexes/index.ts'
import { checkVersion, confirmFirst, type Expectation } from '../../write/preconditions.ts'
import { runPlanned } from '../../write/run-planned.ts'
import { summarizeBases } from '../../write/summarize-bases.ts'
import type { WriteScope } from '../../write/write.ts'
import { withdrawBase } from '../tokens/index.ts'
import { baseNotFound, LOCK_BASE_ID, toBase } from './base.ts'

const HAS_RECORDS = statement(
  'base_holds_records',
  'SELECT 1 AS one FROM plinth.record WHERE base_id = $1 LIMIT 1',
)
// Links go first, because their foreign keys reference records.
const CLEAR_LINKS = statement('clear_base_links', 'DELETE FROM plinth.relationship WHERE base_id = $1')
const CLEAR_LOG = statement('clear_base_log', 'DELETE FROM plinth.change WHERE base_id = $1')

/** Deletes the base with its content and its previews. A base with records requires its id in `confirm`. */
export async function deleteBase(
  scope: WriteScope,
  id: string,
  confirm: string | null,
  expected: Expectation,
) {
  requirePermission(scope.access, isProductionBaseId(id) ? 'admin' : 'manage', id, '*')
  requirePermission(scope.access, 'read', productionOf(id), '*')
  return runPlanned(scope, async (within, checkPlan) => {
    const { db: tx } = within
    await tx.query(LOCK_BASE_ID, [id])
    const current = await tx.orm.base.findUnique({ where: { id } })
    if (!current) throw baseNotFound(id)
    checkVersion(expected, current.version, `base "${id}"`)
    const previews = await tx.orm.base.findMany({ where: { productionBase: id } })
    await summarizeBases(within, [current, ...previews])
    checkPlan()
    for (const member of [...previews.map((preview) => preview.id), id]) {
      if (!scope.planning && confirm !== id && (await tx.query(HAS_RECORDS, [member])).length > 0)
        throw confirmFirst(id, `Base "${id}" holds records`, 'the base')
      await dropIndexes(tx, member, null)
      await tx.query(CLEAR_LINKS, [member])
      await tx.orm.base.delete({ where: { id: member } })
      await tx.query(CLEAR_LOG, [member])
      await announce(tx, `base:${member}`)
      scope.onCommit(() => scope.caches.forget(`base:${member}`))
      await withdrawBase(within, member)
    }
    // The log of the base is deleted with it, so log the deletion at the account.
    await appendChange(within, {
      baseId: ACCOUNT,
      kind: 'base',
      id,
      operation: 'delete',
      version: current.version + 1,
      state: toBase(current),
    })
    return { id, deleted: true }
  })
}
