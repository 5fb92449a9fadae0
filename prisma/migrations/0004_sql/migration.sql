-- What the SQL endpoint reads. Every view is narrowed by the grant of the role that logged in: no setting and no
-- SET ROLE changes session_user. security_barrier keeps a caller's conditions from running on rows outside the grant.

CREATE SCHEMA plinth_sql;

-- One login role for each base and set of record types. The password lets every process log in as the same role.
CREATE TABLE plinth.sql_grant (
  role         text COLLATE "C" NOT NULL,
  -- "*" for every base: only where statements run under the server's own login.
  base_id      text COLLATE "C" NOT NULL,
  -- The ids of the types that may be read; "*" among them for all.
  record_types jsonb NOT NULL,
  password     text,
  used_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT sql_grant_pkey PRIMARY KEY (role)
);

-- A subquery without a reference to the row runs once a statement. The planner knows no better of a CASE than that it
-- holds for half the rows, which is near enough: of the comparisons themselves it would expect that hardly any passes,
-- and join by nested loops. A caller's base and type reach the primary key from above, since equality of text is leakproof.
CREATE VIEW plinth_sql.record WITH (security_barrier) AS
  SELECT r.base_id, r.record_type, r.id, r.external_id, r.external_source,
    CASE WHEN r.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    r.version, r.created_at, r.updated_at, r.data
  FROM plinth.record r
  WHERE CASE WHEN (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (r.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? r.record_type
    ELSE false END;

CREATE VIEW plinth_sql.record_type WITH (security_barrier) AS
  SELECT t.base_id, t.id, t.name, t.description, t.icon, t.color, t.json_schema::jsonb AS json_schema,
    t.timezone, t.display::jsonb AS display, t.version, t.created_at, t.updated_at
  FROM plinth.record_type t
  WHERE CASE WHEN (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (t.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? t.id
    ELSE false END;

-- Of a base whose types are not all granted only the log of records is shown; of tokens and secrets nothing ever is.
CREATE VIEW plinth_sql.change WITH (security_barrier) AS
  SELECT c.base_id, c.seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version, c.data,
    c.external_id, c.external_source,
    CASE WHEN c.kind <> 'record' THEN NULL WHEN c.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    c.actor_name, c.via, c.request_id
  FROM plinth.change c
  WHERE CASE WHEN c.kind NOT IN ('token', 'secret')
      AND (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (c.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (c.kind = 'record'
        AND (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? c.record_type)
    ELSE false END;

-- Relationships have no table yet: statements that name them read nothing.
CREATE VIEW plinth_sql.relationship WITH (security_barrier) AS
  SELECT NULL::text AS base_id, NULL::text AS id, NULL::text AS rel_type, NULL::text AS source_record_type,
    NULL::text AS source_id, NULL::text AS target_record_type, NULL::text AS target_id, NULL::text AS external_id,
    NULL::text AS external_source, NULL::jsonb AS data, NULL::integer AS version, NULL::timestamptz AS created_at,
    NULL::timestamptz AS updated_at
  WHERE false;

CREATE VIEW plinth_sql.relationship_type WITH (security_barrier) AS
  SELECT NULL::text AS base_id, NULL::text AS id, NULL::text AS name, NULL::text AS description,
    NULL::jsonb AS data_schema, NULL::jsonb AS source_record_types, NULL::jsonb AS target_record_types,
    NULL::text AS cardinality, NULL::text AS on_delete, NULL::integer AS version, NULL::timestamptz AS created_at,
    NULL::timestamptz AS updated_at
  WHERE false;
