-- Who holds a claim, by name: a token can be gone before its claim.
ALTER TABLE plinth.claim ADD COLUMN token_name text NOT NULL DEFAULT '';
UPDATE plinth.claim k SET token_name = t.name FROM plinth.token t WHERE t.id = k.token_id;
ALTER TABLE plinth.claim ALTER COLUMN token_name DROP DEFAULT;
-- The claims on one record.
CREATE INDEX claim_of_record ON plinth.claim (base_id, record_id) WHERE row_no IS NOT NULL;

-- Claims for SQL: those on records that the role may read, without lost ones.
CREATE VIEW plinth_sql.claim WITH (security_barrier) AS
  SELECT k.base_id, k.id, k.record_type, k.record_id, s.status,
    jsonb_build_object('token_id', k.token_id, 'name', k.token_name) AS holder,
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

-- Actions of an endpoint say with whose rights they run.
ALTER TABLE plinth.endpoint ALTER COLUMN actions DROP DEFAULT;
ALTER TABLE plinth.endpoint ALTER COLUMN actions TYPE json USING to_json(actions);
ALTER TABLE plinth.endpoint ALTER COLUMN actions SET DEFAULT '[]';
