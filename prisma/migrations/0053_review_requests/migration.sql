-- What waits for a person in a base: a promotion that somebody asked for.
CREATE TABLE plinth.review_request (
  base_id text NOT NULL,
  id text NOT NULL,
  kind text NOT NULL,
  from_base text NOT NULL,
  -- What was asked for, as the body of a promotion: prune, resources, migration.
  asked jsonb NOT NULL,
  title text NOT NULL,
  note text,
  summary text NOT NULL,
  breaks jsonb NOT NULL,
  token_id text,
  actor_name text NOT NULL,
  via text NOT NULL,
  actor_kind text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  state text NOT NULL DEFAULT 'open',
  -- { decision, note, by, at, promotion_id }
  decision jsonb,
  PRIMARY KEY (base_id, id),
  CONSTRAINT review_request_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE,
  CONSTRAINT review_request_state CHECK (state IN ('open', 'accepted', 'declined', 'sent_back'))
);
CREATE INDEX review_request_newest ON plinth.review_request (base_id, created_at, id);
-- An agent that asks again replaces what it asked for before.
CREATE UNIQUE INDEX review_request_open ON plinth.review_request (base_id, from_base, token_id) WHERE state = 'open';
