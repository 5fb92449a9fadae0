/** Pauses a token that writes far past its usual pace: its writes to the base are refused until a person resumes it. */
import { productionOf } from '../../../contract/ids.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { proposesTo } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { WrappedDb } from '../../storage/database/wrapped-db.ts'
import type { Pause } from '../review-request-row.ts'
import { baseKey, type Count, countWrites, ownerOf } from './counts.ts'
import { isPaused, openPause, pause } from './pauses.ts'

const USUAL = statement(
  'usual_writes',
  `SELECT coalesce(round(avg(used)), 0)::int AS usual FROM plinth.automatic_write
   WHERE token_id = $1 AND rule = $2 AND used > 0 AND since < $3::timestamptz AND since >= $3::timestamptz - interval '14 days'`,
)
const PACES = statement(
  'own_paces',
  `SELECT b.id AS base_id, max(w.used) FILTER (WHERE w.since = h.since) AS used, max(w.allowed) FILTER (WHERE w.since = h.since) AS allowed,
     coalesce(round(avg(w.used) FILTER (WHERE w.used > 0 AND w.since < h.since)), 0)::int AS usual
   FROM date_trunc('hour', now()) AS h (since) CROSS JOIN plinth.automatic_write w JOIN plinth.base b ON w.rule = 'base/' || b.id
   WHERE w.token_id = ${ownerOf('$1')} AND w.rule LIKE 'base/%' AND w.since >= h.since - interval '14 days'
   GROUP BY b.id ORDER BY b.id`,
)

/** Rolls a write back that is too much for the hour. */
class PastPace extends Error {
  readonly pause: Omit<Pause, 'wrote'>
  constructor(pause: Omit<Pause, 'wrote'>) {
    super('past the pace')
    this.pause = pause
  }
}

/** Whether the pace of the token in the base is watched: where it has a policy of its writes, and the server pauses tokens. */
const isWatched = (scope: Scope, baseId: string): boolean =>
  scope.limits.pauseAbove > 0 && proposesTo(scope, baseId)

/**
 * The scope of a write, in the base or a change-set of it, by a token whose pace is watched there. `isDraft`: each transaction
 * counts its drafts.
 * @throws FORBIDDEN for one that is paused
 */
export async function paced(scope: Scope, id: string, isDraft: boolean): Promise<Scope> {
  const baseId = productionOf(id)
  if (!isWatched(scope, baseId)) return scope
  const open = await openPause(scope, baseId, scope.actor.tokenId)
  if (open) throw isPaused(baseId, open)
  return { ...scope, db: new PacedDb(scope, baseId, isDraft) }
}

/**
 * Takes a step of a change-set beside its drafts, such as a comment. It counts as one change, for others see it.
 * @throws FORBIDDEN for a token that is paused
 */
export async function pacedStep<T>(
  scope: WriteScope,
  id: string,
  step: (within: WriteScope) => Promise<T>,
): Promise<T> {
  const { db } = await paced(scope, id, false)
  return db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    const done = await step(within)
    await keepPace(within, productionOf(id), 1)
    return done
  })
}

class PacedDb extends WrappedDb {
  readonly #scope: Scope
  readonly #baseId: string
  readonly #isDraft: boolean

  constructor(scope: Scope, baseId: string, isDraft: boolean) {
    super(scope.db)
    this.#scope = scope
    this.#baseId = baseId
    this.#isDraft = isDraft
  }
  override transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#pausing(super.transaction(work))
  }
  override statements<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#pausing(super.statements(work))
  }
  protected override async within<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
    const done = await work(tx)
    if (this.#isDraft) await keepPace({ ...this.#scope, db: tx }, this.#baseId, null)
    return done
  }
  async #pausing<T>(done: Promise<T>): Promise<T> {
    try {
      return await done
    } catch (thrown) {
      if (!(thrown instanceof PastPace)) throw thrown
      throw isPaused(this.#baseId, await pause(this.#scope, this.#baseId, this.#scope.actor, thrown.pause))
    }
  }
}

/**
 * Counts writes at the end of their transaction; null for its drafts.
 * @throws PastPace if they are too many
 */
export async function keepPace(scope: Scope, baseId: string, writes: number | null): Promise<void> {
  if (!isWatched(scope, baseId)) return
  const counted = await countWrites(scope, baseKey(baseId), 'hour', writes)
  const { used, added, token_id: tokenId, since } = counted
  if (used <= pausesAbove(scope, counted, 0)) return
  const usual = await usualOf(scope.db, baseId, counted)
  const allowed = pausesAbove(scope, counted, usual)
  if (used <= allowed) return
  throw new PastPace({ token_id: tokenId, since, writes: used - added, refused: added, usual, allowed })
}

/** How many changes in this hour a token may make that makes so many usually. */
const pausesAbove = ({ limits }: Scope, { allowed }: Pick<Count, 'allowed'>, usual: number): number =>
  Math.max(limits.pauseAbove, allowed ?? 0, LIMITS.unusualWrites * usual)

type Pace = { base_id: string; used: number | null; allowed: number | null; usual: number }

/** The changes in an hour past which the caller is paused: in any base, and where it wrote lately; null where nobody is paused. */
export async function paceOf(scope: Scope): Promise<object | null> {
  if (scope.limits.pauseAbove === 0) return null
  const rows = await scope.db.query<Pace>(PACES, [scope.actor.tokenId])
  return {
    per: 'hour',
    pauses_above: pausesAbove(scope, { allowed: null }, 0),
    bases: rows.map(({ base_id, used, allowed, usual }) => ({
      ...{ base_id, used: used ?? 0, usual, pauses_above: pausesAbove(scope, { allowed }, usual) },
    })),
  }
}

/** What the token makes in an hour, of those in which it writes. */
async function usualOf(
  db: Db,
  baseId: string,
  { token_id: tokenId, since }: Pick<Count, 'token_id' | 'since'>,
): Promise<number> {
  const [row] = await db.query<{ usual: number }>(USUAL, [tokenId, baseKey(baseId), since])
  return row?.usual ?? 0
}
