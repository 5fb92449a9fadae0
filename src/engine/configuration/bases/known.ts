import { requireBaseAccess } from '../../access/access.ts'
import type { Scope } from '../../core/scope.ts'
import { requireBase } from './base.ts'

/**
 * Checks that the base exists. Each request to a base does this, so known bases are cached.
 * @throws FORBIDDEN without a grant on it, whether or not it exists; NOT_FOUND
 */
export async function requireExistingBase(scope: Scope, id: string): Promise<void> {
  requireBaseAccess(scope.access, id)
  const { caches } = scope
  if (caches.live() && caches.bases.has(id)) return
  const before = caches.forgotten()
  await requireBase(scope, id)
  // State read in a transaction may be uncommitted, so it is not cached.
  const isCacheable = !scope.db.isTransaction && caches.forgotten() === before
  if (isCacheable) caches.bases.set(id, true)
}
