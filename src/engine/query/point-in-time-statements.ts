import { statement, timed } from '../database/client.ts'

/** An entry `c` of the log as the record it left: the columns of a RecordRow. */
const AS_RECORD = `c.id, c.external_source, c.external_id, c.data, c.version, c.cancelled_at, true AS valid,
   coalesce(c.created_at, c.at) AS created_at, c.at AS updated_at`

const OF_RECORD = `c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3`

/** What a version of a record was; `is_gone` where it is the deletion. */
export const GET_VERSION = timed(
  statement(
    'get_version',
    `SELECT ${AS_RECORD}, c.operation = 'delete' AS is_gone FROM plinth.change c WHERE ${OF_RECORD} AND c.version = $4`,
  ),
)

/** What a record was at the moment `$4`, read in the zone `$5`: its last version until then. */
export const GET_AS_OF = timed(
  statement(
    'get_as_of',
    `SELECT ${AS_RECORD}, c.operation = 'delete' AS is_gone FROM plinth.change c
   WHERE ${OF_RECORD} AND c.at <= (SELECT plinth.instant($4, $5)) ORDER BY c.version DESC LIMIT 1`,
  ),
)

/** The versions that the log has of a record, first and last; null without any. */
export const GET_SPAN = statement(
  'get_versions_span',
  `SELECT min(c.version) AS first, max(c.version) AS last FROM plinth.change c WHERE ${OF_RECORD}`,
)

/** From when on the base's history is whole, if that is after the moment `$2`, read in the zone `$3`. */
export const GET_PURGED = timed(
  statement(
    'get_purged',
    `SELECT history_from FROM plinth.retention WHERE base_id = $1 AND history_from > (SELECT plinth.instant($2, $3))`,
  ),
)

type Bound = { base: string; recordType: string; moment: string; zone: string }

/**
 * All records of a type as they were at a moment, in place of `plinth.record`. The bounds are placeholders. It steps
 * through the ids along the index on versions and looks up one version of each: sorting all of them would read the log of
 * everybody.
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
 * The records of a type as they were before and after entries of the log, in place of `plinth.record`. The bounds are
 * placeholders. A deletion has the record as it was before it.
 */
export function recordsAround({ base, recordType, seqs }: Entries): string {
  const ofType = `c.kind = 'record' AND c.base_id = ${base} AND c.record_type = ${recordType}`
  const meant = `${ofType} AND c.seq = ANY (${seqs}::bigint[])`
  return `(SELECT ${AS_RECORD}, c.operation FROM plinth.change c WHERE ${meant}
   UNION ALL
   SELECT p.* FROM (SELECT c.id, c.version FROM plinth.change c WHERE ${meant} AND c.operation NOT IN ('create', 'delete')) e
     CROSS JOIN LATERAL (
       SELECT ${AS_RECORD}, c.operation FROM plinth.change c
       WHERE ${ofType} AND c.id = e.id AND c.version < e.version ORDER BY c.version DESC LIMIT 1) p
   WHERE p.operation <> 'delete')`
}
