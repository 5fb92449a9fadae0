/** Which records or links of some types have been written since an entry of the log. */
import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../storage/database/client.ts'

// The sort keeps the planner on the key of the log, and OFFSET keeps the conditions out of it.
const WRITTEN = statement(
  'written_since',
  `WITH step AS MATERIALIZED (
     SELECT seq, kind, record_type, id, CASE WHEN kind = 'relationship' THEN data ->> 'rel_type' END AS rel_type
     FROM plinth.change WHERE base_id = $1 AND seq > $2 ORDER BY seq LIMIT ${LIMITS.writtenSinceStep})
   SELECT s.entries, s.last, w.type, w.ids
   FROM (SELECT count(*)::int AS entries, max(seq)::float8 AS last FROM step) s LEFT JOIN (
     SELECT coalesce(rel_type, record_type) AS type, array_agg(DISTINCT id) AS ids FROM step
     WHERE kind = $3 AND coalesce(rel_type, record_type) = ANY ($4::text[]) GROUP BY 1) w ON true`,
)

type Row = { entries: number; last: number; type: string | null; ids: string[] | null }

/** A step of the log: its entries, and the ids that they name, by type. */
export type Written = { readonly entries: number; readonly written: ReadonlyMap<string, readonly string[]> }

/** Reads the log of a base after an entry in steps, until there is no more. One step reads it for all types. */
export async function* writtenSince(
  db: Db,
  baseId: string,
  since: number,
  kind: 'record' | 'relationship',
  types: readonly string[],
): AsyncGenerator<Written> {
  for (let after = since; ; ) {
    const rows: readonly Row[] = await db.query<Row>(WRITTEN, [baseId, after, kind, types])
    const { entries = 0, last = after } = rows[0] ?? {}
    const written = new Map(rows.flatMap(({ type, ids }) => (type && ids ? [[type, ids]] : [])))
    if (entries > 0) yield { entries, written }
    if (entries < LIMITS.writtenSinceStep) return
    after = last
  }
}
