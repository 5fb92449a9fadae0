-- Links and their types for SQL. A link is shown where both of its ends may be read, whatever its type.
DROP VIEW plinth_sql.relationship;
CREATE VIEW plinth_sql.relationship WITH (security_barrier) AS
  SELECT l.base_id, l.id, l.rel_type, l.source_record_type, l.source_id, l.target_record_type, l.target_id,
    l.external_id, l.external_source, l.data, l.version, l.created_at, l.updated_at
  FROM plinth.relationship l
  WHERE CASE WHEN (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (l.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user)
        ?& ARRAY[l.source_record_type, l.target_record_type]
    ELSE false END;

-- A type is shown where both of its ends could be read, and names none but the record types that may be.
DROP VIEW plinth_sql.relationship_type;
CREATE VIEW plinth_sql.relationship_type WITH (security_barrier) AS
  SELECT t.base_id, t.id, t.name, t.description, t.data_schema::jsonb AS data_schema,
    s.named AS source_record_types, d.named AS target_record_types, t.cardinality, t.on_delete, t.version,
    t.created_at, t.updated_at
  FROM plinth.sql_grant g, plinth.relationship_type t,
    LATERAL (SELECT jsonb_agg(n) AS named FROM unnest(t.source_record_types) AS n
      WHERE n = '*' OR g.record_types ? '*' OR g.record_types ? n) s,
    LATERAL (SELECT jsonb_agg(n) AS named FROM unnest(t.target_record_types) AS n
      WHERE n = '*' OR g.record_types ? '*' OR g.record_types ? n) d
  WHERE g.role = session_user AND g.base_id IN (t.base_id, '*') AND s.named IS NOT NULL AND d.named IS NOT NULL;
