-- Seeds: records and relationships that a preview can be filled with, and returned to.
CREATE TABLE plinth.seed (
  base_id       text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  name          text NOT NULL,
  description   text,
  -- `json`, not `jsonb`: the order of keys is the author's.
  records       json NOT NULL,
  relationships json NOT NULL,
  version       integer NOT NULL DEFAULT 1,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT seed_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT seed_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX seed_newest ON plinth.seed (base_id, created_at, id);
