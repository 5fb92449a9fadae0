/** Pauses a token that writes far past its usual pace: its writes to the base are refused until a person resumes it. */
import { productionOf } from '../../../contract/ids.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { proposesTo } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { WrappedDb } from '../../storage/database/wrapped-db.ts'
import { logRequest, type Pause } from '../review-request-row.ts'
import { baseKey, type Count, countWrites, ownerOf } from './counts.ts'

const PAUSED = statement(
  'paused_token',
  `SELECT id, asked AS pause FROM plinth.review_request
   WHERE base_id = $1 AND from_base = $1 AND token_id = ${ownerOf('$2')} AND state = 'open'`,
)
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
const WROTE = statement(
  'writes_of_pause',
  `SELECT change_set, kind, record_type, count(*)::int AS count FROM (
     SELECT NULL AS change_set, c.kind, c.record_type, c.token_id FROM (
       SELECT * FROM plinth.change WHERE base_id = $1 ORDER BY seq DESC LIMIT ${LIMITS.pausedEntries}) c
     WHERE c.at >= $3::timestamptz AND c.kind IN ('record', 'relationship')
     UNION ALL
     SELECT d.branch, d.kind, nullif(d.record_type, ''), d.token_id FROM plinth.base b JOIN plinth.draft_change d ON d.branch = b.id
     WHERE b.production_base = $1 AND d.at >= $3::timestamptz) w
   WHERE ${ownerOf('w.token_id')} = $2
   GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT ${LIMITS.errorDetails}`,
)
const RESUME = statement(
  'resume_token',
  `INSERT INTO plinth.automatic_write AS w (token_id, rule, since, used, allowed) VALUES ($1, $2, date_trunc('hour', now()), 0, $3)
   ON CONFLICT (token_id, rule, since) DO UPDATE SET allowed = w.used + excluded.allowed`,
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
  const [paused] = await scope.db.query<{ id: string; pause: Pause }>(PAUSED, [baseId, scope.actor.tokenId])
  if (paused) throw isPaused(baseId, paused.id, paused.pause)
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
      throw await pause(this.#scope, this.#baseId, thrown.pause)
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

/** Opens the request that a person resumes the token with: one for all writes that are too much at once. */
async function pause(scope: Scope, baseId: string, past: Omit<Pause, 'wrote'>): Promise<DomainError> {
  const { tokenId: _, name, kind = 'program' } = scope.actor
  return scope.db.transaction(async (tx) => {
    const wrote = await tx.query<Pause['wrote'][number]>(WROTE, [baseId, past.token_id, past.since])
    const asked: Pause = { ...past, wrote }
    const data = {
      ...{ baseId, id: uuidv7(), kind: 'pause', fromBase: baseId, asked: asked as object, breaks: [] },
      ...{ tokenId: past.token_id, actorName: name, actorKind: kind, via: scope.via, createdAt: new Date() },
      ...{ title: `${name} is paused`.slice(0, LIMITS.nameChars), summary: summaryOf(asked) },
    }
    const [made] = await tx.orm.reviewRequest.createManyAndReturn({ data: [data], skipDuplicates: true })
    if (made) await logRequest({ ...scope, db: tx }, made, 'create')
    const [open] = await tx.query<{ id: string; pause: Pause }>(PAUSED, [baseId, past.token_id])
    return isPaused(baseId, open?.id ?? data.id, open?.pause ?? asked)
  })
}

/** Lets a token go on: in this hour as far again as it was paused for. */
export const resume = (db: Db, baseId: string, { token_id: tokenId, allowed, refused }: Pause) =>
  db.query(RESUME, [tokenId, baseKey(baseId), Math.max(allowed, refused)])

const summaryOf = ({ writes, since, usual }: Pause): string =>
  `${writes} changes since ${since.slice(11, 16)} UTC, and more were refused; usually ${usual} in an hour`

function isPaused(baseId: string, request: string, { writes, refused, usual, allowed }: Pause): DomainError {
  const message = `The token is paused in base "${baseId}": it wrote ${writes + refused} changes in an hour, and usually ${usual}.`
  return oneFault('FORBIDDEN', message, {
    path: '',
    code: 'paused',
    message: `Stop writing, and tell a person: review request "${request}" resumes the token. It can read.`,
    expected: { changes_in_an_hour: allowed },
    received: writes + refused,
  })
}
