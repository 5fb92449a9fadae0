CREATE TABLE plinth.relationship_type (
  base_id             text COLLATE "C" NOT NULL,
  id                  text COLLATE "C" NOT NULL,
  name                text NOT NULL,
  description         text,
  -- `json`, not `jsonb`: the order of properties is the author's.
  data_schema         json NOT NULL,
  -- Record type ids, or '*' for any.
  source_record_types text[] COLLATE "C" NOT NULL,
  target_record_types text[] COLLATE "C" NOT NULL,
  cardinality         text NOT NULL,
  on_delete           text NOT NULL,
  version             integer NOT NULL DEFAULT 1,
  created_at          timestamptz(3) NOT NULL DEFAULT now(),
  updated_at          timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT relationship_type_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT relationship_type_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE,
  CONSTRAINT relationship_type_cardinality CHECK (cardinality IN ('many_to_many', 'one_to_many', 'many_to_one', 'one_to_one')),
  CONSTRAINT relationship_type_on_delete CHECK (on_delete IN ('unlink', 'restrict', 'cascade'))
);
CREATE INDEX relationship_type_newest ON plinth.relationship_type (base_id, created_at, id);

-- A link. Its ends stand here by name, for answers, and by number, for walking.
CREATE TABLE plinth.relationship (
  base_id            text COLLATE "C" NOT NULL,
  id                 text COLLATE "C" NOT NULL,
  rel_type           text COLLATE "C" NOT NULL,
  source_record_type text COLLATE "C" NOT NULL,
  source_id          text COLLATE "C" NOT NULL,
  source_row         bigint NOT NULL,
  target_record_type text COLLATE "C" NOT NULL,
  target_id          text COLLATE "C" NOT NULL,
  target_row         bigint NOT NULL,
  data               jsonb NOT NULL,
  external_source    text COLLATE "C",
  external_id        text COLLATE "C",
  version            integer NOT NULL DEFAULT 1,
  -- False when a later schema no longer accepts what the link holds.
  valid              boolean NOT NULL DEFAULT true,
  -- May the source have no other target, the target no other source? As the type's cardinality says.
  one_target         boolean NOT NULL,
  one_source         boolean NOT NULL,
  created_at         timestamptz(3) NOT NULL DEFAULT now(),
  updated_at         timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT relationship_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT relationship_pair_whole CHECK ((external_source IS NULL) = (external_id IS NULL)),
  CONSTRAINT relationship_rel_type FOREIGN KEY (base_id, rel_type) REFERENCES plinth.relationship_type (base_id, id) ON DELETE CASCADE,
  -- Whoever deletes a record takes its links out first, each with its entry in the log. A link that comes between is seen here.
  CONSTRAINT relationship_source FOREIGN KEY (source_row) REFERENCES plinth.record (row_no),
  CONSTRAINT relationship_target FOREIGN KEY (target_row) REFERENCES plinth.record (row_no)
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX relationship_outgoing ON plinth.relationship (source_row, rel_type, target_row);
CREATE INDEX relationship_incoming ON plinth.relationship (target_row, rel_type, source_row);
CREATE UNIQUE INDEX relationship_one_target ON plinth.relationship (source_row, rel_type) WHERE one_target;
CREATE UNIQUE INDEX relationship_one_source ON plinth.relationship (target_row, rel_type) WHERE one_source;
CREATE UNIQUE INDEX relationship_external ON plinth.relationship (base_id, rel_type, external_source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX relationship_newest ON plinth.relationship (base_id, created_at, id);
CREATE INDEX relationship_of_type ON plinth.relationship (base_id, rel_type, created_at, id);

-- Finds the last version of a link's id, and keeps one version number from being given twice.
CREATE UNIQUE INDEX change_link_version ON plinth.change (base_id, id, version) WHERE kind = 'relationship';
