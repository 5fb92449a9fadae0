/**
 * Canary value that no response, error or log line may contain. It is stored in every place that a statement
 * must not read.
 */
export const CANARY = 'CANARY-7f3a'

/**
 * Locations of the canary besides the token table and a file: a base and a type of `shop` that are not
 * granted.
 */
export const CANARY_PLACES = { base: 'rival', recordType: 'hidden' } as const

/** A statement that attempts more than reading granted data. */
export type Attack = {
  name: string
  kind: string
  sql: string
  params?: readonly unknown[] | Readonly<Record<string, unknown>>
  /** Whether the statement may run, because its result is harmless. All others must be rejected. */
  runs?: true
}

const attacks: Attack[] = []

function refused(kind: string, ...statements: string[]): void {
  for (const sql of statements) attacks.push({ name: `${kind}: ${sql.slice(0, 90)}`, kind, sql })
}

function bound(kind: string, sql: string, params: NonNullable<Attack['params']>, runs?: true): void {
  const name = `${kind}: ${sql} with ${JSON.stringify(params).slice(0, 90)}`
  attacks.push({ name, kind, sql, params, ...(runs && { runs }) })
}

function harmless(kind: string, ...statements: string[]): void {
  for (const sql of statements) attacks.push({ name: `${kind}: ${sql.slice(0, 90)}`, kind, sql, runs: true })
}

refused(
  'stacked statements',
  'SELECT 1; SELECT 2',
  'SELECT 1; COMMIT; DROP SCHEMA plinth CASCADE',
  'SELECT 1; DROP TABLE plinth.record',
  'SELECT 1; DELETE FROM plinth.record; SELECT 2',
  'COMMIT; SELECT * FROM plinth.token',
  'ROLLBACK; SELECT * FROM plinth.token',
  'SELECT 1;; SELECT * FROM plinth.token',
  'SELECT 1; SET ROLE postgres; SELECT * FROM plinth.token',
  'SELECT 1 /* ; */ ; SELECT 2 -- ;',
  "SELECT ';'; SELECT 2",
  'SELECT $$;$$; SELECT 2',
  'SELECT 1\0; SELECT * FROM plinth.token',
  '\0SELECT * FROM plinth.token',
  'SELECT 1 \ud800',
)

refused(
  'writes',
  `INSERT INTO records (id) VALUES ('x')`,
  `UPDATE records SET data = '{}'`,
  'DELETE FROM records',
  'DELETE FROM plinth.record',
  'MERGE INTO customer c USING "order" o ON false WHEN NOT MATCHED THEN INSERT VALUES (1)',
  'TRUNCATE plinth.record',
  'DROP TABLE plinth.record',
  'DROP SCHEMA plinth CASCADE',
  'CREATE TABLE t (a int)',
  'CREATE TEMP TABLE t AS SELECT 1',
  'CREATE TABLE t AS SELECT * FROM records',
  'CREATE VIEW v AS SELECT * FROM records',
  'CREATE MATERIALIZED VIEW v AS SELECT * FROM records',
  'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
  'CREATE EXTENSION dblink',
  'CREATE ROLE evil SUPERUSER LOGIN',
  'ALTER TABLE plinth.record ADD COLUMN x int',
  'ALTER ROLE plinth PASSWORD NULL',
  'GRANT ALL ON SCHEMA plinth TO PUBLIC',
  'REVOKE ALL ON SCHEMA plinth FROM PUBLIC',
  'SELECT * INTO t FROM records',
  'SELECT 1 INTO TEMP t',
  'SELECT * INTO UNLOGGED t FROM customer',
  'WITH d AS (DELETE FROM customer RETURNING *) SELECT * FROM d',
  `WITH i AS (INSERT INTO customer (id) VALUES ('x') RETURNING *) SELECT * FROM i`,
  `WITH u AS (UPDATE "order" SET total = 0 RETURNING *) SELECT * FROM u`,
  'WITH d AS (DELETE FROM plinth.record RETURNING *) SELECT 1',
  'WITH m AS (MERGE INTO customer USING "order" o ON false WHEN NOT MATCHED THEN DO NOTHING RETURNING 1) SELECT * FROM m',
  'SELECT * FROM (WITH d AS (DELETE FROM customer RETURNING *) SELECT * FROM d) x',
  'SELECT (WITH d AS (DELETE FROM customer RETURNING id) SELECT id FROM d)',
  'WITH x AS (SELECT 1) DELETE FROM customer',
  'WITH x AS (SELECT 1) INSERT INTO customer SELECT * FROM x',
  "COPY plinth.token TO '/tmp/x'",
  'COPY plinth.token TO STDOUT',
  "COPY (SELECT 1) TO PROGRAM 'id'",
  "COPY plinth.record FROM '/etc/passwd'",
  'VACUUM',
  'ANALYZE plinth.record',
  'REINDEX TABLE plinth.record',
  'CLUSTER plinth.record',
  'REFRESH MATERIALIZED VIEW x',
  'COMMENT ON TABLE plinth.record IS NULL',
  "SECURITY LABEL ON TABLE plinth.record IS 'x'",
  'IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z',
)

