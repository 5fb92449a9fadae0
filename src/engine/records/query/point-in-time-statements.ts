import { statement, timed } from '../../storage/database/client.ts'

/** Maps a change-log entry `c` to the record it left: the columns of a RecordRow. */
const AS_RECORD = `c.id, c.external_source, c.external_id, c.data, c.version, c.cancelled_at, true AS valid,
   coalesce(c.created_at, c.at) AS created_at, c.at AS updated_at`

const OF_RECORD = `c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3`

/** A record at a version; `is_gone` marks its deletion. */
export const GET_VERSION = timed(
  statement(
    'get_version',
    `SELECT ${AS_RECORD}, c.operation = 'delete' AS is_gone FROM plinth.change c WHERE ${OF_RECORD} AND c.version = $4`,
  ),
)

/** A record at the time `$4`, read in the timezone `$5`: its last version before it. */
export const GET_AS_OF = timed(
  statement(
    'get_as_of',
    `SELECT ${AS_RECORD}, c.operation = 'delete' AS is_gone FROM plinth.change c
   WHERE ${OF_RECORD} AND c.at <= (SELECT plinth.instant($4, $5)) ORDER BY c.version DESC LIMIT 1`,
  ),
)

/** The first and last version of a record in the log; null without any. */
export const GET_SPAN = statement(
  'get_versions_span',
  `SELECT min(c.version) AS first, max(c.version) AS last FROM plinth.change c WHERE ${OF_RECORD}`,
)

/** The start of the base's complete history, if it is after the time `$2`, read in the timezone `$3`. */
export const GET_PURGED = timed(
  statement(
    'get_purged',
    `SELECT history_from FROM plinth.retention WHERE base_id = $1 AND history_from > (SELECT plinth.instant($2, $3))`,
  ),
)

type Bound = { base: string; recordType: string; moment: string; zone: string }

/**
 * All records of a type at a point in time, in place of `plinth.record`. Arguments are placeholders. A skip
 * scan steps through the ids of the version index and looks up one version of each: a sort would read the log
 * of every tenant.
 */
export function recordsAsOf({ base, recordType, moment, zone }: Bound): string {
  const ofType = `kind = 'record' AND base_id = ${base} AND record_type = ${recordType}`
  return `(WITH RECURSIVE ids AS (
     (SELECT id FROM plinth.change WHERE ${ofType} ORDER BY id LIMIT 1)
     UNION ALL
     SELECT (SELECT n.id FROM plinth.change n WHERE ${ofType} AND n.id > ids.id ORDER BY n.id LIMIT 1)
     FROM ids WHERE ids.id IS NOT NULL)
   SELECT c.* FROM ids CROSS JOIN LATERAL (
     SELECT ${AS_RECORD}, c.operation FROM plinth.change c
     WHERE ${ofType} AND c.id = ids.id AND c.at <= (SELECT plinth.instant(${moment}, ${zone}))
     ORDER BY c.version DESC LIMIT 1) c
   WHERE c.operation <> 'delete')`
}

type Entries = { base: string; recordType: string; seqs: string }

/**
 * The records of a type before and after change-log entries, in place of `plinth.record`. Arguments are
 * placeholders. A deletion has the state before it.
 */
export function recordsAround({ base, recordType, seqs }: Entries): string {
  const ofType = `c.kind = 'record' AND c.base_id = ${base} AND c.record_type = ${recordType}`
  const versions = `${ofType} AND c.seq = ANY (${seqs}::bigint[])`
  return `(SELECT ${AS_RECORD}, c.operation FROM plinth.change c WHERE ${versions}
   UNION ALL
   SELECT p.* FROM (SELECT c.id, c.version FROM plinth.change c WHERE ${versions} AND c.operation NOT IN ('create', 'delete')) e
     CROSS JOIN LATERAL (
       SELECT ${AS_RECORD}, c.operation FROM plinth.change c
       WHERE ${ofType} AND c.id = e.id AND c.version < e.version ORDER BY c.version DESC LIMIT 1) p
   WHERE p.operation <> 'delete')`
}

/**
 * Entries of the log as records `r`, each with the record before it as `p`, in place of `plinth.record`. `p` is null
 * where there was none, as before a creation. A deletion has the last state. Arguments are placeholders.
 */
export function recordsWithPrevious({ base, seqs }: Pick<Entries, 'base' | 'seqs'>): string {
  return `(SELECT c.seq, c.record_type, c.operation, c.at, ${AS_RECORD} FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = ${base} AND c.seq = ANY (${seqs}::bigint[])) r
     LEFT JOIN LATERAL (
       SELECT b.* FROM (
         SELECT c.operation, ${AS_RECORD} FROM plinth.change c
         WHERE c.kind = 'record' AND c.base_id = ${base} AND c.record_type = r.record_type AND c.id = r.id
           AND c.version < r.version ORDER BY c.version DESC LIMIT 1) b
       WHERE r.operation <> 'create' AND b.operation <> 'delete') p ON true`
}
