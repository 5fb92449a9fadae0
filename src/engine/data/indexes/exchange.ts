/** Lets records that are written together exchange values of unique indexes. */
import { type Db, statement } from '../../storage/database/client.ts'

/** A record and what is written to it next: its `data`, and its pair; without one it keeps its own. */
export type Becoming = { readonly id: string; readonly after: Readonly<Record<string, unknown>> }

// The write that follows enters the new values of a record as unique again, or removes its entry.
const RELEASE = statement(
  'release_unique_values',
  `UPDATE plinth.record_index x SET is_unique = false
   FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS i (id, external_id, external_source, data)
   JOIN plinth.record r ON r.base_id = $1 AND r.record_type = $2 AND r.id = i.id COLLATE "C"
   JOIN plinth.record_type_index d ON d.base_id = $1 AND d.record_type = $2 AND d.kind = 'unique' AND d.status <> 'failed'
   LEFT JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, coalesce(i.external_id, r.external_id),
     coalesce(i.external_source, r.external_source), r.version, i.data::jsonb, r.cancelled_at, r.created_at, r.updated_at) e ON true
   WHERE x.base_id = $1 AND x.index_id = d.id AND x.id = r.id AND x.is_unique AND (x.k1, x.k2, x.k3) IS DISTINCT FROM (e.k1, e.k2, e.k3)`,
)

const TOGETHER = statement('write_drafts_together', "SELECT set_config('plinth.draft_together', 'on', true)")
const CHECK_TOGETHER = statement('check_drafts_together', 'SELECT plinth_draft.check_together($1, $2, $3)')

/** The same for drafts, each of which is checked as it is written otherwise: what the records `ids` hold is checked after `write`. */
export async function writeDraftsTogether<T>(
  db: Db,
  [baseId, recordType, ids]: readonly [string, string, readonly string[]],
  write: () => Promise<T>,
): Promise<T> {
  await db.query(TOGETHER, [])
  const done = await write()
  await db.query(CHECK_TOGETHER, [baseId, recordType, ids])
  return done
}

/**
 * Gives up the unique values that locked records lose by what the transaction writes to them next, so that others of them may
 * take these in any order.
 */
export const releaseUnique = (
  db: Db,
  baseId: string,
  recordType: string,
  records: readonly Becoming[],
): Promise<unknown> =>
  db.query(RELEASE, [
    ...[baseId, recordType, records.map(({ id }) => id)],
    ...['external_id', 'external_source'].map((name) => records.map(({ after }) => after[name] ?? null)),
    records.map(({ after }) => JSON.stringify(after['data'])),
  ])
