/** Checks that a base exists. */
import { nearest } from '../../contract/suggest.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type DomainError, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { requireBaseAccess } from '../storage/access/access.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { Scope } from './scope.ts'

const FIND_BASE = statement('find_base', 'SELECT 1 AS one FROM plinth.base WHERE id = $1')

/** @throws NOT_FOUND when the base is absent */
export async function requireBase(scope: Scope, id: string): Promise<void> {
  if ((await scope.db.query(FIND_BASE, [id])).length === 0) throw await missingBase(scope, id)
}

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

/** Which of the bases exist. */
export async function existingBases(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.orm.base.findMany({ where: { id: { in: [...ids] } }, select: { id: true } })
  return new Set(rows.map(({ id }) => id))
}

// Named SQL: a write can find its base gone within a transaction that has no ORM.
const BASE_IDS = statement('base_ids', `SELECT id FROM plinth.base ORDER BY id LIMIT ${LIMITS.pageMax}`)

/** The 404 of an absent base, which suggests the nearest one that the token sees. */
export async function missingBase(scope: Pick<Scope, 'db' | 'access'>, id: string): Promise<DomainError> {
  const bases = await scope.db.query<{ id: string }>(BASE_IDS, [])
  return baseNotFound(
    id,
    nearest(
      id,
      bases.map((base) => base.id).filter((each) => scope.access.sees(each)),
    ),
  )
}

export const baseNotFound = (id: string, hint?: string) =>
  oneFault('NOT_FOUND', `There is no base "${id}".${hint === undefined ? '' : ` Did you mean "${hint}"?`}`, {
    path: '/base_id',
    code: 'base_not_found',
    message: `${advised('list_bases')} lists the bases this token sees.`,
    ...(hint !== undefined && { hint }),
  })