refused(
  'sessions and settings',
  'BEGIN',
  'COMMIT',
  'ROLLBACK',
  'SAVEPOINT x',
  'ABORT',
  'END',
  "PREPARE TRANSACTION 'x'",
  'SET TRANSACTION READ WRITE',
  'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
  'SET ROLE postgres',
  'RESET ROLE',
  'SET SESSION AUTHORIZATION postgres',
  'SET search_path TO plinth',
  "SET work_mem = '2GB'",
  'SET statement_timeout = 0',
  'RESET ALL',
  'DISCARD ALL',
  'SHOW ALL',
  'SHOW data_directory',
  'PREPARE p AS SELECT 1',
  'EXECUTE p',
  'DEALLOCATE ALL',
  'DECLARE c CURSOR WITH HOLD FOR SELECT 1',
  'FETCH ALL FROM c',
  'CLOSE ALL',
  'LISTEN x',
  "NOTIFY x, 'y'",
  'UNLISTEN *',
  'LOCK TABLE plinth.record',
  'DO $$BEGIN PERFORM pg_sleep(10); END$$',
  'CALL x()',
  "LOAD 'x'",
  'CHECKPOINT',
  'EXPLAIN SELECT 1',
  'EXPLAIN ANALYZE SELECT * FROM customer',
  'EXPLAIN (ANALYZE, BUFFERS) DELETE FROM plinth.record',
  "ALTER SYSTEM SET shared_buffers = '1GB'",
  'SELECT 1 FOR UPDATE',
  'SELECT * FROM customer FOR UPDATE',
  'SELECT * FROM customer FOR SHARE',
  'SELECT * FROM customer FOR NO KEY UPDATE SKIP LOCKED',
  'SELECT * FROM (SELECT * FROM customer FOR UPDATE) x',
  'WITH x AS (SELECT * FROM customer FOR KEY SHARE NOWAIT) SELECT * FROM x',
)

/** Functions with side effects, with access to the environment, or that sleep, each with valid arguments. */
const CALLS = `set_config('role','x',true) current_setting('port') current_setting('plinth.x',true) version()
  pg_sleep(10) pg_sleep_for('10s') pg_sleep_until(now()) pg_read_file('/etc/passwd') pg_read_binary_file('/etc/passwd')
  pg_ls_dir('/') pg_stat_file('/etc/passwd') pg_ls_logdir() pg_ls_waldir() pg_ls_tmpdir() lo_import('/etc/passwd')
  lo_export(1,'/tmp/x') lo_create(0) lo_creat(-1) lo_from_bytea(0,'x') lo_get(1) lo_put(1,0,'x') lo_unlink(1)
  loread(0,1) lowrite(0,'x') lo_open(1,1) pg_terminate_backend(1) pg_cancel_backend(1) pg_reload_conf()
  pg_rotate_logfile() pg_switch_wal() pg_create_restore_point('x') pg_promote() pg_backup_start('x') pg_backup_stop()
  pg_advisory_lock(1) pg_advisory_xact_lock(1) pg_try_advisory_lock(1) pg_advisory_lock_shared(1,2)
  pg_advisory_unlock_all() pg_notify('x','y') pg_logical_emit_message(false,'x','y') pg_export_snapshot()
  txid_current() pg_current_xact_id() pg_current_wal_lsn() pg_backend_pid() pg_stat_get_activity(NULL)
  pg_stat_get_backend_activity(1) pg_conf_load_time() pg_postmaster_start_time() inet_server_addr() inet_client_addr()
  pg_tablespace_location(1) pg_relation_size('plinth.token') pg_total_relation_size('plinth.token')
  pg_database_size('plinth') pg_relation_filepath('plinth.token') pg_get_viewdef('plinth_sql.record')
  pg_get_functiondef(1) pg_get_userbyid(10) pg_typeof(1) pg_column_size('x') has_table_privilege('plinth.token','select')
  has_schema_privilege('plinth','usage') to_regclass('plinth.token') to_regproc('x') to_regrole('x')
  query_to_xml('select*from+plinth.token',true,false,'') query_to_xmlschema('select+1',true,false,'')
  table_to_xml('plinth.token',true,false,'') schema_to_xml('plinth',true,false,'') database_to_xml(true,false,'')
  cursor_to_xml('x',1,true,false,'') xmlcomment('x') xpath('/x','<x/>') ts_stat('select*from+plinth.token')
  ts_rewrite('a','select+1') to_tsvector('x') to_tsquery('x') dblink('x','y') dblink_exec('x','y')
  nextval('x') setval('x',1) currval('x') lastval() random() setseed(0.5) gen_random_uuid() clock_timestamp()
  timeofday() format('%1000000000s','x') format('%s','x') repeat('x',1000000000) lpad('x',1000000000)
  rpad('x',1000000000,'y') array_fill(0,ARRAY[100000000]) factorial(100000) convert_from('x','UTF8') decode('x','hex')
  encode('x','hex') string_to_array_x('x') session_user() quote_ident('x') pg_client_encoding() getdatabaseencoding()
  current_database() current_schema() current_schemas(true) current_query() col_description(1,1) obj_description(1)
  shobj_description(1,'x') pg_event_trigger_ddl_commands() pg_show_all_settings() pg_hba_file_rules()
  pg_stat_statements(true) pg_prepared_statement() pg_cursor() pg_lock_status() pg_timezone_names()
  pg_config() brin_summarize_new_values('x') gin_clean_pending_list('x') pg_replication_origin_create('x')
  pg_drop_replication_slot('x') pg_create_logical_replication_slot('x','y') pg_log_backend_memory_contexts(1)
  json_populate_record(NULL,'{}') jsonb_populate_recordset(NULL,'[]') xmlagg('x') xmlparse_x('x') normalize('x')
  plinth.instant('2025-01-01','UTC') plinth_sql.x() information_schema._pg_truetypid(1) public.f() pg_temp.f()
  citus_version() run_command_on_workers('select+1') master_get_active_worker_nodes() inet_server_port()
  percentile_cont_x(1) unicode_version() icu_unicode_version() hashtext('x') uuidv7() pg_input_is_valid('x','regclass')
  pg_input_error_info('x','regclass') amvalidate(1) fmgr_sql_validator(1) plpgsql_call_handler() int4in('1')
  regclassin('plinth.token') textin('x') byteaout('x') nameout('x') record_in('x',1,1) array_in('x',1,1)`
  .split(/\s+/)
  .filter(Boolean)
  .map((call) => call.replaceAll('+', ' '))

