/** The SQL of an upsert: locks the type, finds the record by pair or id, writes it and its log entry. */
import { RECORD_LOG_COLUMNS } from '../change-log/entry.ts'
import { writeStatement } from '../indexes/index.ts'
import { formerVersion } from './former-version.ts'
import { COLUMNS_BUT_DATA, type RowButData } from './record.ts'

const LAST_VERSION = formerVersion(
  '$1',
  `SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3`,
)

const LAST_VERSION_OF_EACH = formerVersion(
  '$1',
  `SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C"`,
)

/**
 * Upsert in one statement. Locks the type's row (KEY SHARE) at the revision the data was validated against,
 * finds the target by pair, then by id, writes record and log entry together, and returns the outcome as
 * `kind`. `retry` means a race with another writer; `stale_type` means that the schema has changed.
 */
export const PUT = writeStatement(
  'put_record',
  (entries) => `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $10 FOR KEY SHARE),
   s AS MATERIALIZED (SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3),
   p AS MATERIALIZED (
     SELECT * FROM plinth.record
     WHERE $6::text IS NOT NULL AND base_id = $1 AND record_type = $2 AND external_source = $5 AND external_id = $6),
   t AS MATERIALIZED (
     SELECT p.*, true AS by_pair, EXISTS (SELECT FROM s WHERE s.id <> p.id) AS clash FROM p
     UNION ALL SELECT s.*, false, false FROM s WHERE NOT EXISTS (SELECT FROM p)),
   ins AS (
     INSERT INTO plinth.record AS r (base_id, record_type, id, external_source, external_id, data, version)
     SELECT $1, $2, $3, $5, $6, $4::jsonb, 1 + ${LAST_VERSION}
     WHERE EXISTS (SELECT FROM ty) AND NOT EXISTS (SELECT FROM t) AND $7::int[] IS NULL AND NOT $8::bool
     ON CONFLICT DO NOTHING RETURNING r.*),
   upd AS (
     UPDATE plinth.record r SET data = $4::jsonb, version = r.version + 1, updated_at = now(), valid = true,
       external_source = coalesce($5, r.external_source), external_id = coalesce($6, r.external_id)
     WHERE EXISTS (SELECT FROM ty) AND NOT $9::bool
       -- One row at most, and as a scalar: as a join the plan would read every record of the type.
       AND r.base_id = $1 AND r.record_type = $2 AND r.id = (SELECT t.id FROM t WHERE NOT t.clash)
       AND ($7::int[] IS NULL OR r.version = ANY ($7))
       AND (NOT (SELECT t.by_pair FROM t) OR (r.external_source = $5 AND r.external_id = $6))
       AND (r.data IS DISTINCT FROM $4::jsonb
         OR ($6::text IS NOT NULL AND (r.external_source, r.external_id) IS DISTINCT FROM ($5, $6)))
     RETURNING r.*),
   w AS (SELECT 'create' AS op, ins.* FROM ins UNION ALL SELECT 'update', upd.* FROM upd),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, op, version, data, external_source, external_id, cancelled_at, created_at, $11, $12, $13, $14, $15::jsonb FROM w)${entries}
   SELECT op || 'd' AS kind, id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at FROM w
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN clash THEN 'pair_taken' WHEN $9 AND by_pair THEN 'pair_taken'
       WHEN $9 THEN 'exists' WHEN $7::int[] IS NOT NULL AND version <> ALL ($7) THEN 'version_mismatch'
       WHEN data = $4::jsonb AND ($6::text IS NULL OR (external_source, external_id) IS NOT DISTINCT FROM ($5, $6)) THEN 'unchanged'
       ELSE 'retry' END,
     id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at
     FROM t WHERE NOT EXISTS (SELECT FROM w)
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN $7::int[] IS NOT NULL OR $8 THEN 'not_found' ELSE 'retry' END,
     $3, NULL, NULL, 0, NULL, true, now(), now()
     WHERE NOT EXISTS (SELECT FROM t) AND NOT EXISTS (SELECT FROM w)`,
)

/** Result row of a writing statement. */
export type WrittenRow = RowButData
/** Result row of a bulk upsert. */
export type PutRow = WrittenRow & { readonly kind: 'created' | 'updated' }

