-- The tool call of a change: a reader of the whole base sees all of them, a reader of a part those of its own token. For
-- these there is a role for each token, so that the view shows a token no call of another.
ALTER TABLE plinth.sql_grant ADD COLUMN token_id text;

CREATE OR REPLACE VIEW plinth_sql.change WITH (security_barrier) AS
  SELECT c.base_id, c.seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version, c.data,
    c.external_id, c.external_source,
    CASE WHEN c.kind <> 'record' THEN NULL WHEN c.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    c.actor_name, c.via, c.request_id,
    CASE WHEN c.call IS NOT NULL AND ((SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
        OR c.token_id = (SELECT g.token_id FROM plinth.sql_grant g WHERE g.role = session_user))
      THEN jsonb_build_object('id', c.call -> 0, 'tool', c.call -> 1, 'endpoint', c.call -> 2, 'client', c.call -> 3,
        'trace_id', c.call -> 4) END AS call,
    c.token_id
  FROM plinth.change c
  WHERE CASE WHEN c.kind NOT IN ('token', 'secret')
      AND (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (c.base_id, '*')
    THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR (c.kind = 'record'
        AND (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? c.record_type)
    ELSE false END;
