/**
 * Revokes default PUBLIC privileges: on functions with side effects or introspection, and on the catalogs.
 */
import type pg from 'pg'

/**
 * Allow-list of non-immutable functions needed for reading: they depend only on the timezone, the transaction
 * time or output functions. Functions that a new PostgreSQL version adds are revoked by default.
 */
const OPEN = [
  ...['age', 'date', 'date_part', 'date_trunc', 'extract', 'generate_series', 'make_timestamptz', 'now'],
  ...['overlaps', 'statement_timestamp', 'time', 'timestamp', 'timestamptz', 'timetz', 'timezone', 'to_char'],
  ...['to_date', 'to_number', 'to_timestamp', 'transaction_timestamp'],
  ...['in_range', 'interval_pl_timestamptz', 'timestamptz_mi_interval', 'timestamptz_pl_interval'],
  ...['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'cmp'].flatMap((each) => [
    `date_${each}_timestamptz`,
    `timestamp_${each}_timestamptz`,
    `timestamptz_${each}_date`,
    `timestamptz_${each}_timestamp`,
  ]),
  ...['anytextcat', 'array_to_json', 'array_to_string', 'concat', 'concat_ws', 'row_to_json', 'textanycat'],
  ...['to_json', 'to_jsonb'],
  ...['agg', 'build_array', 'build_object', 'object_agg', 'to_record', 'to_recordset'].flatMap((each) => [
    `json_${each}`,
    `jsonb_${each}`,
  ]),
  ...['exists', 'match', 'query', 'query_array', 'query_first'].map((each) => `jsonb_path_${each}_tz`),
]

// No function outside pg_catalog is allowed: extension functions are for the server's own login only.
const FIND_FUNCTIONS = `
  SELECT string_agg(p.oid::regprocedure::text, ', ') AS names
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.prokind <> 'p'
    AND (n.nspname <> 'pg_catalog' OR (p.provolatile <> 'i' AND NOT (p.provolatile = 's' AND p.proname = ANY ($1))))
    AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0))`

const FIND_CATALOGS = `
  SELECT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace
      AND EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantee = 0))
    OR has_schema_privilege('public', 'information_schema', 'USAGE')
    OR has_language_privilege('public', 'plpgsql', 'USAGE') OR has_language_privilege('public', 'sql', 'USAGE')
    OR has_database_privilege('public', current_database(), 'TEMP') AS open,
  quote_ident(current_database()) AS database`

/**
 * Revokes PUBLIC privileges that reading does not need; idempotent. Catalog privileges belong to a database
 * and a major version, so the current state is queried rather than stored. Requires a superuser and exclusive
 * access.
 */
export async function lockDown(client: pg.Client): Promise<void> {
  const functions = await client.query<{ names: string | null }>(FIND_FUNCTIONS, [OPEN])
  const names = functions.rows[0]?.names
  if (names) await client.query(`REVOKE EXECUTE ON FUNCTION ${names} FROM PUBLIC`)
  const catalogs = await client.query<{ open: boolean; database: string }>(FIND_CATALOGS)
  const [found] = catalogs.rows
  if (!found?.open) return
  await client.query(`
    REVOKE ALL ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
    REVOKE ALL ON SCHEMA information_schema FROM PUBLIC;
    REVOKE ALL ON LANGUAGE plpgsql, sql FROM PUBLIC;
    REVOKE TEMP ON DATABASE ${found.database} FROM PUBLIC`)
}
