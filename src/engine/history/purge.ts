import { LIMITS } from '../../foundation/limits.ts'
import { KINDS } from '../log/entry.ts'
import { inBatches } from '../storage/database/batched-statements.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { Jobs } from '../storage/database/enqueue-job.ts'
import { sweepWhoProposed } from './who-proposed.ts'

/**
 * Advances the start of the complete history before anything is purged, so that reads of older states are
 * rejected. Returns no row for a base with unlimited history. `trash_from`: deletions before it can no longer
 * be restored.
 */
const BEGIN_PURGE = statement(
  'begin_purge',
  `INSERT INTO plinth.retention AS t (base_id, history_from)
   SELECT id, now() - make_interval(days => (settings ->> 'history_days')::int) FROM plinth.base
   WHERE id = $1 AND settings ->> 'history_days' IS NOT NULL
   ON CONFLICT (base_id) DO UPDATE SET history_from = greatest(t.history_from, excluded.history_from)
   RETURNING history_from, purged_to::text, least(history_from, (
     SELECT now() - make_interval(days => (settings ->> 'trash_days')::int) FROM plinth.base WHERE id = $1)) AS trash_from`,
)

/**
 * Deletes the entries superseded by the next entries after `$2` that are older than `$3`. An entry describes
 * a state until its successor, so it is purged once the successor is old enough. The last entry of each
 * resource has no successor and stays. Lateral joins force index look-ups in any plan.
 */
const PURGE_BATCH = statement(
  'purge_batch',
  `WITH batch AS MATERIALIZED (
     SELECT seq, kind, record_type, id, version, at FROM plinth.change WHERE base_id = $1 AND seq > $2::bigint ORDER BY seq LIMIT ${LIMITS.purgedEntries}),
   reach AS MATERIALIZED (
     SELECT coalesce(min(seq) FILTER (WHERE at > $3) - 1, max(seq)) AS reached, count(*) = ${LIMITS.purgedEntries} AND bool_and(at <= $3) AS more FROM batch),
   due AS MATERIALIZED (
     SELECT DISTINCT ON (kind, record_type, id) * FROM batch WHERE seq <= (SELECT reached FROM reach)
     ORDER BY kind, record_type, id, seq DESC),
   gone AS (
     DELETE FROM plinth.change WHERE base_id = $1 AND seq = ANY (ARRAY(
       SELECT old.seq FROM due d CROSS JOIN LATERAL (
         (SELECT p.seq FROM plinth.change p
          WHERE d.kind = 'record' AND p.kind = 'record' AND p.base_id = $1 AND p.record_type = d.record_type AND p.id = d.id
            AND p.version < d.version LIMIT 10000)
         UNION ALL
         (SELECT p.seq FROM plinth.change p
          WHERE d.kind = 'relationship' AND p.kind = 'relationship' AND p.base_id = $1 AND p.id = d.id
            AND p.version < d.version LIMIT 10000)
         UNION ALL
         (SELECT p.seq FROM plinth.change p
          WHERE d.kind NOT IN ('record', 'relationship') AND p.kind NOT IN ('record', 'relationship') AND p.base_id = $1
            AND p.kind = d.kind AND p.id = d.id AND p.seq < d.seq LIMIT 10000)) old))),
   progress AS (
     UPDATE plinth.retention SET purged_to = greatest(purged_to, (SELECT reached FROM reach))
     WHERE base_id = $1 AND (SELECT reached FROM reach) IS NOT NULL)
   SELECT reached::text, coalesce(more, false) AS more FROM reach`,
)

/**
 * Removes the data of some deletions of the kinds `$2` before `$3`. The fact and the version of the deletion
 * stay.
 */
const EMPTY_DELETIONS = statement(
  'empty_deletions',
  `WITH emptied AS (
     UPDATE plinth.change SET data = NULL, external_source = NULL, external_id = NULL
     WHERE base_id = $1 AND seq = ANY (ARRAY(
       SELECT seq FROM plinth.change
       WHERE base_id = $1 AND kind = ANY ($2::text[]) AND operation = 'delete' AND data IS NOT NULL AND at <= $3
       LIMIT ${LIMITS.purgedEntries}))
     RETURNING 1)
   SELECT count(*)::int AS done FROM emptied`,
)

/** Enqueues a purge for every base with a limited history. */
const ENQUEUE_PURGES = statement(
  'enqueue_purges',
  `SELECT graphile_worker.add_job('purge_history', json_build_object('base', id), job_key => 'purge:' || id)::text
   FROM plinth.base WHERE settings ->> 'history_days' IS NOT NULL`,
)

type Begun = { history_from: Date; trash_from: Date; purged_to: string }
const OTHERS = KINDS.filter((kind) => kind !== 'record')

/**
 * Job: purges expired history in batches. Resumable: completed batches stay done. Keeps the last entry of
 * each resource: it is the current state, or holds the version number for a later re-creation.
 * @throws when the job is stopped
 */
export async function purgeHistory(
  db: Db,
  { base }: Jobs['purge_history'],
  signal: AbortSignal,
): Promise<void> {
  const [begun] = await db.query<Begun>(BEGIN_PURGE, [base])
  if (!begun) return
  let after = begun.purged_to
  for (let more = true; more; ) {
    signal.throwIfAborted()
    const values = [base, after, begun.history_from]
    const [done] = await db.query<{ reached: string | null; more: boolean }>(PURGE_BATCH, values)
    after = done?.reached ?? after
    more = done?.more ?? false
  }
  const empty = (kinds: readonly string[], before: Date) =>
    inBatches(
      db,
      { statement: EMPTY_DELETIONS, values: [base, kinds, before], batch: LIMITS.purgedEntries },
      signal,
    )
  await empty(['record'], begun.trash_from)
  await empty(OTHERS, begun.history_from)
  await sweepWhoProposed(db, base)
}

/** Enqueues a purge for every base with expired history. Duplicate jobs are merged. */
export const purgeHistories = async (db: Db): Promise<void> => void (await db.query(ENQUEUE_PURGES, []))
