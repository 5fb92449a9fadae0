/** Inserts whole states of records: of the log, when deleted records come back, and of another base. */

import { authorAt, logRecords } from '../../log/log-rows.ts'
import { statement } from '../../storage/database/client.ts'
import { writeStatement } from '../indexes/index.ts'
import { lockedType } from './locked-type.ts'
import { COLUMNS_BUT_DATA, type RowButData } from './record.ts'

/** Inserts `rows`, in the order of the columns. */
const insertedWhole = (rows: string): string => `INSERT INTO plinth.record
       (base_id, record_type, id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at)
     ${rows}`

/**
 * Brings back deleted records `$3` in the state of their versions `$4`, each with its next version, with the causes `$5`;
 * `$6`: whether the schema accepts them. Of one record: `$12` is the revision that the type, and `$13` the last version
 * that the record must have. Returns no row for it otherwise. Versions are unique: of two at once, one finds the record taken.
 */
export const BRING_BACK = writeStatement(
  'bring_back_records',
  (entries) => `WITH ${lockedType('($12::int IS NULL OR revision = $12)')},
   s AS MATERIALIZED (
     SELECT c.id, c.external_source, c.external_id, c.data, 1 + last.version AS version, c.cancelled_at, i.valid,
       coalesce(c.created_at, c.at) AS created_at, i.cause
     FROM unnest($3::text[], $4::int[], $5::text[], $6::boolean[]) AS i (id, version, cause, valid)
     CROSS JOIN LATERAL (
       SELECT * FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
     CROSS JOIN LATERAL (
       SELECT version FROM plinth.change l
       WHERE l.kind = 'record' AND l.base_id = $1 AND l.record_type = $2 AND l.id = i.id COLLATE "C" ORDER BY l.version DESC LIMIT 1) last
     WHERE EXISTS (SELECT FROM ty) AND ($13::int IS NULL OR last.version = $13)),
   made AS (
     ${insertedWhole('SELECT $1, $2, id, external_source, external_id, data, version, cancelled_at, valid, created_at, now() FROM s ORDER BY id')}
     ON CONFLICT DO NOTHING RETURNING *),
   w AS (SELECT made.*, s.cause FROM made JOIN s ON s.id = made.id),
   logged AS (${logRecords({ operation: "'restore'", author: authorAt(7), cause: 'w.cause' })})${entries}
   SELECT 'restored' AS kind, ${COLUMNS_BUT_DATA} FROM w
   UNION ALL
   SELECT CASE WHEN (
       SELECT true FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = $2
         AND r.external_source = s.external_source AND r.external_id = s.external_id AND r.id <> s.id LIMIT 1)
     THEN 'pair_taken' ELSE 'retry' END, id, external_source, external_id, version, cancelled_at, valid, created_at, created_at
   FROM s WHERE id NOT IN (SELECT id FROM w)`,
)
export type BroughtBackRow = RowButData & { readonly kind: 'restored' | 'pair_taken' | 'retry' }

/** Copies the records of the CTE `copied` of `input` into the base `$2`, as their version `$8`; `$3` to `$7`: the author. */
export const copying = (name: string, input: string) =>
  statement(
    name,
    `WITH ${input},
   w AS (
     ${insertedWhole(`SELECT $2, record_type, id, external_source, external_id, data, $8::int, cancelled_at, valid, created_at, updated_at
     FROM copied`)}
     RETURNING *),
   logged AS (${logRecords({ operation: "'create'", author: authorAt(3) })})
   SELECT count(*)::int AS copied FROM w`,
  )

/** Inserts the records `$3` of the type `$2` as an export has them. Their log rows come with it. */
export const IMPORT_RECORDS = statement(
  'import_records',
  `WITH w AS (
     ${insertedWhole(`SELECT $1, $2, id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at
     FROM jsonb_to_recordset($3::jsonb) AS i (id text, external_source text, external_id text, data jsonb, version int,
       cancelled_at timestamptz, valid boolean, created_at timestamptz, updated_at timestamptz)`)}
     RETURNING 1)
   SELECT count(*)::int AS count FROM w`,
)
