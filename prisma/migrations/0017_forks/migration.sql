-- The configuration that a preview started with: what its changes, and those of production since, are measured from.
CREATE TABLE plinth.fork (
  base_id    text COLLATE "C" NOT NULL,
  kind       text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  -- The canonical form. `json`, not `jsonb`: the order of properties is the author's.
  definition json NOT NULL,
  CONSTRAINT fork_pkey PRIMARY KEY (base_id, kind, id),
  CONSTRAINT fork_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
