/** Copies some records of a base, and the relationships among them, in one statement each. */
import { LIMITS } from '../../foundation/limits.ts'
import { authorship, type Scope } from '../core/scope.ts'
import { copying } from '../data/ledger/bring-back.ts'
import { logLinks } from '../data/ledger/relationship-statements.ts'
import { authorAt } from '../log/log-rows.ts'
import { statement } from '../storage/database/client.ts'

/** Copies the newest records of each type. If they exceed the bytes, each type gets fewer. */
const COPY_RECORDS = copying(
  'copy_sample_records',
  `newest AS (
     SELECT r.*, sum(r.bytes) OVER (ORDER BY r.n, r.record_type) AS total
     FROM plinth.record_type t CROSS JOIN LATERAL (
       SELECT s.*, pg_column_size(s.data) AS bytes, row_number() OVER (ORDER BY s.created_at DESC, s.id DESC) AS n FROM (
         SELECT * FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = t.id
         ORDER BY r.created_at DESC, r.id DESC LIMIT ${LIMITS.previewSample}) s) r
     WHERE t.base_id = $1),
   copied AS (SELECT * FROM newest WHERE total <= ${LIMITS.previewSampleBytes})`,
)

// Laterals with OFFSET 0 read by index from the copied records, in any plan.
const COPY_LINKS = statement(
  'copy_sample_links',
  `WITH copied AS MATERIALIZED (
     SELECT o.row_no AS was, c.row_no AS is FROM plinth.record c CROSS JOIN LATERAL (
       SELECT r.row_no FROM plinth.record r
       WHERE r.base_id = $1 AND r.record_type = c.record_type AND r.id = c.id OFFSET 0) o
     WHERE c.base_id = $2),
   w AS (
     INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row, target_record_type,
       target_id, target_row, data, external_source, external_id, version, valid, one_target, one_source, created_at, updated_at)
     SELECT $2, l.id, l.rel_type, l.source_record_type, l.source_id, s.is, l.target_record_type,
       l.target_id, t.is, l.data, l.external_source, l.external_id, $8::int, l.valid, l.one_target, l.one_source, l.created_at, l.updated_at
     FROM copied s CROSS JOIN LATERAL (
       SELECT * FROM plinth.relationship r WHERE r.source_row = s.was OFFSET 0) l
     JOIN copied t ON t.was = l.target_row
     RETURNING *),
   logged AS (${logLinks('w', 'create', authorAt(3))})
   SELECT count(*)::int AS copied FROM w`,
)

/** Copies the newest records of each type into a base with the same configuration and no records, each as its `version`. */
export async function copySample(scope: Scope, from: string, to: string, version: number): Promise<void> {
  const values = [from, to, ...authorship(scope), version]
  await scope.db.query(COPY_RECORDS, values)
  await scope.db.query(COPY_LINKS, values)
}