refused('calls', ...CALLS.map((call) => `SELECT ${call}`))

/** Every syntactic position of a function call. The guard must check all of them. */
const PLACES = `SELECT # FROM customer|SELECT * FROM customer WHERE # IS NOT NULL|SELECT * FROM # AS f|
  SELECT * FROM customer, # AS f|SELECT * FROM customer JOIN LATERAL # AS f ON true|
  SELECT * FROM ROWS FROM (#, generate_series(1, 2)) AS f|SELECT * FROM generate_series(1, length(#)) AS g|
  SELECT * FROM unnest(ARRAY[#]) AS u|SELECT count(*) FROM customer GROUP BY #|
  SELECT count(*) FROM customer HAVING # IS NULL|SELECT * FROM customer ORDER BY #|SELECT DISTINCT ON (#) id FROM customer|
  SELECT id FROM customer LIMIT length(#)|SELECT id FROM customer OFFSET length(#)|VALUES (#)|
  SELECT CASE WHEN # IS NULL THEN 1 END|SELECT CASE # WHEN 'x' THEN 1 END|SELECT CASE WHEN true THEN # END|
  SELECT CASE WHEN false THEN 1 ELSE # END|SELECT coalesce(#, 'x')|SELECT greatest(#, 'x')|SELECT nullif(#, 'x')|
  SELECT ARRAY[#]|SELECT (ARRAY['x'])[length(#)]|SELECT (ARRAY['x'])[1:length(#)]|SELECT ROW(#)|SELECT (#)::text|
  SELECT # COLLATE "C"|SELECT # IN ('x')|SELECT 'x' IN (#)|SELECT 'x' BETWEEN # AND 'y'|SELECT 'x' LIKE #|
  SELECT # IS TRUE|SELECT 'x' = ANY (ARRAY[#])|SELECT (SELECT #)|SELECT EXISTS (SELECT #)|SELECT ARRAY(SELECT #)|
  SELECT 'x' IN (SELECT #)|SELECT # IN (SELECT 'x')|SELECT count(#)|SELECT count(*) FILTER (WHERE # IS NULL)|
  SELECT string_agg('x', ',' ORDER BY #)|SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY #)|
  SELECT count(*) OVER (PARTITION BY #)|SELECT count(*) OVER (ORDER BY #)|
  SELECT count(*) OVER (ROWS BETWEEN length(#) PRECEDING AND CURRENT ROW)|
  SELECT count(*) OVER w FROM customer WINDOW w AS (PARTITION BY #)|SELECT 1 UNION SELECT length(#)|
  WITH x AS (SELECT #) SELECT 1|WITH x AS MATERIALIZED (SELECT #) SELECT * FROM x|
  WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT length(#) FROM t) SELECT * FROM t|
  SELECT * FROM (SELECT #) AS s|SELECT * FROM customer c, LATERAL (SELECT #) AS s|
  SELECT * FROM customer c JOIN "order" o ON # IS NULL|SELECT make_interval(days => length(#))|
  SELECT count(*) FROM customer GROUP BY ROLLUP (#)|SELECT count(*) FROM customer GROUP BY GROUPING SETS ((#))|
  SELECT extract(year FROM (#)::date)|SELECT substring(# FROM 1)|SELECT trim(#)|SELECT # AT TIME ZONE 'UTC'|
  SELECT NOT (# IS NULL)|SELECT true AND # IS NULL|SELECT (1, #) = (1, 'x')|SELECT concat(#, 'x')`
  .split('|')
  .map((place) => place.trim())

