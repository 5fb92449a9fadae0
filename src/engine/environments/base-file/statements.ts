/** The lines of an export, as statements. Each has one column: the line. A later one of the same snapshot returns the same. */
import { type Statement, statement } from '../../storage/database/client.ts'

const time = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The columns of a row as JSON; those that end in `_at` as times. */
const object = (columns: string, of = '', more = ''): string => {
  const pairs = columns
    .split(' ')
    .map((name) => `'${name}', ${name.endsWith('_at') || name === 'at' ? time(of + name) : of + name}`)
  // A `json` column may have line breaks where its author had some; within texts they are escaped.
  // `translate` compares each character, which takes six times as long.
  return `replace(replace(json_build_object(${pairs.join(', ')}${more})::text, E'\\n', ' '), E'\\r', ' ')`
}

const IS_CANCELLED = `, 'status', CASE WHEN cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END`

export const RECORD_LINES = statement(
  'export_records',
  `SELECT ${object('id external_source external_id version cancelled_at valid created_at updated_at data', '', IS_CANCELLED)} AS line
   FROM plinth.record WHERE base_id = $1 AND record_type = $2 ORDER BY id`,
)

export const LINK_LINES = statement(
  'export_relationships',
  `SELECT ${object('id source_record_type source_id target_record_type target_id external_source external_id version valid created_at updated_at data')} AS line
   FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 ORDER BY id`,
)

/** Each file, then its versions. `$3`: with the trash and with former versions. */
export const FILE_LINES = statement(
  'export_files',
  `SELECT line FROM (
     SELECT id, 0 AS version, ${object('id path version content_sha256 size content_type metadata label created_at updated_at deleted_at')} AS line
     FROM plinth.file WHERE base_id = $1 AND file_type = $2 AND ($3::boolean OR deleted_at IS NULL)
     UNION ALL
     SELECT f.id, v.version, ${object('file_id version content_sha256 size content_type label created_at created_by', 'v.')}
     FROM plinth.file f JOIN plinth.file_version v ON v.base_id = f.base_id AND v.file_id = f.id
     WHERE f.base_id = $1 AND f.file_type = $2 AND ($3::boolean OR f.deleted_at IS NULL AND v.version = f.version)) AS lines
   ORDER BY id, version`,
)

/** Types of files, also of those in the trash, which outlive their type. */
export const FILE_TYPES = statement(
  'exported_file_types',
  `SELECT DISTINCT file_type AS id FROM plinth.file WHERE base_id = $1 AND ($2::boolean OR deleted_at IS NULL) ORDER BY 1`,
)

/** Attachments with their contents. `$2`: also those of records that were deleted. */
const ATTACHED = `plinth.attachment a WHERE a.base_id = $1 AND a.status = 'ready' AND ($2::boolean OR EXISTS (
     SELECT FROM plinth.record r WHERE r.base_id = a.base_id AND r.record_type = a.record_type AND r.id = a.record_id
       AND r.created_at = a.record_created_at))`

export const ATTACHMENT_LINES = statement(
  'export_attachments',
  `SELECT ${object('id record_type record_id record_created_at filename content_type size sha256 actor_name created_at', 'a.')} AS line
   FROM ${ATTACHED} ORDER BY a.id`,
)

const ENTRY =
  'seq at kind record_type id operation version data external_source external_id created_at cancelled_at actor_name via actor_kind request_id call cause'

export const CHANGE_LINES = statement(
  'export_changes',
  `SELECT ${object(ENTRY)} AS line FROM plinth.change WHERE base_id = $1 ORDER BY seq`,
)

/** What a purge of the whole history would leave: the last entry of each resource, and of deletions the fact alone. */
export const LAST_CHANGE_LINES = statement(
  'export_last_changes',
  `SELECT ${object(ENTRY)} AS line FROM (
     SELECT DISTINCT ON (kind, record_type, id) seq, at, kind, record_type, id, operation, version,
       CASE WHEN operation <> 'delete' THEN data END AS data,
       CASE WHEN operation <> 'delete' THEN external_source END AS external_source,
       CASE WHEN operation <> 'delete' THEN external_id END AS external_id,
       created_at, cancelled_at, actor_name, via, actor_kind, request_id, call, cause
     FROM plinth.change WHERE base_id = $1 ORDER BY kind, record_type, id, seq DESC) AS last
   ORDER BY seq`,
)

/** How many lines a statement returns, and their bytes, which the header of a member has before them. */
export const measureOf = ({ name, text }: Statement): Statement =>
  statement(
    `measure_${name}`,
    `SELECT count(*)::float8 AS lines, coalesce(sum(octet_length(line) + 1), 0)::float8 AS bytes FROM (${text}) AS of_member`,
  )

/** Contents that the exported lines name, each once, in the order of their digests, with the bytes of small ones. */
export const OPEN_CONTENTS = statement(
  'open_exported_contents',
  `DECLARE exported_contents NO SCROLL CURSOR FOR
   SELECT n.sha256, n.size::float8 AS size, c.bytes FROM (
     SELECT v.content_sha256 AS sha256, v.size FROM plinth.file f JOIN plinth.file_version v ON v.base_id = f.base_id AND v.file_id = f.id
     WHERE f.base_id = $1 AND ($2::boolean OR f.deleted_at IS NULL AND v.version = f.version)
     UNION SELECT a.sha256, a.size FROM ${ATTACHED}) AS n
   LEFT JOIN plinth.content c ON c.sha256 = n.sha256 COLLATE "C"
   ORDER BY n.sha256`,
)
export const NEXT_CONTENTS = statement('next_exported_contents', 'FETCH 200 FROM exported_contents')

/** The base, the last entry of its log, and since when its history is whole. */
export const ABOUT = statement(
  'about_exported_base',
  `SELECT b.id, b.name, b.description, b.settings, b.version, b.environment,
     ${time('b.created_at')} AS created_at, ${time('b.updated_at')} AS updated_at, ${time('now()')} AS exported_at,
     (SELECT ${time('history_from')} FROM plinth.retention WHERE base_id = b.id) AS history_from,
     coalesce((SELECT c.seq FROM plinth.change c WHERE c.base_id = b.id ORDER BY c.seq DESC LIMIT 1), 0)::float8 AS seq,
     EXISTS (SELECT FROM plinth.change_set s WHERE s.base_id = b.id) AS is_change_set
   FROM plinth.base b WHERE b.id = $1`,
)
