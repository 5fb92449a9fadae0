import { authorAt, logResources } from '../../log/log-rows.ts'
import { STAMP } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { statement } from '../../storage/database/client.ts'
import { formerVersion } from './former-version.ts'
import type { RelationshipRow } from './relationship.ts'

const LAST_VERSION = formerVersion(
  '$1',
  `SELECT max(c.version) FROM plinth.change c
         WHERE c.kind = 'relationship' AND c.base_id = $1 AND c.id = i.id COLLATE "C"`,
)

/** The state of link row `link` for its log entry. */
const stateOf = (link: string): string => `jsonb_build_object('rel_type', ${link}.rel_type,
       'source_record_type', ${link}.source_record_type, 'source_id', ${link}.source_id,
       'target_record_type', ${link}.target_record_type, 'target_id', ${link}.target_id,
       'data', ${link}.data, 'external_id', ${link}.external_id, 'external_source', ${link}.external_source)`

/**
 * Inserts log entries for the links in `from`. `author` has five expressions: the placeholders that
 * `authorship(scope)` is bound to; `cause` is another one.
 */
export const logLinks = (
  from: string,
  operation: 'create' | 'update' | 'delete',
  author: string,
  cause?: string,
): string =>
  logResources({
    ...{
      base: 'w.base_id',
      kind: "'relationship'",
      id: 'w.id',
      operation: `'${operation}'`,
      data: stateOf('w'),
    },
    version: `w.version${operation === 'delete' ? ' + 1' : ''}`,
    ...{ author, cause, from: `${from} w` },
  })

const end = (side: 'source' | 'target'): string => `LEFT JOIN LATERAL (
     SELECT r.row_no, r.id FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = i.${side}_type COLLATE "C" AND r.id = i.${side}_id COLLATE "C"
     UNION ALL
     SELECT r.row_no, r.id FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = i.${side}_type COLLATE "C"
       AND r.external_source = i.${side}_system COLLATE "C" AND r.external_id = i.${side}_external COLLATE "C"
     LIMIT 1) ${side} ON true`

const NAMES = 'rel_type, source_record_type, source_id, target_record_type, target_id'
const named = (link: string): string =>
  `CASE WHEN ${link}.id IS NOT NULL THEN jsonb_build_array(${[`id`, ...NAMES.split(', ')].map((name) => `${link}.${name}`).join(', ')}) END AS ${link}`

/**
 * Looks up the state for writing links, one row per link, numbered by `n` from 1: the row numbers of its
 * ends, the existing link between them (`held`), the link with its id (`same_id`) or its external pair
 * (`same_pair`), and links that conflict by cardinality. Lateral joins force index look-ups in any plan.
 */
export const FIND_LINKS = statement(
  'find_links',
  `SELECT i.n::int AS n, source.row_no::text AS source_row, source.id AS source_id,
     target.row_no::text AS target_row, target.id AS target_id,
     held.id AS held_id, held.version AS held_version, CASE WHEN i.keeps THEN held.data END AS held_data,
     ${['same_id', 'same_pair', 'other_target', 'other_source'].map(named).join(',\n     ')}
   FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]),
     (SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::text[]), (SELECT $12::text[]), (SELECT $13::text[]), (SELECT $14::boolean[]))
     WITH ORDINALITY AS i (rel_type, source_type, source_id, source_system,
     source_external, target_type, target_id, target_system, target_external, id, system, external, keeps, n)
   ${end('source')}
   ${end('target')}
   LEFT JOIN LATERAL (
     SELECT id, version, data FROM plinth.relationship l
     WHERE l.source_row = source.row_no AND l.rel_type = i.rel_type COLLATE "C" AND l.target_row = target.row_no LIMIT 1) held ON true
   LEFT JOIN LATERAL (
     SELECT id, ${NAMES} FROM plinth.relationship l WHERE l.base_id = $1 AND l.id = i.id COLLATE "C" LIMIT 1) same_id ON true
   LEFT JOIN LATERAL (
     SELECT id, ${NAMES} FROM plinth.relationship l
     WHERE l.base_id = $1 AND l.rel_type = i.rel_type COLLATE "C" AND l.external_source = i.system COLLATE "C"
       AND l.external_id = i.external COLLATE "C" AND l.external_id IS NOT NULL LIMIT 1) same_pair ON true
   LEFT JOIN LATERAL (
     SELECT id, ${NAMES} FROM plinth.relationship l
     WHERE l.source_row = source.row_no AND l.rel_type = i.rel_type COLLATE "C" AND l.one_target LIMIT 1) other_target ON true
   LEFT JOIN LATERAL (
     SELECT id, ${NAMES} FROM plinth.relationship l
     WHERE l.target_row = target.row_no AND l.rel_type = i.rel_type COLLATE "C" AND l.one_source LIMIT 1) other_source ON true`,
)

