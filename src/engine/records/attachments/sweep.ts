import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'

/** Deletes what no upload can complete any more. */
const SWEEP_PENDING = statement(
  'sweep_pending_attachments',
  `DELETE FROM plinth.attachment WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM plinth.attachment
     WHERE status = 'pending' AND created_at < now() - interval '${LIMITS.linkMinutes * 2} minutes' LIMIT ${LIMITS.sweptAttachments}))`,
)

/**
 * Of the next attachments after `$1`, `$2`, deletes those whose record is gone and can no longer be restored. Their
 * contents are then in no use.
 */
const SWEEP_ORPHANS = statement(
  'sweep_orphaned_attachments',
  `WITH batch AS MATERIALIZED (
     SELECT * FROM plinth.attachment WHERE (base_id, id) > ($1, $2) ORDER BY base_id, id LIMIT ${LIMITS.sweptAttachments}),
   gone AS (
     DELETE FROM plinth.attachment a USING batch b
     WHERE a.base_id = b.base_id AND a.id = b.id
       AND (SELECT true FROM plinth.record r
            WHERE r.base_id = b.base_id AND r.record_type = b.record_type AND r.id = b.record_id
              AND r.created_at = b.record_created_at) IS NULL
       AND NOT EXISTS (
         SELECT FROM plinth.change c
         WHERE c.kind = 'record' AND c.base_id = b.base_id AND c.record_type = b.record_type AND c.id = b.record_id
           AND c.operation = 'delete' AND c.at > now() - make_interval(days => (
             SELECT (settings ->> 'trash_days')::int FROM plinth.base WHERE id = b.base_id))))
   SELECT base_id, id FROM batch ORDER BY base_id DESC, id DESC LIMIT 1`,
)

/** Makes the sweep. Each call deletes a bounded number and goes on where the last one ended. */
export function attachmentSweep(db: Db): () => Promise<void> {
  let after: readonly [string, string] = ['', '']
  return async () => {
    await db.query(SWEEP_PENDING, [])
    const [last] = await db.query<{ base_id: string; id: string }>(SWEEP_ORPHANS, after)
    after = last ? [last.base_id, last.id] : ['', '']
  }
}
