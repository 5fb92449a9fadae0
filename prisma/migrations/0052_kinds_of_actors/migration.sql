-- Who uses a token: a person, an agent or a program.
ALTER TABLE plinth.token ADD COLUMN kind text NOT NULL DEFAULT 'program',
  ADD CONSTRAINT token_kind CHECK (kind IN ('person', 'agent', 'program'));
-- What made a change; null for a program, as before, which costs no byte.
ALTER TABLE plinth.change ADD COLUMN actor_kind text;

CREATE OR REPLACE VIEW plinth_sql.change WITH (security_barrier) AS
  SELECT c.base_id, c.seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version, c.data,
    c.external_id, c.external_source,
    CASE WHEN c.kind <> 'record' THEN NULL WHEN c.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    c.actor_name, c.via, c.request_id,
    CASE WHEN c.call IS NOT NULL AND ((SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
        OR c.token_id = (SELECT g.token_id FROM plinth.sql_grant g WHERE g.role = session_user))
      THEN jsonb_build_object('id', c.call -> 0, 'tool', c.call -> 1, 'endpoint', c.call -> 2, 'client', c.call -> 3,
        'trace_id', c.call -> 4) END AS call,
    c.token_id, coalesce(c.actor_kind, 'program') AS actor_kind
  FROM plinth.change c
  WHERE CASE WHEN c.kind NOT IN ('token', 'secret')
      AND (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (c.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (c.kind = 'record'
        AND (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? c.record_type)
    ELSE false END;
