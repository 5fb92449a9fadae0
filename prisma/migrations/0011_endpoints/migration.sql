-- Factory endpoints: sets of tools for one kind of agent, and named lists of tools that endpoints share.
CREATE TABLE plinth.toolset (
  base_id      text COLLATE "C" NOT NULL,
  id           text COLLATE "C" NOT NULL,
  name         text NOT NULL,
  description  text,
  -- `json`, not `jsonb`: the order of keys is the author's.
  tools        json NOT NULL,
  -- Names that tools had before: [{ name, now }], the newest last.
  former_names jsonb NOT NULL,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT toolset_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT toolset_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX toolset_newest ON plinth.toolset (base_id, created_at, id);

CREATE TABLE plinth.endpoint (
  base_id       text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  name          text NOT NULL,
  description   text,
  instructions  text,
  toolsets      text[] COLLATE "C" NOT NULL,
  tools         json NOT NULL,
  relationships json NOT NULL,
  batch         json NOT NULL,
  sql_query     boolean NOT NULL,
  resources     boolean NOT NULL,
  enabled       boolean NOT NULL,
  former_names  jsonb NOT NULL,
  version       integer NOT NULL DEFAULT 1,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT endpoint_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT endpoint_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX endpoint_newest ON plinth.endpoint (base_id, created_at, id);
