/** What a token may still write directly, and until when: for an agent that plans. */
import type { Scope } from '../../core/scope.ts'
import { type Grant, listed, proposes, rulesOf } from '../../storage/access/grants.ts'
import { statement, timed } from '../../storage/database/client.ts'
import { ownerOf, ruleKey } from './counts.ts'
import { paceOf } from './pace.ts'

const USED = timed(
  statement(
    'used_bounds',
    `SELECT rule, used, since FROM plinth.automatic_write WHERE token_id = ${ownerOf('$1')}
       AND since IN (date_trunc('hour', now()), date_trunc('day', now()))`,
  ),
)
const PAUSES = timed(
  statement(
    'own_pauses',
    `SELECT base_id, id AS review_request, created_at AS since FROM plinth.review_request
     WHERE token_id = ${ownerOf('$1')} AND kind = 'pause' AND state = 'open' ORDER BY base_id`,
  ),
)
const SPANS = { hour: 3_600_000, day: 86_400_000 } as const

type Used = { rule: string; used: number; since: string }

/** The rules of the grants with what is used of them, its pace, and the bases in which the token is paused; null without a policy and a pause. */
export async function boundsOf(scope: Scope, grants: readonly Grant[]): Promise<object | null> {
  const isWatched = grants.some(proposes)
  if (!isWatched && scope.access.paused.size === 0) return null
  const { db, actor } = scope
  const used = await db.query<Used>(USED, [actor.tokenId])
  const paused = await db.query<object>(PAUSES, [actor.tokenId])
  const now = Date.now()
  const rules = grants.flatMap((grant) =>
    rulesOf(grant).map((rule) => {
      const { per, max } = rule
      const span = per === 'request' ? null : SPANS[per]
      const since = span === null ? null : new Date(now - (now % span)).toISOString()
      const count = used.find((each) => each.rule === ruleKey(rule) && each.since === since)?.used ?? 0
      const ends = span === null ? null : new Date(now - (now % span) + span).toISOString()
      return {
        base: listed(grant.base),
        ...rule,
        used: count,
        remaining: Math.max(0, max - count),
        ends_at: ends,
      }
    }),
  )
  return { rules, pace: isWatched ? await paceOf(scope) : null, paused }
}
