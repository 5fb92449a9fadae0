/** Who proposed the changes of groups that promotions of change-sets wrote. Who let them pass is the actor of the group. */
import type { ActorKind } from '../../../contract/shapes.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import type { Author } from '../../log/entry.ts'
import type { SeqRange } from '../../log/ranges.ts'
import { shaped } from '../../storage/database/client.ts'
import type { Conditions, GroupKey } from './find-groups.ts'
import { askedOf, entriesOf } from './undone-groups.ts'

/** A token, and how many changes of the group it proposed. */
export type Proposer = Omit<Author, 'via'> & { count: number }

type Row = { n: number; token_id: string | null; actor_name: string; actor_kind: ActorKind; count: number }

const proposersOf = (conditions: string) => `SELECT n, token_id, actor_name, actor_kind, count FROM (
   SELECT g.n::int AS n, p.token_id, p.actor_name, coalesce(p.actor_kind, 'program') AS actor_kind, count(*)::int AS count,
     row_number() OVER (PARTITION BY g.n ORDER BY count(*) DESC, p.actor_name, p.token_id) AS rank
   FROM ${entriesOf(conditions, 'seq')}
   CROSS JOIN LATERAL (
     SELECT token_id, actor_name, actor_kind FROM plinth.proposed_change p WHERE p.seq = c.seq LIMIT 1) p
   GROUP BY g.n, p.token_id, p.actor_name, coalesce(p.actor_kind, 'program')) a
   WHERE rank <= ${LIMITS.groupProposers} ORDER BY n, rank`

/** Who proposed what a group of these has, by its place: read for all of them once one is asked for. */
export function proposersIn(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  range: SeqRange,
  keys: readonly GroupKey[],
): (place: number) => Promise<readonly Proposer[]> {
  const promoted = keys.filter(({ via }) => via === 'promotion')
  const find = async () => {
    const { text, values } = conditions(9)
    const asked = [...askedOf(baseId, range, promoted), ...values]
    const rows = await read<Row>(scope, shaped(proposersOf(text)), asked)
    return Map.groupBy(rows, ({ n }) => promoted[n - 1])
  }
  let all: ReturnType<typeof find> | undefined
  return async (place) => {
    const key = keys[place]
    if (key?.via !== 'promotion') return []
    all ??= find()
    return ((await all).get(key) ?? []).map(toProposer)
  }
}

const toProposer = ({ token_id, actor_name, actor_kind, count }: Row): Proposer => ({
  tokenId: token_id,
  name: actor_name,
  kind: actor_kind,
  count,
})
