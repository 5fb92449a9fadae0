-- Actions: named lists of steps that run in one transaction.
CREATE TABLE plinth.action (
  base_id      text COLLATE "C" NOT NULL,
  id           text COLLATE "C" NOT NULL,
  name         text NOT NULL,
  description  text,
  -- `json`, not `jsonb`: the order of keys is the author's.
  input_schema json NOT NULL,
  steps        json NOT NULL,
  output       json,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT action_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT action_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX action_newest ON plinth.action (base_id, created_at, id);

-- Runs: one that succeeded is written in the transaction of its records, one that failed alone.
CREATE TABLE plinth.action_run (
  base_id        text COLLATE "C" NOT NULL,
  action_id      text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  status         text NOT NULL,
  action_version integer NOT NULL,
  -- Null if it is too long to keep.
  input          json,
  output         json,
  -- What became of each step: [{ name, type, status, … }].
  steps          json NOT NULL,
  error          json,
  duration_ms    integer NOT NULL,
  token_id       text,
  actor_name     text NOT NULL,
  via            text NOT NULL,
  request_id     text NOT NULL,
  -- The delivery of a trigger that started it.
  cause          text,
  created_at     timestamptz(3) NOT NULL,
  CONSTRAINT action_run_pkey PRIMARY KEY (base_id, action_id, id),
  CONSTRAINT action_run_status CHECK (status IN ('succeeded', 'failed')),
  CONSTRAINT action_run_action FOREIGN KEY (base_id, action_id) REFERENCES plinth.action (base_id, id) ON DELETE CASCADE
);
CREATE INDEX action_run_newest ON plinth.action_run (base_id, action_id, created_at, id);
CREATE INDEX action_run_age ON plinth.action_run (created_at);