/**
 * Bulk upsert of records of one type by id, for the most common write, at a third of the cost. Keeps the
 * pairs. Returns no row for a record that is unchanged, or that another writer creates at the same time. Locks and
 * inserts in id order against deadlocks. The arrays are in subqueries, because the planner would create a custom plan
 * for each array length.
 */
export const PUT_MANY = writeStatement(
  'put_records',
  (entries) => `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $3 FOR KEY SHARE),
   locked AS MATERIALIZED (
     SELECT id FROM plinth.record
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY ((SELECT $4::text[])::text[]) ORDER BY id FOR NO KEY UPDATE),
   upd AS (
     UPDATE plinth.record r SET data = i.data, version = r.version + 1, updated_at = now(), valid = true
     FROM unnest((SELECT $4::text[]), (SELECT $5::jsonb[]), (SELECT $6::text[]), (SELECT $10::jsonb[])) AS i (id, data, request_id, call)
     -- Counted, as a mere EXISTS would lock the first of them only.
     WHERE (SELECT count(*) FROM locked) > 0 AND r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ((SELECT $4::text[])::text[])
       AND r.id = i.id COLLATE "C" AND r.data IS DISTINCT FROM i.data
     RETURNING r.*, i.request_id, i.call),
   ins AS (
     INSERT INTO plinth.record AS r (base_id, record_type, id, data, version)
     SELECT $1, $2, i.id, i.data, 1 + ${LAST_VERSION_OF_EACH}
     FROM unnest((SELECT $4::text[]), (SELECT $5::jsonb[])) AS i (id, data)
     WHERE EXISTS (SELECT FROM ty) AND (SELECT count(*) FROM locked) < cardinality((SELECT $4::text[]))
       AND i.id COLLATE "C" NOT IN (SELECT id FROM locked)
     ORDER BY i.id COLLATE "C"
     ON CONFLICT DO NOTHING RETURNING r.*),
   w AS (
     SELECT 'update' AS op, upd.* FROM upd
     UNION ALL SELECT 'create', ins.*, i.request_id, i.call
     FROM ins JOIN unnest((SELECT $4::text[]), (SELECT $6::text[]), (SELECT $10::jsonb[])) AS i (id, request_id, call) ON i.id COLLATE "C" = ins.id),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, op, version, data, external_source, external_id, cancelled_at, created_at, $7, $8, $9, request_id, call FROM w)${entries}
   SELECT op || 'd' AS kind, ${COLUMNS_BUT_DATA} FROM w`,
)

/**
 * Insert without conflict handling. Returns no row when the id or the pair is taken, or the revision of the
 * type is stale.
 */
export const CREATE = writeStatement(
  'create_record',
  (entries) => `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $7 FOR KEY SHARE),
   w AS (
     INSERT INTO plinth.record (base_id, record_type, id, external_source, external_id, data, version)
     SELECT $1, $2, $3, $5, $6, $4::jsonb, 1 + ${LAST_VERSION}
     WHERE EXISTS (SELECT FROM ty)
     ON CONFLICT DO NOTHING RETURNING *),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, 'create', version, data, external_source, external_id, cancelled_at, created_at, $8, $9, $10, $11, $12::jsonb FROM w)${entries}
   SELECT ${COLUMNS_BUT_DATA} FROM w`,
)

/** Bulk insert of records with server-generated ids and without pairs. */
export const CREATE_MANY = writeStatement(
  'create_records',
  (entries) => `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $3 FOR KEY SHARE),
   w AS (
     INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT $1, $2, i.id, i.data, 1 FROM unnest((SELECT $4::text[]), (SELECT $5::jsonb[])) AS i (id, data) WHERE EXISTS (SELECT FROM ty)
     ON CONFLICT DO NOTHING RETURNING *),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, w.id, 'create', version, data, external_source, external_id, cancelled_at, created_at, $7, $8, $9, i.request_id, i.call
     FROM w JOIN unnest((SELECT $4::text[]), (SELECT $6::text[]), (SELECT $10::jsonb[])) AS i (id, request_id, call) ON i.id COLLATE "C" = w.id)${entries}
   SELECT ${COLUMNS_BUT_DATA} FROM w`,
)
