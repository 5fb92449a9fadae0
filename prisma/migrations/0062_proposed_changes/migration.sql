-- Who proposed a change that a promotion of a change-set wrote. The entry of the log itself says who let it pass.
CREATE TABLE plinth.proposed_change (
  seq        bigint NOT NULL,
  base_id    text COLLATE "C" NOT NULL,
  token_id   text,
  actor_name text NOT NULL,
  actor_kind text,
  request_id text NOT NULL,
  call       jsonb,
  CONSTRAINT proposed_change_pkey PRIMARY KEY (seq),
  CONSTRAINT proposed_change_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX proposed_change_of_base ON plinth.proposed_change (base_id);
