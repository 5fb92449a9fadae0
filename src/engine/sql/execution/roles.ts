import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { groupOf, type Isolation, type PrincipalRights } from './isolation.ts'

/** Database roles of the SQL endpoint: their group, creation and cleanup. */

/** Credentials of a login role. */
export type Principal = { readonly role: string; readonly password: string }

// New functions are executable by PUBLIC; only those that views and typed columns need stay executable, for the
// group role.
const FIND_GROUP = `
  SELECT d.oid::int8::float8 AS database,
    EXISTS (SELECT FROM pg_roles WHERE rolname = 'plinth_sql_' || d.oid) AS exists,
    (SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
     WHERE p.pronamespace = 'plinth'::regnamespace
       AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0))) AS open_functions
  FROM pg_database d WHERE d.datname = current_database()`
const MISSES_GRANT = `
  SELECT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'plinth_sql'::regnamespace AND c.relkind = 'v'
      AND NOT has_table_privilege($1, c.oid, 'SELECT'))
    OR NOT has_function_privilege($1, 'plinth.instant(text, text)', 'EXECUTE')
    OR NOT has_function_privilege($1, 'plinth.sql_change_set()', 'EXECUTE')
    OR NOT has_schema_privilege($1, 'plinth_sql', 'USAGE') OR NOT has_schema_privilege($1, 'plinth', 'USAGE')
    OR NOT has_database_privilege($1, current_database(), 'CONNECT') AS misses,
  quote_ident(current_database()) AS database`

/**
 * Revokes PUBLIC privileges as far as the login can, and creates the group role. Returns the OID of the
 * database. Requires exclusive access, like all functions here.
 */
export async function prepareRoles(client: pg.Client, isolation: Isolation): Promise<number> {
  if (isolation === 'full') await lockDown(client)
  const { rows } = await client.query<{ database: number; exists: boolean; open_functions: string | null }>(
    FIND_GROUP,
  )
  const [found] = rows
  if (!found) throw new Error('The database does not know itself')
  const group = groupOf(found.database)
  if (!found.exists) await client.query(`CREATE ROLE ${group} NOLOGIN`)
  if (found.open_functions)
    await client.query(`REVOKE EXECUTE ON FUNCTION ${found.open_functions} FROM PUBLIC`)
  const { rows: grants } = await client.query<{ misses: boolean; database: string }>(MISSES_GRANT, [group])
  if (grants[0]?.misses)
    await client.query(`
      GRANT CONNECT ON DATABASE ${grants[0].database} TO ${group};
      GRANT USAGE ON SCHEMA plinth, plinth_sql TO ${group};
      GRANT SELECT ON ALL TABLES IN SCHEMA plinth_sql TO ${group};
      GRANT EXECUTE ON FUNCTION plinth.instant(text, text), plinth.sql_change_set() TO ${group}`)
  return found.database
}

const KEEP = `
  INSERT INTO plinth.sql_grant AS g (role, base_id, record_types, password, token_id, change_set)
  VALUES ($1, $2, $3::jsonb, $4, $5, $6)
  ON CONFLICT (role) DO UPDATE SET base_id = $2, record_types = $3::jsonb, token_id = $5, change_set = $6, used_at = now(),
    password = coalesce(g.password, $4)
  RETURNING password`

/**
 * Creates or resets a login role. It is a member of the group role, owns nothing and has no privileges of its
 * own.
 */
export async function makeRole(
  client: pg.Client,
  database: number,
  role: string,
  { baseId, recordTypes, tokenId, changeSet }: PrincipalRights,
  { isolation, timeoutMs }: { isolation: Isolation; timeoutMs: number },
): Promise<Principal> {
  const fresh = randomBytes(32).toString('base64url')
  const kept = await client.query<{ password: string }>(KEEP, [
    role,
    baseId,
    JSON.stringify(recordTypes),
    fresh,
    tokenId,
    changeSet,
  ])
  const password = kept.rows[0]?.password ?? fresh
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  const login = `LOGIN CONNECTION LIMIT ${LIMITS.sqlRoleConnections} PASSWORD '${scramVerifier(password)}'`
  await client.query(
    rowCount ? `ALTER ROLE ${role} ${login}` : `CREATE ROLE ${role} ${login} IN ROLE ${groupOf(database)}`,
  )
  const settings = {
    default_transaction_read_only: 'on',
    statement_timeout: `${timeoutMs}ms`,
    idle_in_transaction_session_timeout: `${timeoutMs}ms`,
    work_mem: WORK_MEMORY,
    search_path: '',
    // Only a superuser can set this limit.
    ...(isolation === 'full' && { temp_file_limit: TEMPORARY_FILES }),
  }
  const each = Object.entries(settings).map(([name, value]) => `ALTER ROLE ${role} SET ${name} = '${value}'`)
  await client.query(each.join(';'))
  return { role, password }
}

const WORK_MEMORY = '16MB'
const TEMPORARY_FILES = '256MB'

// A row restored from another database names a role of that database: the row is deleted, the role is kept.
const FORGET_UNUSED = `
  DELETE FROM plinth.sql_grant g WHERE g.password IS NOT NULL AND g.used_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.usename = g.role)`
const FIND_UNUSED = `
  SELECT r.rolname AS role FROM pg_roles r, LATERAL substring(r.rolname FROM '^plinth_sql_(\\d+)_[0-9a-f]{24}$') AS made_in
  WHERE made_in IS NOT NULL AND CASE WHEN made_in = (SELECT oid::text FROM pg_database WHERE datname = current_database())
      THEN NOT EXISTS (SELECT FROM plinth.sql_grant g WHERE g.role = r.rolname)
      ELSE NOT EXISTS (SELECT FROM pg_database d WHERE d.oid::text = made_in) END
  LIMIT 200`

/** Drops roles unused for a day, and roles of deleted databases. */
export async function dropUnusedRoles(client: pg.Client): Promise<void> {
  await client.query(FORGET_UNUSED)
  const { rows } = await client.query<{ role: string }>(FIND_UNUSED)
  for (const { role } of rows) await client.query(`DROP ROLE IF EXISTS ${role}`)
}

const ITERATIONS = 4096
const BYTES = 32

/** SCRAM-SHA-256 verifier of a password (RFC 5803), so that the statement log never contains the password. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, BYTES, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const serverKey = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

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
async function lockDown(client: pg.Client): Promise<void> {
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