refused('places of a call', ...PLACES.map((place) => place.replace('#', `current_setting('data_directory')`)))

refused(
  'calls without a call',
  'SELECT (0.5::float8).pg_sleep',
  'SELECT (10).pg_sleep',
  `SELECT ('/etc/passwd'::text).pg_read_file`,
  `SELECT ('data_directory'::text).current_setting`,
  'SELECT u.pg_sleep FROM unnest(ARRAY[0.5::float8]) AS u',
  'SELECT u.pg_read_file FROM unnest(ARRAY[$$/etc/passwd$$]) AS u',
  'SELECT g.pg_sleep FROM generate_series(1, 2) AS g',
  'SELECT e.pg_ls_dir FROM jsonb_array_elements_text($$["/"]$$) AS e',
  'SELECT k.current_setting FROM jsonb_object_keys($${"data_directory": 1}$$) AS k',
  'SELECT c.row_to_json FROM customer c',
  'SELECT c.to_jsonb FROM customer c',
  'SELECT c.count FROM customer c',
  'SELECT customer.pg_typeof FROM customer',
  'SELECT x.pg_typeof FROM (SELECT 1 AS a) x',
  'SELECT x.record_out FROM (SELECT 1 AS a) x',
  'WITH x AS (SELECT 1 AS a) SELECT x.json_agg FROM x',
  'SELECT (c).name FROM customer c',
  'SELECT (c).* FROM customer c',
  'SELECT (c.data).pg_typeof FROM customer c',
  'SELECT (SELECT c FROM customer c LIMIT 1).name',
  'SELECT (ROW(1, 2)).f1',
  'SELECT (ARRAY[0.5])[1].pg_sleep',
  'SELECT (jsonb_each($${"a": 1}$$)).key',
  'SELECT (jsonb_each($${"a": 1}$$)).*',
  'SELECT t.pg_sleep FROM (SELECT 0.5) AS t (pg_sleep_x)',
  'SELECT id FROM customer ORDER BY customer.pg_typeof',
  'SELECT id FROM customer WHERE customer.record_out IS NOT NULL',
  // The inner t has no such column, but the outer relation of the same name has.
  'SELECT (SELECT t.pg_sleep FROM unnest(ARRAY[0.5::float8]) AS t) FROM (SELECT 1 AS pg_sleep) AS t',
  'SELECT * FROM (SELECT 1 AS pg_sleep) AS t, LATERAL (SELECT t.pg_sleep FROM unnest(ARRAY[0.5]) AS t) AS x',
)

refused(
  'names of the session',
  'SELECT current_user',
  'SELECT session_user',
  'SELECT user',
  'SELECT current_role',
  'SELECT system_user',
  'SELECT current_catalog',
  'SELECT current_schema',
  'SELECT * FROM current_user',
  'SELECT * FROM customer WHERE id = session_user',
)

/** Existing relations that the token may not read. */
const RELATIONS = `plinth.record plinth.token plinth.base plinth.change plinth.record_type plinth.idempotency
  plinth.plan plinth.sql_grant plinth_sql.record plinth_sql.change plinth_sql.record_type plinth_sql.relationship
  plinth._prisma_migrations pg_catalog.pg_class pg_class pg_attribute pg_proc pg_roles pg_authid pg_shadow pg_user
  pg_database pg_settings pg_stat_activity pg_stat_user_tables pg_stats pg_statistic pg_tables pg_views pg_matviews
  pg_namespace pg_locks pg_file_settings pg_hba_file_rules pg_config pg_largeobject pg_prepared_statements pg_cursors
  pg_available_extensions pg_indexes pg_policies pg_stat_statements pg_timezone_names pg_replication_slots
  information_schema.tables information_schema.columns information_schema.role_table_grants token tokens record base
  bases sql_grant hidden rival "rival.order" rival.order rival."order" shop.customer public.customer pg_temp.x
  pg_toast.pg_toast_1 plinth.public.customer dual sqlite_master "plinth.token" "plinth_sql.record" CUSTOMERS
  "Customer" "pg_catalog"."pg_authid" U&"\\0070g_class"`
  .split(/\s+/)
  .filter(Boolean)

