-- Every key leads with base_id: tenancy is in the primary key, and the tables distribute by it as they stand.
-- Timestamps keep milliseconds, as the API shows them, so that what is sorted is what is seen.
-- Ids sort by code point, whatever the collation of the database.

CREATE TABLE plinth.base (
  id              text COLLATE "C" NOT NULL,
  name            text NOT NULL,
  description     text,
  environment     text NOT NULL,
  production_base text COLLATE "C",
  settings        jsonb NOT NULL,
  -- Counts the changes of the base's record types, so that what is compiled from them knows when it is stale.
  types_version   integer NOT NULL DEFAULT 0,
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT base_pkey PRIMARY KEY (id),
  CONSTRAINT base_environment CHECK (environment IN ('production', 'preview'))
);
CREATE INDEX base_newest ON plinth.base (created_at, id);
CREATE INDEX base_previews ON plinth.base (production_base);

CREATE TABLE plinth.record_type (
  base_id     text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  -- The id in letters that every tool name may have; given at creation and never changed, so no live tool is renamed.
  portable_id text COLLATE "C" NOT NULL,
  name        text NOT NULL,
  description text,
  icon        text,
  color       text,
  -- json, not jsonb: the order of properties is the author's and shows in tools and forms.
  json_schema json NOT NULL,
  timezone    text NOT NULL,
  display     json NOT NULL,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT record_type_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
-- Keys come after the indexes that hold the same columns: between equal costs the planner takes the younger index.
CREATE INDEX record_type_newest ON plinth.record_type (base_id, created_at, id);
CREATE UNIQUE INDEX record_type_portable ON plinth.record_type (base_id, portable_id);
ALTER TABLE plinth.record_type ADD CONSTRAINT record_type_pkey PRIMARY KEY (base_id, id);

-- What exists. What happened is in plinth.change: a DELETE takes the row out.
CREATE TABLE plinth.record (
  base_id         text COLLATE "C" NOT NULL,
  record_type     text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  external_source text COLLATE "C",
  external_id     text COLLATE "C",
  data            jsonb NOT NULL,
  version         integer NOT NULL,
  cancelled_at    timestamptz(3),
  -- False when a later schema no longer accepts what the record holds.
  valid           boolean NOT NULL DEFAULT true,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT record_pair_whole CHECK ((external_source IS NULL) = (external_id IS NULL)),
  -- The server-side check of the writing statement holds the type; this one holds deletion.
  CONSTRAINT record_record_type FOREIGN KEY (base_id, record_type) REFERENCES plinth.record_type (base_id, id) ON DELETE CASCADE
  -- Room on each page, so that an update stays on it and leaves the indexes alone.
) WITH (fillfactor = 80);
CREATE INDEX record_newest ON plinth.record (base_id, record_type, created_at, id);
CREATE UNIQUE INDEX record_external ON plinth.record (base_id, record_type, external_source, external_id) WHERE external_id IS NOT NULL;
ALTER TABLE plinth.record ADD CONSTRAINT record_pkey PRIMARY KEY (base_id, record_type, id);

-- The one change log. Every write inserts its row here in the same statement or transaction.
-- xid stands before seq on purpose: a reader that waits for all transactions up to a watermark then misses no row.
CREATE TABLE plinth.change (
  base_id         text COLLATE "C" NOT NULL,
  xid             xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq             bigint GENERATED ALWAYS AS IDENTITY,
  at              timestamptz(3) NOT NULL DEFAULT now(),
  kind            text NOT NULL,
  -- The record's type; null for all that is not a record.
  record_type     text COLLATE "C",
  id              text COLLATE "C" NOT NULL,
  operation       text NOT NULL,
  version         integer NOT NULL,
  -- The state after the change (before it, for a delete): a record's data, or the whole of another resource.
  data            jsonb NOT NULL,
  external_source text COLLATE "C",
  external_id     text COLLATE "C",
  cancelled_at    timestamptz(3),
  token_id        text,
  actor_name      text NOT NULL,
  via             text NOT NULL,
  request_id      text NOT NULL,
  cause           text,
  CONSTRAINT change_pkey PRIMARY KEY (base_id, seq),
  CONSTRAINT change_operation CHECK (operation IN ('create', 'update', 'cancel', 'delete', 'restore'))
);
-- Load-bearing: in a race of a write and a delete it is what stops one version number from being given twice.
CREATE UNIQUE INDEX change_version ON plinth.change (base_id, record_type, id, version) WHERE kind = 'record';

CREATE TABLE plinth.token (
  id           text COLLATE "C" NOT NULL,
  name         text NOT NULL,
  -- SHA-256 of a 256-bit secret: no slow hash is owed to it.
  hash         bytea NOT NULL,
  tail         text NOT NULL,
  grants       jsonb NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  created_by   text,
  expires_at   timestamptz(3),
  last_used_at timestamptz(3),
  CONSTRAINT token_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX token_hash ON plinth.token (hash);
CREATE INDEX token_newest ON plinth.token (created_at, id);

-- The first answer to a keyed write. Its row commits with the write, so neither is ever there without the other.
CREATE TABLE plinth.idempotency (
  token_id    text NOT NULL,
  key         text NOT NULL,
  fingerprint text NOT NULL,
  outcome     json,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_pkey PRIMARY KEY (token_id, key)
);
CREATE INDEX idempotency_age ON plinth.idempotency (created_at);

-- An RFC 3339 time as an instant; null for anything else, so that one odd value never fails a query.
-- The cast is reached only with an explicit offset, which is what makes IMMUTABLE true.
CREATE FUNCTION plinth.instant(value text, zone text) RETURNS timestamptz
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  plain text;
BEGIN
  IF value IS NULL OR length(value) > 64 THEN RETURN NULL; END IF;
  IF value ~ '^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$' THEN
    RETURN value::timestamptz;
  END IF;
  IF value ~ '^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?$' THEN
    plain := value;
    RETURN plain::timestamp AT TIME ZONE zone;
  END IF;
  RETURN NULL;
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format OR invalid_parameter_value THEN
  RETURN NULL;
END $$;
