/** What a rollback takes back of a promotion: all that is not taken back yet, or what it names. */
import type { z } from 'zod'
import type { RollbackBody } from '../../contract/config-shapes.ts'
import { type Detail, DomainError, invalid } from '../../foundation/errors.ts'
import type { WriteScope } from '../core/write/write.ts'
import type { Promotion as Row } from '../prisma/client.ts'
import { requirePermission } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'
import { keyOf } from './change-sets/selection.ts'
import { markRolledBack, promotionNotFound } from './promotion.ts'

export type Resources = z.output<typeof RollbackBody>['resources']
type Past = {
  readonly kind: string | { readonly name: string }
  readonly id: string
  readonly rolledBack?: boolean
}

/** `deal/d1` of a record: as `keyOf` names what a request does. */
export const keyOfPast = ({ kind, id }: Past) => `${typeof kind === 'string' ? kind : kind.name} ${id}`

/** @throws NOT_FOUND; FORBIDDEN; CONFLICT when it is rolled back already, or a rollback */
export async function findUndoable(
  { db, access }: Pick<WriteScope, 'db' | 'access'>,
  baseId: string,
  id: string,
): Promise<Row> {
  const row = await db.orm.promotion.findUnique({ where: { baseId_id: { baseId, id } } })
  if (!row) throw promotionNotFound('/promotion_id', id)
  requirePermission(access, 'read', row.fromBase, '*')
  if (row.status === 'rolled_back') {
    const message = 'This promotion is rolled back already.'
    throw refused({ path: '/promotion_id', code: 'rolled_back', message })
  }
  if (row.kind === 'rollback') {
    const message = 'This is a rollback. To undo it, promote the preview again.'
    throw refused({ path: '/promotion_id', code: 'is_rollback', message })
  }
  return row
}

/**
 * The edits that a rollback takes back.
 * @throws VALIDATION_ERROR for a name that is none of an edit; CONFLICT for one that is taken back already
 */
export function selectUndone<E extends Past>(past: readonly E[], resources: Resources): E[] {
  if (!resources) return past.filter(({ rolledBack }) => !rolledBack)
  const known = new Map(past.map((edit) => [keyOfPast(edit), edit]))
  const [absent, ...more] = resources.flatMap((each, n) =>
    known.has(keyOf(each)) ? [] : unknown(n, each.id),
  )
  if (absent) throw invalid(absent, ...more)
  const gone = resources.flatMap((each, n) =>
    known.get(keyOf(each))?.rolledBack ? takenBack(n, each.id) : [],
  )
  if (gone[0]) throw refused(gone[0], ...gone.slice(1))
  const named = new Set(resources.map(keyOf))
  return past.filter((edit) => named.has(keyOfPast(edit)))
}

const MARK = statement(
  'mark_edits_rolled_back',
  `UPDATE plinth.promotion_edit e SET rolled_back = true FROM unnest($3::text[], $4::text[]) AS i (kind, id)
   WHERE e.base_id = $1 AND e.promotion_id = $2 AND e.kind = i.kind AND e.id = i.id`,
)
const LEFT = statement(
  'edits_not_rolled_back',
  'SELECT FROM plinth.promotion_edit WHERE base_id = $1 AND promotion_id = $2 AND NOT rolled_back LIMIT 1',
)

/** Marks edits as taken back, and the promotion with the last of them. */
export async function markUndone(
  scope: WriteScope,
  baseId: string,
  id: string,
  edits: readonly Past[],
): Promise<void> {
  const kinds = edits.map(({ kind }) => (typeof kind === 'string' ? kind : kind.name))
  await scope.db.query(MARK, [baseId, id, kinds, edits.map((edit) => edit.id)])
  if ((await scope.db.query(LEFT, [baseId, id])).length === 0) await markRolledBack(scope, baseId, id)
}

const refused = (first: Detail, ...more: Detail[]) =>
  new DomainError('CONFLICT', first.message, { details: [first, ...more] })

const unknown = (n: number, id: string): Detail => ({
  path: `/resources/${n}/id`,
  code: 'unknown_resource',
  message: `The promotion changed no such resource "${id.slice(0, 64)}". Send a kind, a record_type and an id of its changes.`,
})
const takenBack = (n: number, id: string): Detail => ({
  path: `/resources/${n}/id`,
  code: 'rolled_back',
  message: `"${id.slice(0, 64)}" is taken back already. Leave it out.`,
})
