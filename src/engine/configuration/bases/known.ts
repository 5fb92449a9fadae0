import { demandSight } from '../../access/access.ts'
import type { Scope } from '../../core/scope.ts'
import { demandBase } from './base.ts'

/**
 * Asks for a base that is there, as every request to one does: what is known in memory costs no statement.
 * @throws FORBIDDEN without sight of it, whether or not it exists; NOT_FOUND
 */
export async function demandKnownBase(scope: Scope, id: string): Promise<void> {
  demandSight(scope.access, id)
  const { caches } = scope
  if (caches.live() && caches.bases.has(id)) return
  const before = caches.forgotten()
  await demandBase(scope, id)
  // What a transaction sees may never be committed.
  const isSettled = !scope.db.isTransaction && caches.forgotten() === before
  if (isSettled) caches.bases.set(id, true)
}
