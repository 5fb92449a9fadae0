/** Finds the records that changed schemas may no longer accept, of all types in one scan. */
import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import type { Statement } from '../../storage/database/client.ts'
import type { AffectedRecords } from './affected-records.ts'
import { breakingCondition, breaksLength, LENGTH_COLUMNS, satisfies } from './breaking-condition.ts'

// Without a name it is planned for its values: what part of the table the types are decides between their index and a
// scan by parallel workers. The planner expects few rows of an equality, so that the workers pay. They cannot run a
// subquery, so each rule of a length is joined beside the path of its type.
const SUSPECTS: Statement = {
  name: '',
  text: `WITH suspect AS MATERIALIZED (
     SELECT r.record_type, r.id FROM plinth.record r
       JOIN jsonb_to_recordset($3::jsonb) AS t (id text, path jsonpath, ${LENGTH_COLUMNS}) ON t.id = r.record_type COLLATE "C"
     WHERE r.base_id = $1 AND r.record_type = ANY ($2::text[])
       AND (CASE WHEN t.name IS NULL THEN NOT r.valid OR ${satisfies('r.data', 't.path')}
         ELSE ${breaksLength('r.data', 't')} END)::int = 1),
   counted AS (
     SELECT record_type, sum(count(*)) OVER (ORDER BY count(*), record_type) AS so_far FROM suspect GROUP BY record_type)
   SELECT c.record_type AS type, array_agg(DISTINCT s.id) FILTER (WHERE s.id IS NOT NULL) AS ids
   FROM counted c LEFT JOIN suspect s ON s.record_type = c.record_type AND c.so_far <= ${LIMITS.possiblyInvalidRecords} GROUP BY c.record_type`,
}

type Row = { type: string; ids: string[] | null }

/** Ids by type. A type that is absent has no suspects; null: it has too many to list. */
export type PossiblyInvalid = ReadonlyMap<string, readonly string[] | null>

/** Finds the suspects of types whose affected records are described. */
export async function possiblyInvalidOf(
  scope: Scope,
  baseId: string,
  types: readonly { readonly id: string; readonly affected: AffectedRecords }[],
): Promise<PossiblyInvalid> {
  const suspects = new Map<string, readonly string[] | null>()
  const conditions: string[] = []
  const ids: string[] = []
  let room: number = LIMITS.possiblyInvalidChars
  for (const { id, affected } of types) {
    if (typeof affected === 'string') continue
    const { path, lengths } = breakingCondition(affected)
    const ofType = [{ path }, ...(lengths ?? [])].map((one) => JSON.stringify({ id, ...one }))
    room -= ofType.join().length
    if (room < 0) suspects.set(id, null)
    else {
      ids.push(id)
      conditions.push(...ofType)
    }
  }
  if (conditions.length === 0) return suspects
  const rows = await read<Row>(scope, SUSPECTS, [baseId, ids, `[${conditions.join()}]`])
  for (const { type, ids: found } of rows) suspects.set(type, found)
  return suspects
}