refused(
  'relations out of sight',
  ...RELATIONS.map((relation) => `SELECT * FROM ${relation}`),
  'TABLE plinth.token',
  'SELECT plinth.token.hash FROM plinth.token',
  'SELECT * FROM customer, plinth.token',
  'SELECT * FROM customer JOIN hidden USING (id)',
  'SELECT * FROM customer UNION ALL SELECT * FROM plinth.token',
  'SELECT (SELECT hash FROM plinth.token LIMIT 1)',
  'SELECT * FROM customer WHERE id IN (SELECT id FROM plinth.token)',
  'SELECT * FROM customer WHERE EXISTS (SELECT 1 FROM pg_authid)',
  'WITH x AS (SELECT * FROM plinth.token) SELECT * FROM x',
  'SELECT * FROM LATERAL (SELECT * FROM plinth.token) x',
  'SELECT ARRAY(SELECT name FROM plinth.token)',
  'SELECT 1 ORDER BY (SELECT name FROM plinth.token LIMIT 1)',
  'SELECT 1 LIMIT (SELECT count(*) FROM plinth.token)',
  'SELECT count(*) OVER (ORDER BY (SELECT name FROM plinth.token LIMIT 1))',
  'WITH RECURSIVE t AS (SELECT id FROM customer UNION SELECT id FROM plinth.token) SELECT * FROM t',
  // The name of a WITH query is a relation only within its scope.
  'SELECT * FROM (WITH token AS (SELECT 1) SELECT * FROM token) a, token b',
  'WITH a AS (SELECT * FROM token), token AS (SELECT 1) SELECT * FROM a',
  'WITH token AS (SELECT * FROM token) SELECT * FROM token',
  'WITH token AS (SELECT 1) SELECT * FROM plinth.token',
  'SELECT * FROM customer c, (SELECT * FROM c) x',
  'SELECT * FROM ONLY customer',
  'SELECT * FROM customer *, hidden',
  'SELECT * FROM customer TABLESAMPLE SYSTEM (10)',
  'SELECT * FROM customer TABLESAMPLE BERNOULLI (pg_sleep(1)::int)',
)

refused(
  'columns out of sight',
  'SELECT base_id FROM records',
  `SELECT * FROM records WHERE base_id = 'rival'`,
  'SELECT base_id FROM customer',
  'SELECT record_type FROM customer',
  'SELECT c.base_id FROM customer c',
  'SELECT customer.base_id FROM customer',
  'SELECT token_id FROM changes',
  'SELECT xid FROM changes',
  'SELECT cause FROM changes',
  'SELECT password FROM records',
  'SELECT * FROM records JOIN changes USING (base_id)',
  'SELECT ctid FROM customer',
  'SELECT c.ctid FROM customer c',
  'SELECT tableoid FROM customer',
  'SELECT c.tableoid::regclass FROM customer c',
  'SELECT xmin FROM records',
  'SELECT xmax, cmin, cmax FROM records',
  'SELECT oid FROM records',
  'SELECT plinth.record.data FROM customer',
  'SELECT customer.data.x FROM customer',
  'SELECT plinth_sql.record.base_id FROM customer',
  'SELECT rival.order.id FROM "order"',
  'SELECT o.id FROM customer c, (SELECT o.id) x',
  'SELECT x.secret FROM (SELECT * FROM customer) x',
  'SELECT b.id FROM (customer a JOIN "order" b ON true) AS j',
  'SELECT a.id FROM customer a UNION SELECT a.id FROM "order" b',
)

/** Types whose input function reads the catalogs, or whose text form reveals them. */
const TYPES =
  `regclass regproc regprocedure regoper regoperator regrole regnamespace regtype regconfig regdictionary
  regcollation oid name xid xid8 cid tid pg_lsn txid_snapshot pg_snapshot refcursor tsvector tsquery xml bytea bit
  varbit money inet cidr macaddr point box polygon circle int4range tstzrange aclitem "char" char bpchar record anyelement
  cstring void unknown internal trigger pg_node_tree plinth.token plinth.record public.x customer pg_catalog.regclass
  information_schema.sql_identifier`
    .split(/\s+/)
    .filter(Boolean)