/** Parameters of a look-up: the link's id and type, then the type and id of each end. */
export type NamedLink = [
  id: string,
  relType: string,
  sourceRecordType: string,
  sourceId: string,
  targetRecordType: string,
  targetId: string,
]
export type FoundLink = {
  n: number
  source_row: string | null
  source_id: string | null
  target_row: string | null
  target_id: string | null
  held_id: string | null
  held_version: number | null
  held_data: unknown
  same_id: NamedLink | null
  same_pair: NamedLink | null
  other_target: NamedLink | null
  other_source: NamedLink | null
}

/** The cause of a link, else that of the transaction. */
const LOCK_TYPE = `ty AS MATERIALIZED (
     SELECT 1 FROM plinth.relationship_type WHERE base_id = $1 AND id = $2 AND ${STAMP} = $3 FOR KEY SHARE)`
const WRITTEN = 'id, external_source, external_id, version, created_at, updated_at'
const STALE = `SELECT 'stale_type', NULL, NULL, NULL, 0, now(), now() WHERE NOT EXISTS (SELECT FROM ty)`

/** Result row of a writing statement: the link, or that the stamp of its type is stale. */
export type WrittenLink = Pick<
  RelationshipRow,
  'id' | 'external_source' | 'external_id' | 'version' | 'created_at' | 'updated_at'
> & { kind: 'created' | 'updated' | 'unchanged' | 'stale_type' }

/**
 * Creates links of one type. Locks the type (KEY SHARE) at the stamp the links were validated against, then
 * their ends by row number. Returns no row for a link whose end is gone, or that violates a unique index.
 * Inserts in the order of the ends, against deadlocks between groups with common links.
 */
export const CREATE_LINKS = statement(
  'create_links',
  `WITH ${LOCK_TYPE},
   i AS MATERIALIZED (
     SELECT * FROM unnest((SELECT $6::text[]), (SELECT $7::boolean[]), (SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::bigint[]),
       (SELECT $11::text[]), (SELECT $12::text[]), (SELECT $13::bigint[]), (SELECT $14::jsonb[]), (SELECT $15::text[]), (SELECT $16::text[]), (SELECT $17::text[]))
       AS i (id, is_new_id, source_type, source_id, source_row, target_type, target_id, target_row, data, system, external, cause)),
   ends AS MATERIALIZED (
     SELECT row_no FROM plinth.record
     WHERE EXISTS (SELECT FROM ty) AND row_no = ANY (ARRAY(SELECT source_row FROM i UNION SELECT target_row FROM i))
     ORDER BY row_no FOR KEY SHARE),
   w AS (
     INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row,
       target_record_type, target_id, target_row, data, external_source, external_id, version, one_target, one_source)
     SELECT $1, i.id, $2, i.source_type, i.source_id, i.source_row, i.target_type, i.target_id, i.target_row, i.data, i.system,
       i.external, CASE WHEN i.is_new_id THEN 1 ELSE 1 + ${LAST_VERSION} END, $4::boolean, $5::boolean
     FROM i
     WHERE i.source_row IN (SELECT row_no FROM ends) AND i.target_row IN (SELECT row_no FROM ends)
     ORDER BY i.source_row, i.target_row, i.id
     ON CONFLICT DO NOTHING RETURNING *),
   caused AS (SELECT w.*, i.cause FROM w JOIN i ON i.id COLLATE "C" = w.id),
   logged AS (${logLinks('caused', 'create', authorAt(18), 'w.cause')})
   SELECT 'created' AS kind, ${WRITTEN} FROM w
   UNION ALL ${STALE}`,
)

