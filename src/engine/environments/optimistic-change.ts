/** Prepares a change of configuration without locks, and applies it under them. */
import { LIMITS } from '../../foundation/limits.ts'
import { KINDS } from '../configuration/kinds.ts'
import { lockForPromotion } from '../configuration/lifecycle/lock.ts'
import type { WriteScope } from '../core/write/write.ts'
import { type Db, statement } from '../storage/database/client.ts'

// Safe to interpolate: names of kinds are constants. `xmin` is the transaction that wrote the row: cheaper than its content.
const STAMP = statement(
  'stamp_configuration',
  `SELECT md5(coalesce(string_agg(s.text, ' ' ORDER BY s.text COLLATE "C"), '')) AS stamp FROM (
     ${KINDS.map(({ name }) => `SELECT '${name} ' || base_id || ' ' || id || ' ' || version || extract(epoch FROM created_at) AS text FROM plinth.${name} WHERE base_id = ANY ($1::text[])`).join(' UNION ALL ')}
     UNION ALL SELECT 'fork ' || base_id || ' ' || kind || ' ' || id || ' ' || xmin FROM plinth.fork WHERE base_id = ANY ($1::text[])) s`,
)

/** Equal while the configuration of the bases and their forks stay as they are. */
async function stampOf(db: Db, bases: readonly string[]): Promise<string> {
  const [row] = await db.query<{ stamp: string }>(STAMP, [bases])
  return row?.stamp ?? ''
}

/**
 * Prepares a change, locks the configuration of the bases, and applies the change if nothing has changed since.
 * Prepares it again if something has; the last time under the locks. So the locks are held for the writes only.
 */
export async function changeOptimistically<P, T>(
  scope: WriteScope,
  bases: readonly string[],
  prepare: (scope: WriteScope) => Promise<P>,
  apply: (within: WriteScope, prepared: P) => Promise<T>,
  lock: (within: WriteScope, base: string) => Promise<unknown> = lockForPromotion,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const isAhead = tries < LIMITS.promotionTries
    const stamp = isAhead ? await stampOf(scope.db, bases) : ''
    const ahead = isAhead ? { prepared: await prepare(scope) } : null
    const done = await scope.db.transaction(async (tx) => {
      const within: WriteScope = { ...scope, db: tx, via: 'promotion' }
      for (const base of bases) await lock(within, base)
      if (ahead && (await stampOf(tx, bases)) !== stamp) return null
      return { answer: await apply(within, ahead ? ahead.prepared : await prepare(within)) }
    })
    if (done) return done.answer
  }
}
