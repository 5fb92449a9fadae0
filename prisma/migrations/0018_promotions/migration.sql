-- What was promoted from a preview to its production base, or rolled back there: each resource before and after.
CREATE TABLE plinth.promotion (
  base_id    text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  kind       text NOT NULL,
  from_base  text COLLATE "C" NOT NULL,
  status     text NOT NULL,
  -- `json`, not `jsonb`: the order of properties is the author's.
  edits      json NOT NULL,
  conflicts  json NOT NULL,
  created_by text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT promotion_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT promotion_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX promotion_newest ON plinth.promotion (base_id, created_at, id);