refused(
  'casts',
  ...TYPES.map((type) => `SELECT '1'::${type}`),
  `SELECT CAST('plinth.token' AS regclass)`,
  `SELECT regclass 'plinth.token'`,
  `SELECT ARRAY['plinth.token']::regclass[]`,
  `SELECT NULL::plinth.token`,
  `SELECT NULL::customer`,
  `SELECT * FROM jsonb_to_recordset('[]') AS t (a regclass)`,
  `SELECT * FROM ROWS FROM (jsonb_to_recordset('[]') AS (a regclass))`,
  `SELECT 1::SETOF int`,
  `SELECT 1::customer.id%TYPE`,
  `SELECT 'plinth.token'::text::regclass::oid`,
)

refused(
  'operators and collations',
  'SELECT 1 OPERATOR(pg_catalog.+) 1',
  'SELECT 1 OPERATOR(public.+) 1',
  'SELECT 1 OPERATOR(plinth.@@@) 1',
  'SELECT id FROM customer ORDER BY id USING <',
  'SELECT id FROM customer ORDER BY id USING OPERATOR(pg_catalog.<)',
  `SELECT 'a' COLLATE "de_DE"`,
  `SELECT 'a' COLLATE pg_catalog."C"`,
  `SELECT 'a' COLLATE "und-x-icu" < 'b'`,
  `SELECT 'a' <-> 'b'`,
  `SELECT 'a' @@@ 'b'`,
  `SELECT 'a' ~<=~ 'b'`,
  `SELECT 'x' SIMILAR TO '(x|y)*'`,
  `SELECT 1 = ANY (SELECT 1 FROM plinth.token)`,
  'SELECT !!1',
)

refused(
  'other constructs',
  'SELECT xmlelement(name x, 1)',
  'SELECT xmlforest(1 AS a)',
  `SELECT xmlparse(DOCUMENT '<x/>')`,
  `SELECT * FROM XMLTABLE('/x' PASSING '<x/>' COLUMNS a text)`,
  `SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a text PATH '$'))`,
  `SELECT JSON_VALUE('{}', '$.a')`,
  `SELECT JSON_QUERY('{}', '$.a')`,
  `SELECT JSON_EXISTS('{}', '$.a')`,
  `SELECT JSON_OBJECT('a': 1)`,
  'SELECT JSON_ARRAY(1, 2)',
  'SELECT JSON_ARRAYAGG(1)',
  `SELECT JSON_SERIALIZE('{}')`,
  `SELECT JSON('{}')`,
  `SELECT '{}' IS JSON`,
  `SELECT B'101'`,
  `SELECT X'1F'`,
  'SELECT concat(VARIADIC ARRAY[1, 2])',
  'SELECT COLLATION FOR (id) FROM customer',
  'SELECT * FROM customer WHERE CURRENT OF c',
  'WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n FROM t) SEARCH DEPTH FIRST BY n SET s SELECT * FROM t',
  'WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n FROM t) CYCLE n SET c USING p SELECT * FROM t',
  'WITH x AS NOT MATERIALIZED (SELECT 1) SELECT * FROM x',
  'WITH RECURSIVE t AS (SELECT * FROM t) SELECT * FROM t',
  'VALUES (DEFAULT)',
  'SELECT id FROM customer ORDER BY id FETCH FIRST 1 ROW WITH TIES',
  'SELECT GROUPING SETS (1)',
  '\\d plinth.token',
  '',
  ' ',
  ';',
  '--',
  '/* SELECT 1 */',
  `SELECT 'unfinished`,
  'SELECT "unfinished',
  'SELECT $$unfinished',
  'SELECT /* unfinished',
  'GET_LOCK(1)',
  'SELECT @@version',
  'USE rival',
  'DESCRIBE customer',
  'SELECT TOP 1 * FROM customer',
  'SELECT `id` FROM `customer`',
  'SELECT [id] FROM [customer]',
)

