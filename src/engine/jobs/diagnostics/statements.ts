import { statement } from '../../storage/database/client.ts'

export type DatabaseState = {
  version: string
  number: number
  is_standby: boolean
  now_ms: number
  used: number
  most: number
}
export const DATABASE = statement(
  'describe_database',
  `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
     pg_is_in_recovery() AS is_standby, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
     (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
     current_setting('max_connections')::int AS most`,
)

/** Indexes that are not ready, `$1` of each status, with their number. */
export const INDEXES = statement(
  'indexes_not_ready',
  `SELECT base_id AS base, record_type AS type, fields, status, total FROM (
     SELECT *, (count(*) OVER status)::int AS total, row_number() OVER status AS n FROM plinth.record_type_index
     WHERE status <> 'ready' WINDOW status AS (PARTITION BY status)) i
   WHERE n <= $1`,
)

/** Triggers that do not send, or fail, `$1` of each state, with their number. */
export const TRIGGERS = statement(
  'triggers_not_well',
  `SELECT base, id, state, total FROM (
     SELECT base, id, state, (count(*) OVER state)::int AS total, row_number() OVER state AS n FROM (
       SELECT base_id AS base, id, CASE WHEN calls_production THEN 'held' WHEN disabled_reason IS NOT NULL THEN 'disabled'
         WHEN failing_since IS NOT NULL THEN 'failing' END AS state FROM plinth.trigger WHERE enabled) t
     WHERE state IS NOT NULL WINDOW state AS (PARTITION BY state)) w
   WHERE n <= $1`,
)
