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
 * All records of a type at a point in time, in place of `plinth.record`. Arguments are placeholders. A record that has not
 * changed since is read as it is, unless its base is younger: a preview has copies that are older than itself. Of the
 * others, and of those deleted since, the log has the version of that time, a look-up each.
 */
export function recordsAsOf({ base, recordType, moment, zone }: Bound): string {
  const at = `(SELECT plinth.instant(${moment}, ${zone}))`
  const present = `r.base_id = ${base} AND r.record_type = ${recordType}`
  const ofType = `c.kind = 'record' AND c.base_id = ${base} AND c.record_type = ${recordType}`
  const isYounger = `(SELECT b.created_at > ${at} FROM plinth.base b WHERE b.id = ${base})`
  return `(SELECT r.id, r.external_source, r.external_id, r.data, r.version, r.cancelled_at, true AS valid,
     r.created_at, r.updated_at, 'update' AS operation
   FROM plinth.record r WHERE ${present} AND r.updated_at <= ${at} AND NOT ${isYounger}
   UNION ALL
   SELECT c.* FROM (
     SELECT r.id FROM plinth.record r WHERE ${present} AND (r.updated_at > ${at} OR ${isYounger})
     UNION ALL
     SELECT d.id FROM (
       SELECT DISTINCT c.id FROM plinth.change c WHERE ${ofType} AND c.operation = 'delete' AND c.at > ${at}) d
     WHERE (SELECT true FROM plinth.record r WHERE ${present} AND r.id = d.id LIMIT 1) IS NULL) i
   CROSS JOIN LATERAL (
     SELECT ${AS_RECORD}, c.operation FROM plinth.change c
     WHERE ${ofType} AND c.id = i.id AND c.at <= ${at}
     ORDER BY c.version DESC LIMIT 1) c
   WHERE c.operation <> 'delete')`
}

/**
 * All states of the records of a type, in place of `plinth.record`: those that entries of the log left, and the present ones, which
 * repeat the last of these or have no entry. Each source is `r`, with the `operation` of its entry. Arguments are placeholders.
 * With `after`, states are read since that entry, and of the records with entries after it the one before these.
 */
export function recordsSince({
  base,
  recordType,
  after,
}: {
  base: string
  recordType: string
  after: string | null
}): string[] {
  const ofType = `c.kind = 'record' AND c.base_id = ${base} AND c.record_type = ${recordType}`
  const later = after === null ? ofType : `${ofType} AND c.seq > ${after}::bigint`
  const before = `(SELECT p.*
     FROM (SELECT c.id, min(c.version) AS version FROM plinth.change c WHERE ${later} GROUP BY c.id) i CROSS JOIN LATERAL (
       SELECT ${AS_RECORD}, c.operation FROM plinth.change c
       WHERE ${ofType} AND c.id = i.id AND c.version < i.version ORDER BY c.version DESC LIMIT 1) p
     WHERE i.version > 1) r`
  return [
    `(SELECT ${AS_RECORD}, c.operation FROM plinth.change c WHERE ${later}) r`,
    `(SELECT r.id, r.external_source, r.external_id, r.data, r.version, r.cancelled_at, true AS valid, r.created_at, r.updated_at,
       'update' AS operation
     FROM plinth.record r WHERE r.base_id = ${base} AND r.record_type = ${recordType}) r`,
    ...(after === null ? [] : [before]),
  ]
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
