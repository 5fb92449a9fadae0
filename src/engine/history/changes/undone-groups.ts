/** How many changes of a group are undone, and which request undid all of them. */
import { read, type Scope } from '../../core/scope.ts'
import { ofRequestWithin, type SeqRange } from '../../log/ranges.ts'
import { packCall, unpackCall } from '../../log/tool-call.ts'
import { shaped } from '../../storage/database/client.ts'
import type { Conditions, GroupKey } from './find-groups.ts'

/**
 * The groups with entries that are undone, how many, and by which request the last. An entry is undone if its last revert is in
 * effect: it has no revert itself, or one that is undone. A cascade has a cause too, but of another resource.
 */
const undoneAmong = (
  roots: string,
) => `WITH RECURSIVE chain (n, root, seq, kind, record_type, id, depth, by) AS (
     ${roots}
     UNION ALL
     SELECT p.n, p.root, i.seq, p.kind, p.record_type, p.id, p.depth + 1, coalesce(p.by, i.request_id)
     FROM chain p CROSS JOIN LATERAL (
       SELECT i.seq, i.request_id FROM plinth.change i
       WHERE i.base_id = $1 AND i.cause COLLATE "C" = p.seq::text AND i.seq > p.seq AND i.kind = p.kind AND i.id = p.id
         AND i.record_type IS NOT DISTINCT FROM p.record_type
       ORDER BY i.cause COLLATE "C" DESC, i.seq DESC LIMIT 1) i),
   entry AS (
     SELECT n, root, max(depth) % 2 = 1 AS is_undone, max(by) AS by, max(seq) FILTER (WHERE depth = 1) AS undone_at
     FROM chain GROUP BY n, root)
   SELECT n::int AS n, (array_agg(by ORDER BY undone_at DESC))[1] AS by, count(*)::int AS count
   FROM entry WHERE is_undone GROUP BY n`

export type UndoneGroup = { by: string; count: number }

/** The groups of which something is undone, by their number from 1. */
export async function readUndone(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  range: SeqRange,
  keys: readonly GroupKey[],
): Promise<Map<number, UndoneGroup>> {
  const { text, values } = conditions(9)
  const roots = `SELECT g.n, c.seq, c.seq, c.kind, c.record_type, c.id, 0, NULL::text FROM ${entriesOf(text)}
     WHERE EXISTS (SELECT FROM plinth.change i WHERE i.base_id = $1 AND i.cause COLLATE "C" = c.seq::text)`
  const rows = await read<UndoneGroup & { n: number }>(scope, shaped(undoneAmong(roots)), [
    ...askedOf(baseId, range, keys),
    ...values,
  ])
  return new Map(rows.map(({ n, ...undone }) => [n, undone]))
}

/** The entries `c` of the groups `g`, numbered by `g.n` from 1, found by their request. Binds `askedOf`. */
export const entriesOf = (conditions: string, columns = 'seq, at, kind, record_type, id, operation') =>
  `unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])
     WITH ORDINALITY AS g (of_request, of_token, of_name, of_via, of_call, n)
   CROSS JOIN LATERAL (
     SELECT ${columns} FROM plinth.change c
     WHERE base_id = $1 AND request_id COLLATE "C" = g.of_request COLLATE "C" AND ${ofRequestWithin('g.of_request COLLATE "C"')}
       AND token_id IS NOT DISTINCT FROM g.of_token AND actor_name = g.of_name AND via = g.of_via
       AND call IS NOT DISTINCT FROM g.of_call${conditions} OFFSET 0) c`

/** The first values of a statement with `entriesOf`. */
export function askedOf(baseId: string, { after, upTo }: SeqRange, keys: readonly GroupKey[]): unknown[] {
  const of = (part: 'request_id' | 'token_id' | 'actor_name' | 'via') => keys.map((key) => key[part])
  const calls = keys.map(({ call }) => packCall(unpackCall(call)))
  return [baseId, after, upTo, of('request_id'), of('token_id'), of('actor_name'), of('via'), calls]
}