refused(
  'time and memory',
  'SELECT * FROM generate_series(1, 1000000000)',
  'SELECT generate_series(1, 1000000000)',
  'SELECT * FROM generate_series(1, 10, 0)',
  'SELECT * FROM generate_series(1, 10, 0.0000001)',
  'SELECT * FROM generate_series(1, (SELECT count(*) FROM customer))',
  'SELECT g FROM customer c, generate_series(1, length(c.name) * 1000000) g',
  `SELECT * FROM generate_series(timestamp '1000-01-01', timestamp '9999-01-01', interval '1 second')`,
  `SELECT * FROM generate_series(now(), now() + interval '100 years', interval '1 minute')`,
  `SELECT * FROM generate_series(date_trunc('millennium', now()), now(), interval '1 second')`,
  `SELECT * FROM generate_series(now(), now() + interval '9000' year, interval '1 minute')`,
  `SELECT * FROM generate_series(date_trunc('day', now() + interval '999999999 years'), now(), interval '1 day')`,
  `SELECT * FROM generate_series(now(), 'infinity', interval '1 day')`,
  `SELECT repeat('x', 1000000000)`,
  `SELECT repeat(repeat('x', 1000), 1000)`,
  `SELECT repeat(name, 1000) FROM customer`,
  `SELECT repeat('x', length(name)) FROM customer`,
  `SELECT lpad(name, 100000000) FROM customer`,
  `SELECT rpad(name, length(name) * 1000000) FROM customer`,
  `SELECT email ~ email FROM customer`,
  `SELECT 'x' ~ name FROM customer`,
  `SELECT 'aaaaaaaaaaaaaaaaaaaa' ~ '(a*)*\\1b'`,
  `SELECT 'aaaa' ~ '(.*)(.*)(.*)\\3\\2\\1'`,
  `SELECT 'x' ~ '((x{1,50}){1,50}){1,50}'`,
  `SELECT 'x' ~ 'x{1000}'`,
  `SELECT 'x' ~ '(?=x)x'`,
  `SELECT 'x' ~ '(?<!x)x'`,
  `SELECT 'x' ~ '***=x'`,
  `SELECT 'x' ~ '${'x'.repeat(300)}'`,
  `SELECT regexp_replace(name, name, 'x') FROM customer`,
  `SELECT regexp_matches(name, email) FROM customer`,
  `SELECT substring(name FROM email) FROM customer`,
  `SELECT substring(name, email) FROM customer`,
  `SELECT substring('x' SIMILAR 'x' ESCAPE '#')`,
  `SELECT data @? '$ ? (@.a like_regex "(x+)+y")' FROM customer`,
  `SELECT jsonb_path_exists(data, name::jsonpath) FROM customer`,
  `SELECT data @@ (data->>'x')::jsonpath FROM customer`,
  'SELECT count(*) FROM customer GROUP BY CUBE (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)',
  'SELECT count(*) FROM customer GROUP BY CUBE (id, name), CUBE (email, country), CUBE (vip, since, data)',
  `SELECT ${'('.repeat(6000)}1${')'.repeat(4000)}`,
  `SELECT 1${'+1'.repeat(3000)}`,
  `SELECT ${'NOT '.repeat(2000)}true`,
  `SELECT ${'-'.repeat(1)}1${' - - 1'.repeat(1000)}`,
  `SELECT ${'('.repeat(300)}SELECT 1${')'.repeat(300)}`.replaceAll('(', '(SELECT ('),
  `SELECT 1${' UNION SELECT 1'.repeat(600)}`,
  `SELECT * FROM customer${', customer'.repeat(60)}`,
  `SELECT ${'CASE WHEN true THEN '.repeat(300)}1${' END'.repeat(300)}`,
  `SELECT ARRAY${'['.repeat(500)}1${']'.repeat(500)}`,
  `SELECT 1${'::int'.repeat(500)}`,
  `SELECT '${'x'.repeat(11_000)}'`,
  `SELECT 1 -- ${'🎉'.repeat(3000)}`,
  `WITH ${Array.from({ length: 12 }, (_, n) => `c${n} AS (SELECT ${n === 0 ? '1 AS a' : `* FROM c${n - 1} x, c${n - 1} y`})`).join(', ')} SELECT * FROM c11`,
)

bound('parameters', 'SELECT $1', [])
bound('parameters', 'SELECT $2', [1])
bound('parameters', 'SELECT $0', [1])
bound('parameters', 'SELECT $99999', [1])
bound('parameters', 'SELECT $2147483648', [1])
bound('parameters', 'SELECT 1', [1])
bound('parameters', 'SELECT $1', [1, 2])
bound('parameters', 'SELECT :a', {})
bound('parameters', 'SELECT :a', { b: 1 })
bound('parameters', 'SELECT :a', { a: 1, b: 2 })
bound('parameters', 'SELECT :a, $1', { a: 1 })
bound('parameters', 'SELECT :a, $1', [1])
bound('parameters', 'SELECT * FROM $1', ['plinth.token'])
bound('parameters', 'SELECT * FROM :t', { t: 'plinth.token' })
bound('parameters', 'SELECT $1::regclass', ['plinth.token'])
bound('parameters', 'SELECT $1.pg_sleep', [1])
bound('parameters', 'SELECT ($1).pg_sleep', [1])
bound('parameters', 'SELECT current_setting($1)', ['data_directory'])
bound('parameters', `SELECT 'x' ~ $1`, ['(x)\\1'])
bound('parameters', 'SELECT * FROM generate_series(1, $1)', [1_000_000_000])
bound('parameters', 'SELECT repeat($1, 1000)', ['x'.repeat(100_000)])
bound('parameters', `SELECT lpad('x', $1)`, [1_000_000_000])
bound('parameters', `SELECT data @? $1 FROM customer`, ['$ ? (@ like_regex "x")'])
bound('parameters', 'SELECT $1', ['a\0b'])
bound('parameters', 'SELECT $1', ['\ud800'])
bound('parameters', 'SELECT $1::jsonb', [{ a: '\0' }])
bound('parameters', 'SELECT count(*) FROM customer WHERE country IN ($1)', [['DE']])
bound('parameters', 'SELECT :__proto__', { a: 1 })
bound('parameters', 'SELECT :constructor', {})
bound('injection by a value', 'SELECT $1', [`'; DROP TABLE plinth.record; --`], true)
bound('injection by a value', 'SELECT count(*) FROM customer WHERE id = $1', [`' OR '1'='1`], true)
bound(
  'injection by a value',
  'SELECT count(*) FROM customer WHERE id = :id',
  { id: `\\'; SELECT * FROM plinth.token --` },
  true,
)
bound(
  'injection by a value',
  'SELECT count(*) FROM customer WHERE id = ANY ($1)',
  [[`"}'; DROP TABLE plinth.record; --`]],
  true,
)
bound('injection by a value', 'SELECT $1::jsonb', [{ "'": `"'; --` }], true)
bound('injection by a value', `SELECT data->>$1 FROM customer LIMIT 1`, [`name' FROM plinth.token --`], true)

