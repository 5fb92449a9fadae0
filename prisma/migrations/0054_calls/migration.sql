-- The calls of a base: each tool call, and other requests that were refused. They belong to no row by a foreign key, whose check
-- would cost as much as the insertion; they go with their base. Ids are of the time, so that the newest are the last.
CREATE TABLE plinth.call (
  base_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  actor_name text NOT NULL,
  actor_kind text,
  via text NOT NULL,
  surface text NOT NULL,
  endpoint text,
  tool text,
  route text,
  outcome text NOT NULL,
  message text,
  ms int NOT NULL,
  bytes_in bigint NOT NULL,
  bytes_out bigint NOT NULL,
  arguments text,
  request_id text COLLATE "C" NOT NULL,
  call_id text,
  changes int NOT NULL,
  PRIMARY KEY (base_id, id)
);
CREATE INDEX call_of_token ON plinth.call (base_id, token_id, id);
CREATE INDEX call_of_request ON plinth.call (base_id, request_id);
CREATE INDEX call_failed ON plinth.call (base_id, id) WHERE outcome NOT IN ('ok', 'input_required', 'cancelled');

UPDATE plinth.base SET settings = settings || '{"calls_days": 7, "call_arguments": false}';

-- A reader of the whole base sees all of them, a reader of a part those of its own token.
CREATE VIEW plinth_sql.call WITH (security_barrier) AS
  SELECT c.base_id, c.id, c.at, c.token_id, c.actor_name, coalesce(c.actor_kind, 'program') AS actor_kind, c.via, c.surface,
    c.endpoint, c.tool, c.route, c.outcome, c.message, c.ms, c.bytes_in, c.bytes_out, c.arguments, c.request_id, c.changes
  FROM plinth.call c
  WHERE (SELECT g.base_id FROM plinth.sql_grant g WHERE g.role = session_user) IN (c.base_id, '*')
    AND ((SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*'
      OR c.token_id = (SELECT g.token_id FROM plinth.sql_grant g WHERE g.role = session_user));
