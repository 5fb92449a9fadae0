-- How much tokens used, added up by the hour. Rows belong to no other by a foreign key, as those of calls; they go with their base.
-- What is not known of a use is the empty text, so that the key holds it.
CREATE TABLE plinth.usage (
  base_id text COLLATE "C" NOT NULL,
  hour timestamptz(0) NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  surface text COLLATE "C" NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  tool text COLLATE "C" NOT NULL,
  actor_name text NOT NULL,
  actor_kind text,
  calls bigint NOT NULL,
  failed bigint NOT NULL,
  reads bigint NOT NULL,
  changes bigint NOT NULL,
  bytes_in bigint NOT NULL,
  bytes_out bigint NOT NULL,
  ms bigint NOT NULL,
  PRIMARY KEY (base_id, hour, token_id, surface, endpoint, tool)
);

-- The one row says up to which entry of the change log changes are counted.
CREATE TABLE plinth.usage_position (
  id bool PRIMARY KEY DEFAULT true CHECK (id),
  seq bigint NOT NULL
);
INSERT INTO plinth.usage_position (seq) SELECT coalesce(pg_sequence_last_value('plinth.change_seq_seq'), 0);