/** Replaces the data of links of one type, and their pairs if given. A `version` must be the current one. */
export const UPDATE_LINKS = statement(
  'update_links',
  `WITH ${LOCK_TYPE},
   i AS MATERIALIZED (
     SELECT * FROM unnest((SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::jsonb[]), (SELECT $7::text[]), (SELECT $8::text[]), (SELECT $9::text[]))
       AS i (id, version, data, system, external, cause)),
   held AS MATERIALIZED (
     SELECT * FROM plinth.relationship
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND id = ANY ((SELECT $4::text[])::text[]) AND rel_type = $2
     ORDER BY source_row, target_row FOR NO KEY UPDATE),
   due AS MATERIALIZED (
     SELECT i.*, (held.data, coalesce(i.system, held.external_source), coalesce(i.external, held.external_id))
       IS NOT DISTINCT FROM (i.data, held.external_source, held.external_id) AS is_same
     FROM held JOIN i ON i.id COLLATE "C" = held.id
     WHERE i.version IS NULL OR i.version = held.version),
   w AS (
     UPDATE plinth.relationship r SET data = due.data, version = r.version + 1, updated_at = now(), valid = true,
       external_source = coalesce(due.system, r.external_source), external_id = coalesce(due.external, r.external_id)
     FROM due
     WHERE NOT due.is_same AND r.base_id = $1 AND r.id = ANY ((SELECT $4::text[])::text[]) AND r.id = due.id COLLATE "C"
     RETURNING r.*, due.cause),
   logged AS (${logLinks('w', 'update', authorAt(10), 'w.cause')})
   SELECT 'updated' AS kind, ${WRITTEN} FROM w
   UNION ALL SELECT 'unchanged', ${WRITTEN.split(', ')
     .map((column) => `held.${column}`)
     .join(', ')} FROM held JOIN due ON due.id COLLATE "C" = held.id WHERE due.is_same
   UNION ALL ${STALE}`,
)

/**
 * Deletes links with log entries. A `version` must be the current one. The count forces all locks before the
 * deletion.
 */
export const DELETE_LINKS = statement(
  'delete_links',
  `WITH held AS MATERIALIZED (
     SELECT id FROM plinth.relationship WHERE base_id = $1 AND id = ANY ((SELECT $2::text[])::text[])
     ORDER BY source_row, rel_type, target_row FOR UPDATE),
   w AS (
     DELETE FROM plinth.relationship r
     WHERE (SELECT count(*) FROM held) > 0 AND r.base_id = $1 AND r.id = ANY ((SELECT $2::text[])::text[])
       AND ($3::int IS NULL OR r.version = $3)
     RETURNING r.*),
   logged AS (${logLinks('w', 'delete', authorAt(4))})
   SELECT id, version + 1 AS version FROM w`,
)

const importedEnd = (side: 'source' | 'target'): string => `CROSS JOIN LATERAL (
     SELECT r.row_no FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = i.${side}_record_type COLLATE "C" AND r.id = i.${side}_id COLLATE "C" OFFSET 0) ${side}`

/** Inserts the links `$3` of the type `$2` as an export has them; `$4`, `$5`: what its cardinality says. Those without both ends are left out. */
export const IMPORT_LINKS = statement(
  'import_links',
  `WITH w AS (
     INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row, target_record_type, target_id,
       target_row, data, external_source, external_id, version, valid, one_target, one_source, created_at, updated_at)
     SELECT $1, i.id, $2, i.source_record_type, i.source_id, source.row_no, i.target_record_type, i.target_id,
       target.row_no, i.data, i.external_source, i.external_id, i.version, i.valid, $4, $5, i.created_at, i.updated_at
     FROM jsonb_to_recordset($3::jsonb) AS i (id text, source_record_type text, source_id text, target_record_type text, target_id text,
       data jsonb, external_source text, external_id text, version int, valid boolean, created_at timestamptz, updated_at timestamptz)
     ${importedEnd('source')}
     ${importedEnd('target')}
     RETURNING 1)
   SELECT count(*)::int AS count FROM w`,
)
