import { ofRequestWithin } from '../../log/seq-range.ts'
import type { SeqRange } from '../../log/time-range.ts'
import { packCall, unpackCall } from '../../log/tool-call.ts'
import type { GroupKey } from './find-groups.ts'

/** The entries `c` of the groups `g`, numbered by `g.n` from 1, found by their request. Binds `askedOf`. */
export const entriesOf = (conditions: string) =>
  `unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])
     WITH ORDINALITY AS g (of_request, of_token, of_name, of_via, of_call, n)
   CROSS JOIN LATERAL (
     SELECT seq, at, kind, record_type, id, operation FROM plinth.change c
     WHERE base_id = $1 AND request_id COLLATE "C" = g.of_request COLLATE "C" AND ${ofRequestWithin('g.of_request COLLATE "C"')}
       AND token_id IS NOT DISTINCT FROM g.of_token AND actor_name = g.of_name AND via = g.of_via
       AND call IS NOT DISTINCT FROM g.of_call${conditions} OFFSET 0) c`

/** The first values of a statement with `entriesOf`. */
export function askedOf(baseId: string, { after, upTo }: SeqRange, keys: readonly GroupKey[]): unknown[] {
  const of = (part: 'request_id' | 'token_id' | 'actor_name' | 'via') => keys.map((key) => key[part])
  const calls = keys.map(({ call }) => packCall(unpackCall(call)))
  return [baseId, after, upTo, of('request_id'), of('token_id'), of('actor_name'), of('via'), calls]
}
