/** Statements that write the lines of an export, some at a time: `$1` is the base. */
import { KINDS } from '../../configuration/kinds.ts'
import { importedEntries } from '../../log/log-rows.ts'
import { statement } from '../../storage/database/client.ts'

// The entries that the import itself has appended: those of the file take their place.
export const CLEAR_LOG = statement('clear_log_of_import', 'DELETE FROM plinth.change WHERE base_id = $1')

/** Appends the entries `$2` in their order, and returns their numbers. `$3`: the former id of the base, which entries of it name. */
export const IMPORT_CHANGES = statement(
  'import_changes',
  `${importedEntries(
    `CASE WHEN i.kind = 'base' AND i.id = $3 THEN $1 ELSE i.id END`,
    `CASE WHEN i.kind = 'base' AND i.id = $3 THEN i.data || jsonb_build_object('id', $1::text)
       WHEN i.kind NOT IN ('record', 'relationship') AND i.data ? 'baseId' THEN i.data || jsonb_build_object('baseId', $1::text)
       ELSE i.data END`,
    `ROWS FROM (jsonb_to_recordset($2::jsonb) AS (at timestamptz, kind text, record_type text, id text, operation text, version int,
       data jsonb, external_source text, external_id text, cancelled_at timestamptz, created_at timestamptz, actor_name text, via text,
       actor_kind text, request_id text, call jsonb, cause text)) WITH ORDINALITY
       AS i (at, kind, record_type, id, operation, version, data, external_source, external_id, cancelled_at, created_at,
         actor_name, via, actor_kind, request_id, call, cause, n)
     ORDER BY i.n`,
  )}
   RETURNING seq::text`,
)

/** The version, and the times, that the last entry of each resource has. */
export const CONFIGURATION_AS_LOGGED = KINDS.map(({ name }) =>
  statement(
    `set_logged_versions_of_${name}`,
    `UPDATE plinth.${name} t SET (version, created_at, updated_at) = (
       SELECT c.version, coalesce((c.data ->> 'createdAt')::timestamptz, c.at), coalesce((c.data ->> 'updatedAt')::timestamptz, c.at)
       FROM plinth.change c WHERE c.kind NOT IN ('record', 'relationship') AND c.base_id = $1 AND c.kind = '${name}' AND c.id = t.id
         AND c.operation <> 'delete' ORDER BY c.seq DESC LIMIT 1)
     WHERE t.base_id = $1`,
  ),
)
export const BASE_AS_EXPORTED = statement(
  'set_exported_base',
  `UPDATE plinth.base SET version = greatest(version, $2::int) + 1, created_at = $3::timestamptz, updated_at = now() WHERE id = $1`,
)
export const HISTORY_FROM = statement(
  'set_history_from',
  'INSERT INTO plinth.retention (base_id, history_from) VALUES ($1, $2::timestamptz)',
)

/** Files `$3` of the type `$2`, then versions of them. */
export const IMPORT_FILES = statement(
  'import_files',
  `INSERT INTO plinth.file (base_id, id, file_type, path, version, content_sha256, size, content_type, metadata, label, created_at,
     updated_at, deleted_at)
   SELECT $1, i.id, $2, i.path, i.version, i.content_sha256, i.size, i.content_type, i.metadata, i.label, i.created_at, i.updated_at,
     i.deleted_at
   FROM json_to_recordset($3::json) AS i (id text, path text, version int, content_sha256 text, size bigint, content_type text,
     metadata json, label text, created_at timestamptz, updated_at timestamptz, deleted_at timestamptz)
   WHERE i.id IS NOT NULL`,
)
export const IMPORT_FILE_VERSIONS = statement(
  'import_file_versions',
  `INSERT INTO plinth.file_version (base_id, file_id, version, content_sha256, size, content_type, label, created_at, created_by)
   SELECT $1, i.file_id, i.version, i.content_sha256, i.size, i.content_type, i.label, i.created_at, i.created_by
   FROM json_to_recordset($2::json) AS i (file_id text, version int, content_sha256 text, size bigint, content_type text, label text,
     created_at timestamptz, created_by text)
   WHERE i.file_id IS NOT NULL`,
)
export const IMPORT_ATTACHMENTS = statement(
  'import_attachments',
  `INSERT INTO plinth.attachment (base_id, id, record_type, record_id, record_created_at, filename, content_type, size, sha256, status,
     actor_name, created_at)
   SELECT $1, i.id, i.record_type, i.record_id, i.record_created_at, i.filename, i.content_type, i.size, i.sha256, 'ready', i.actor_name,
     i.created_at
   FROM jsonb_to_recordset($2::jsonb) AS i (id text, record_type text, record_id text, record_created_at timestamptz, filename text,
     content_type text, size bigint, sha256 text, actor_name text, created_at timestamptz)`,
)

const logged = (
  table: string,
  kind: string,
  and = '',
): string => `SELECT '${kind}' AS kind, r.id FROM plinth.${table} r
   CROSS JOIN LATERAL (SELECT (
     SELECT CASE WHEN c.operation <> 'delete' THEN c.version END FROM plinth.change c
     WHERE c.kind = '${kind}' AND c.base_id = $1${and} AND c.id = r.id ORDER BY c.version DESC LIMIT 1) AS version OFFSET 0) l
   WHERE r.base_id = $1 AND r.version IS DISTINCT FROM l.version`
/** A record or link that is another version than the last one of its history. */
export const NOT_AS_LOGGED = statement(
  'find_rows_not_as_logged',
  `(${logged('record', 'record', ' AND c.record_type = r.record_type')} LIMIT 1)
   UNION ALL (${logged('relationship', 'relationship')} LIMIT 1)`,
)

/** Files that a search finds, some after the file `$2`. */
export const NEXT_FILES = statement(
  'next_imported_files',
  `SELECT id, path, content_sha256, size::float8 AS size, content_type FROM plinth.file
   WHERE base_id = $1 AND id > $2 AND deleted_at IS NULL ORDER BY id LIMIT 100`,
)
