/** How often a token has written in an hour or a day: by a rule of its grants, or in any way to a base. */
import { digest } from '../../../contract/canonical-hash.ts'
import type { Scope } from '../../core/scope.ts'
import type { AutoRule } from '../../storage/access/grants.ts'
import { type Db, statement, timed } from '../../storage/database/client.ts'

/**
 * The tabs of a browser count with the token that opened them, and a client with the token that allowed it where that has a
 * policy of its writes itself: else it would have its bounds once for each client.
 */
export const ownerOf = (place: string): string =>
  `coalesce((SELECT signed_in_by FROM plinth.token WHERE id = ${place}),
     (SELECT a.granted_by FROM plinth.oauth_authorization a JOIN plinth.token g ON g.id = a.granted_by
      WHERE a.token_id = ${place} AND g.grants @? '$[*].writes'), ${place})`

// The row is locked until the commit, so that writes at once count one after another. Without a number, drafts are counted.
const COUNT = timed(
  statement(
    'count_writes',
    `INSERT INTO plinth.automatic_write AS w (token_id, rule, since, used)
     VALUES (${ownerOf('$1')}, $2, date_trunc($3, now()), coalesce($4::int, plinth_draft.drafted()))
     ON CONFLICT (token_id, rule, since) DO UPDATE SET used = w.used + excluded.used
     RETURNING used, coalesce($4::int, plinth_draft.drafted()) AS added, allowed, token_id, since`,
  ),
)
const SWEEP = statement(
  'sweep_counts_of_writes',
  `DELETE FROM plinth.automatic_write
   WHERE since < now() - CASE WHEN rule LIKE 'base/%' THEN interval '15 days' ELSE interval '2 days' END`,
)

/** What a row is the count of: a rule, or a rule in one request. */
export const ruleKey = (rule: AutoRule, request?: string): string =>
  digest(request === undefined ? rule : [rule, request])
export const baseKey = (baseId: string): string => `base/${baseId}`

export type Count = {
  readonly used: number
  readonly added: number
  readonly allowed: number | null
  readonly token_id: string
  readonly since: string
}

/** Counts writes in the transaction that makes them; null for the drafts that it has written. */
export async function countWrites(
  { db, actor }: Scope,
  key: string,
  per: 'hour' | 'day',
  writes: number | null,
): Promise<Count> {
  const [row] = await db.query<Count>(COUNT, [actor.tokenId, key, per, writes])
  if (!row) throw new Error('Invariant violated: writes were not counted')
  return row
}

/** Removes counts of times that are over, and no longer tell what is usual. */
export const sweepCounts = (db: Db): Promise<unknown> => db.query(SWEEP, [])
