-- A reader of the whole base sees the use of all tokens, a reader of a part that of its own token, as in the view of calls.
CREATE VIEW plinth_sql.usage WITH (security_barrier) AS
  SELECT u.base_id, u.hour, u.token_id, u.actor_name, coalesce(u.actor_kind, 'program') AS actor_kind, u.surface,
    nullif(u.endpoint, '') AS endpoint, nullif(u.tool, '') AS tool, u.calls, u.failed, u.reads, u.changes, u.bytes_in, u.bytes_out, u.ms
  FROM plinth.usage u
  WHERE (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (u.base_id, '*')
    AND ((SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR u.token_id = (SELECT g.token_id FROM plinth.sql_grant g WHERE g.role = session_user));
