-- The tool call of a change, for readers of the whole base: names of tools and endpoints tell what else the base has. A
-- role stands for a set of types and not for a token, so the view cannot show a token its own calls only.
CREATE OR REPLACE VIEW plinth_sql.change WITH (security_barrier) AS
  SELECT c.base_id, c.seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version, c.data,
    c.external_id, c.external_source,
    CASE WHEN c.kind <> 'record' THEN NULL WHEN c.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    c.actor_name, c.via, c.request_id,
    CASE WHEN c.call IS NOT NULL AND (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      THEN jsonb_build_object('id', c.call -> 0, 'tool', c.call -> 1, 'endpoint', c.call -> 2, 'client', c.call -> 3,
        'trace_id', c.call -> 4) END AS call
  FROM plinth.change c
  WHERE CASE WHEN c.kind NOT IN ('token', 'secret')
      AND (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (c.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (c.kind = 'record'
        AND (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? c.record_type)
    ELSE false END;
