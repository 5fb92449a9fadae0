-- File types: a storage policy, and the schema of the metadata of files.
CREATE TABLE plinth.file_type (
  base_id         text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  name            text NOT NULL,
  description     text,
  storage         jsonb NOT NULL,
  -- `json`, not `jsonb`: the order of properties is the author's.
  metadata_schema json NOT NULL,
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT file_type_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT file_type_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX file_type_newest ON plinth.file_type (base_id, created_at, id);