harmless(
  'asks for what is not its own',
  `SELECT * FROM records WHERE record_type = 'hidden'`,
  `SELECT * FROM records WHERE record_type <> 'customer' OR true`,
  `SELECT * FROM changes WHERE record_type = 'hidden' OR kind = 'token'`,
  `SELECT * FROM changes`,
  `SELECT * FROM record_types`,
  `SELECT * FROM record_types WHERE id = 'hidden' OR true`,
  `SELECT r FROM records r`,
  `SELECT c FROM changes c`,
  `SELECT count(*), max(data::text), min(data::text) FROM records`,
  `SELECT string_agg(data::text, '') FROM records`,
  `SELECT jsonb_agg(to_jsonb(r)) FROM records r`,
  `SELECT row_to_json(r) FROM changes r`,
  `SELECT a.id FROM records a FULL JOIN records b ON true WHERE a.record_type = 'hidden' OR b.record_type = 'hidden'`,
  `WITH RECURSIVE t AS (SELECT * FROM records UNION SELECT r.* FROM records r JOIN t ON true) SELECT count(*), max(data::text) FROM t`,
  `SELECT (data->>'name')::int FROM records`,
  `SELECT id FROM records WHERE (data->>'name')::numeric > 0`,
  'SELECT',
  `SELECT e'\\'; SELECT * FROM plinth.token; --'`,
  `SELECT $a$'; DROP TABLE plinth.record; --$a$`,
  `SELECT 1 AS "'; DROP TABLE plinth.record; --"`,
  `SELECT "a""; SELECT * FROM plinth.token" FROM (SELECT 1 AS "a""; SELECT * FROM plinth.token") x`,
  `SELECT U&'\\0027; DROP TABLE plinth.record'`,
)

/** Side channels: statements that fail if a row exists that is not granted. */
export const ORACLE = 'failing on what is not its own'

harmless(
  ORACLE,
  `SELECT CASE WHEN data::text LIKE '%CANARY%' THEN 1 / (version - version) ELSE 1 END FROM records`,
  `SELECT CASE WHEN actor_name LIKE '%CANARY%' THEN 1 / (version - version) ELSE 1 END FROM changes`,
  `SELECT id FROM records WHERE 1 / (CASE WHEN record_type = 'hidden' THEN 0 ELSE 1 END) = 1`,
  `SELECT id FROM changes WHERE 1 / (CASE WHEN kind = 'token' THEN 0 ELSE 1 END) = 1`,
  `SELECT count(*) FROM records WHERE 1 / (CASE WHEN data::text LIKE '%CANARY%' THEN 0 ELSE 1 END) = 1`,
  `SELECT count(*) FROM customer WHERE 1 / (CASE WHEN id = 'canary' THEN 0 ELSE 1 END) = 1`,
  `SELECT count(*) FROM record_types WHERE 1 / (CASE WHEN id = 'hidden' THEN 0 ELSE 1 END) = 1`,
  `SELECT count(*) FROM records GROUP BY 1 / (CASE WHEN record_type = 'hidden' THEN 0 ELSE 1 END)`,
  `SELECT count(*) FROM records r JOIN customer c ON 1 / (CASE WHEN r.record_type = 'hidden' THEN 0 ELSE 1 END) = 1`,
)

/**
 * At least 300 distinct statements that the endpoint must reject, or run without revealing data that is not
 * granted.
 */
export const ATTACKS: readonly Attack[] = attacks
