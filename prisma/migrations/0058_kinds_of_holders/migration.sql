-- What the holder of a claim is, as in the change log: null for a program.
ALTER TABLE plinth.claim ADD COLUMN token_kind text;

CREATE OR REPLACE VIEW plinth_sql.claim WITH (security_barrier) AS
  SELECT k.base_id, k.id, k.record_type, k.record_id, s.status,
    jsonb_build_object('token_id', k.token_id, 'name', k.token_name, 'kind', coalesce(k.token_kind, 'program')) AS holder,
    k.created_at AS claimed_at, k.attempts, k.expires_at
  FROM plinth.claim k,
    LATERAL (SELECT r.version FROM plinth.record r WHERE r.row_no = k.row_no LIMIT 1) r,
    LATERAL (SELECT CASE
      WHEN k.status = 'completed' THEN CASE WHEN k.version = r.version THEN 'completed' END
      WHEN k.status = 'held' AND k.expires_at > now() THEN 'active'
      WHEN k.version = r.version AND k.attempts >= k.max_attempts THEN 'exhausted' END AS status) s
  WHERE k.row_no IS NOT NULL AND s.status IS NOT NULL
    AND CASE WHEN (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (k.base_id, '*')
      THEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ?| ARRAY['*', k.record_type]
      ELSE false END;
