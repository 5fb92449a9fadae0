-- Change-sets: previews that copy nothing. What differs from production stands in tables of its own, one row a record or
-- link, under the row number of what it overrides. No statement of production names them.

CREATE TABLE plinth.change_set (
  base_id    text COLLATE "C" NOT NULL,
  title      text,
  status     text NOT NULL DEFAULT 'open',
  -- Rises with each request that changes a draft, so that a review and a promotion can say what they have seen.
  revision   integer NOT NULL DEFAULT 0,
  token_id   text,
  actor_name text NOT NULL,
  written_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The transaction that raised the revision last.
  written_by xid8,
  CONSTRAINT change_set_pkey PRIMARY KEY (base_id),
  CONSTRAINT change_set_status CHECK (status IN ('open', 'merged')),
  CONSTRAINT change_set_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);

-- The last writer of each draft. `position` is the order of the difference.
CREATE SEQUENCE plinth.draft_position AS bigint;
CREATE TABLE plinth.draft_change (
  branch      text COLLATE "C" NOT NULL,
  kind        text NOT NULL,
  record_type text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  position    bigint NOT NULL,
  at          timestamptz(3) NOT NULL,
  token_id    text,
  actor_name  text NOT NULL,
  via         text NOT NULL,
  actor_kind  text,
  request_id  text NOT NULL,
  call        jsonb,
  CONSTRAINT draft_change_pkey PRIMARY KEY (branch, kind, record_type, id),
  CONSTRAINT draft_change_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE
);

-- The net state of a record. `gone`: the draft deletes it. `base` is what production had at the first touch, and
-- `base_version` its version; null for a record that is new. `home` is the base that shows the row: null for one that is gone.
CREATE TABLE plinth.draft_record (
  branch          text COLLATE "C" NOT NULL,
  base_id         text COLLATE "C" NOT NULL,
  record_type     text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  row_no          bigint NOT NULL,
  external_source text COLLATE "C",
  external_id     text COLLATE "C",
  data            jsonb NOT NULL,
  version         integer NOT NULL,
  cancelled_at    timestamptz(3),
  valid           boolean NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  gone            boolean NOT NULL,
  base_version    integer,
  base            jsonb,
  home            text COLLATE "C",
  CONSTRAINT draft_record_pkey PRIMARY KEY (branch, record_type, id),
  CONSTRAINT draft_record_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX draft_record_row_no ON plinth.draft_record (branch, row_no);
CREATE UNIQUE INDEX draft_record_external ON plinth.draft_record (branch, record_type, external_source, external_id)
  WHERE external_id IS NOT NULL AND NOT gone;
-- One by base would lead to the drafts of all change-sets.
CREATE INDEX draft_record_key ON plinth.draft_record (home, record_type, id);
CREATE INDEX draft_record_number ON plinth.draft_record (home, row_no);
CREATE INDEX draft_record_newest ON plinth.draft_record (home, record_type, created_at, id);
CREATE INDEX draft_record_pair ON plinth.draft_record (home, record_type, external_source, external_id) WHERE external_id IS NOT NULL;
ALTER TABLE plinth.draft_record ALTER COLUMN data SET STATISTICS 0, ALTER COLUMN base SET STATISTICS 0;

CREATE TABLE plinth.draft_relationship (
  branch             text COLLATE "C" NOT NULL,
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
  version            integer NOT NULL,
  valid              boolean NOT NULL,
  one_target         boolean NOT NULL,
  one_source         boolean NOT NULL,
  created_at         timestamptz(3) NOT NULL,
  updated_at         timestamptz(3) NOT NULL,
  gone               boolean NOT NULL,
  base_version       integer,
  base               jsonb,
  home               text COLLATE "C",
  CONSTRAINT draft_relationship_pkey PRIMARY KEY (branch, id),
  CONSTRAINT draft_relationship_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE
);
CREATE INDEX draft_relationship_key ON plinth.draft_relationship (home, id);
CREATE INDEX draft_relationship_outgoing ON plinth.draft_relationship (home, source_row, rel_type);
CREATE INDEX draft_relationship_incoming ON plinth.draft_relationship (home, target_row, rel_type);

-- The entries of drafts in the declared indexes of their types.
CREATE TABLE plinth.draft_index (
  branch     text COLLATE "C" NOT NULL,
  base_id    text COLLATE "C" NOT NULL,
  index_id   bigint NOT NULL,
  k1         text COLLATE "C" NOT NULL,
  k2         text COLLATE "C" NOT NULL,
  k3         text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  is_unique  boolean NOT NULL,
  row_no     bigint NOT NULL,
  CONSTRAINT draft_index_pkey PRIMARY KEY (branch, index_id, id),
  CONSTRAINT draft_index_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE
);
CREATE INDEX draft_index_keys ON plinth.draft_index (branch, index_id, k1, k2, k3, id);

-- The folded texts of drafts. A record that the draft deletes has one too, without words: it hides that of production.
CREATE TABLE plinth.draft_text (
  branch   text COLLATE "C" NOT NULL,
  base_id  text COLLATE "C" NOT NULL,
  index_id bigint NOT NULL,
  field    integer NOT NULL,
  id       text COLLATE "C" NOT NULL,
  words    text COLLATE "C" NOT NULL,
  CONSTRAINT draft_text_pkey PRIMARY KEY (branch, index_id, field, id),
  CONSTRAINT draft_text_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE
);

-- What a change-set shows in place of each table: its own rows, and those of production that they do not override. PostgreSQL
-- inlines these functions. Both arms are plain tables with plain columns: so a scan keeps the order of an index, and a join looks
-- rows up in each of them. With a condition in one arm, PostgreSQL read the whole of both. `home` tells the arms apart.
CREATE SCHEMA plinth_draft;

CREATE FUNCTION plinth_draft.records(at text) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.record_type, u.id, u.external_source, u.external_id, u.data, u.version, u.cancelled_at, u.valid,
    u.created_at, u.updated_at, u.row_no
  FROM (
    SELECT x.base_id, x.record_type, x.id, x.external_source, x.external_id, x.data, x.version, x.cancelled_at, x.valid,
      x.created_at, x.updated_at, x.row_no, x.base_id AS home
    FROM plinth.record x
    UNION ALL
    SELECT d.base_id, d.record_type, d.id, d.external_source, d.external_id, d.data, d.version, d.cancelled_at, d.valid,
      d.created_at, d.updated_at, d.row_no, d.home
    FROM plinth.draft_record d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR NOT EXISTS (
    SELECT FROM plinth.draft_record o WHERE o.branch = at AND o.record_type = u.record_type AND o.id = u.id))
$$;

CREATE FUNCTION plinth_draft.relationships(at text) RETURNS SETOF plinth.relationship LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.id, u.rel_type, u.source_record_type, u.source_id, u.source_row, u.target_record_type, u.target_id,
    u.target_row, u.data, u.external_source, u.external_id, u.version, u.valid, u.one_target, u.one_source, u.created_at, u.updated_at
  FROM (
    SELECT x.base_id, x.id, x.rel_type, x.source_record_type, x.source_id, x.source_row, x.target_record_type, x.target_id,
      x.target_row, x.data, x.external_source, x.external_id, x.version, x.valid, x.one_target, x.one_source, x.created_at,
      x.updated_at, x.base_id AS home
    FROM plinth.relationship x
    UNION ALL
    SELECT d.base_id, d.id, d.rel_type, d.source_record_type, d.source_id, d.source_row, d.target_record_type, d.target_id,
      d.target_row, d.data, d.external_source, d.external_id, d.version, d.valid, d.one_target, d.one_source, d.created_at,
      d.updated_at, d.home
    FROM plinth.draft_relationship d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR NOT EXISTS (
    SELECT FROM plinth.draft_relationship o WHERE o.branch = at AND o.id = u.id))
$$;

CREATE FUNCTION plinth_draft.index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, x.base_id AS home
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, d.row_no, d.branch
    FROM plinth.draft_index d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR NOT EXISTS (
    SELECT FROM plinth.draft_record o WHERE o.branch = at AND o.row_no = u.row_no))
$$;

CREATE FUNCTION plinth_draft.texts(at text) RETURNS SETOF plinth.record_text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.field, u.id, u.words
  FROM (
    SELECT x.base_id, x.index_id, x.field, x.id, x.words, x.base_id AS home FROM plinth.record_text x
    UNION ALL
    SELECT d.base_id, d.index_id, d.field, d.id, d.words, d.branch FROM plinth.draft_text d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR NOT EXISTS (
    SELECT FROM plinth.draft_text o WHERE o.branch = at AND o.index_id = u.index_id AND o.field = u.field AND o.id = u.id))
$$;

-- A word that is here twice changes no answer.
CREATE FUNCTION plinth_draft.words(at text) RETURNS SETOF plinth.record_word LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT x.base_id, x.index_id, x.field, x.word FROM plinth.record_word x
  UNION ALL
  SELECT d.base_id, d.index_id, d.field, each.word
  FROM plinth.draft_text d CROSS JOIN LATERAL unnest(string_to_array(btrim(d.words), ' ')) AS each (word) WHERE d.branch = at
$$;

-- The statements that write records and links write these views in a change-set: the transaction names it.
CREATE FUNCTION plinth_draft.here() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN current_setting('plinth.change_set');

CREATE VIEW plinth_draft.record AS SELECT * FROM plinth_draft.records(plinth_draft.here());
-- That of statements which leave out what conflicts.
CREATE VIEW plinth_draft.record_if_free AS SELECT * FROM plinth_draft.records(plinth_draft.here());
CREATE VIEW plinth_draft.relationship AS SELECT * FROM plinth_draft.relationships(plinth_draft.here());
-- The triggers of records write these.
CREATE VIEW plinth_draft.record_index AS SELECT * FROM plinth_draft.index_entries(plinth_draft.here());
CREATE VIEW plinth_draft.record_text AS SELECT * FROM plinth_draft.texts(plinth_draft.here());
CREATE VIEW plinth_draft.record_word AS SELECT * FROM plinth_draft.words(plinth_draft.here());
-- Takes the log entries of a change-set, which are none of production.
CREATE VIEW plinth_draft.change AS SELECT * FROM plinth.change WHERE false;

CREATE FUNCTION plinth_draft.leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NULL;
END $$;
CREATE TRIGGER leave INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.record_index
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.leave();
CREATE TRIGGER leave INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.record_text
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.leave();
CREATE TRIGGER leave INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.record_word
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.leave();

-- Keeps the last writer of a draft.
CREATE FUNCTION plinth_draft.keep_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.seq := nextval('plinth.draft_position');
  INSERT INTO plinth.draft_change AS c (branch, kind, record_type, id, position, at, token_id, actor_name, via, actor_kind, request_id, call)
  VALUES (plinth_draft.here(), NEW.kind, coalesce(NEW.record_type, ''), NEW.id, NEW.seq, now(), NEW.token_id, NEW.actor_name,
    NEW.via, NEW.actor_kind, NEW.request_id, NEW.call)
  ON CONFLICT (branch, kind, record_type, id) DO UPDATE SET position = excluded.position, at = excluded.at,
    token_id = excluded.token_id, actor_name = excluded.actor_name, via = excluded.via, actor_kind = excluded.actor_kind,
    request_id = excluded.request_id, call = excluded.call;
  UPDATE plinth.change_set SET revision = revision + 1, written_at = now(), written_by = pg_current_xact_id()
  WHERE base_id = plinth_draft.here() AND written_by IS DISTINCT FROM pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER keep INSTEAD OF INSERT ON plinth_draft.change FOR EACH ROW EXECUTE FUNCTION plinth_draft.keep_change();

-- Makes the entries of a draft anew, in all indexes of its type. A value of a unique index that another record shows is the
-- violation that the index of production raises, unless the index itself is what is new.
CREATE FUNCTION plinth_draft.enter(r plinth.draft_record, is_checked boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wanted record;
BEGIN
  DELETE FROM plinth.draft_index WHERE branch = r.branch AND id = r.id AND index_id IN (
    SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = r.base_id AND d.record_type = r.record_type);
  DELETE FROM plinth.draft_text WHERE branch = r.branch AND id = r.id AND index_id IN (
    SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = r.base_id AND d.record_type = r.record_type);
  INSERT INTO plinth.draft_text (branch, base_id, index_id, field, id, words)
  SELECT r.branch, r.base_id, d.id, f.position - 1, r.id,
    CASE WHEN r.gone THEN '' ELSE coalesce(plinth.search_fold(plinth.search_text(CASE WHEN f.field ? 'without'
      THEN r.data - ARRAY(SELECT jsonb_array_elements_text(f.field -> 'without'))
      ELSE plinth.search_value(r.data, f.field -> 'path', 0) END)), '') END
  FROM plinth.record_type_index d CROSS JOIN LATERAL jsonb_array_elements(d.fields) WITH ORDINALITY AS f (field, position)
  WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind = 'text' AND d.status <> 'failed';
  IF r.gone THEN
    RETURN;
  END IF;
  FOR wanted IN
    SELECT d.id AS index_id, d.kind = 'unique' AND e.is_whole AS is_unique, e.k1, e.k2, e.k3
    FROM plinth.record_type_index d CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source,
      r.version, r.data, r.cancelled_at, r.created_at, r.updated_at) e
    WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind <> 'text' AND d.status <> 'failed'
  LOOP
    IF is_checked AND wanted.is_unique AND EXISTS (
      SELECT FROM plinth_draft.index_entries(r.branch) x
      WHERE x.base_id = r.base_id AND x.index_id = wanted.index_id AND x.k1 = wanted.k1 AND x.k2 = wanted.k2 AND x.k3 = wanted.k3
        AND x.is_unique AND x.id <> r.id)
    THEN
      RAISE unique_violation USING CONSTRAINT = 'record_index_unique',
        MESSAGE = 'duplicate key value violates unique constraint "record_index_unique"',
        DETAIL = format('Key (base_id, index_id, k1, k2, k3)=(%s, %s, …) already exists.', r.base_id, wanted.index_id);
    END IF;
    INSERT INTO plinth.draft_index (branch, base_id, index_id, k1, k2, k3, id, created_at, is_unique, row_no)
    VALUES (r.branch, r.base_id, wanted.index_id, wanted.k1, wanted.k2, wanted.k3, r.id, r.created_at, wanted.is_unique, r.row_no);
  END LOOP;
END $$;

-- What a merge compares: the parts of a record that a write sets.
CREATE FUNCTION plinth_draft.content(data jsonb, cancelled_at timestamptz, external_source text, external_id text) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_build_object('data', data, 'status', CASE WHEN cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END,
    'external_source', external_source, 'external_id', external_id)
$$;

CREATE FUNCTION plinth_draft.content(d plinth.draft_record) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT plinth_draft.content(d.data, d.cancelled_at, d.external_source, d.external_id)
$$;
CREATE FUNCTION plinth_draft.content(d plinth.draft_relationship) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_build_object('rel_type', d.rel_type, 'source_record_type', d.source_record_type, 'source_id', d.source_id,
    'target_record_type', d.target_record_type, 'target_id', d.target_id, 'data', d.data,
    'external_source', d.external_source, 'external_id', d.external_id)
$$;
-- Whether a draft differs from what it overrides.
CREATE FUNCTION plinth_draft.differs(d plinth.draft_record) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN d.gone THEN d.base_version IS NOT NULL ELSE d.base IS DISTINCT FROM plinth_draft.content(d) END
$$;
CREATE FUNCTION plinth_draft.differs(d plinth.draft_relationship) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN d.gone THEN d.base_version IS NOT NULL ELSE d.base IS DISTINCT FROM plinth_draft.content(d) END
$$;

CREATE FUNCTION plinth_draft.write_record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  here text := plinth_draft.here();
  held plinth.draft_record;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT * INTO held FROM plinth.draft_record d WHERE d.branch = here AND d.record_type = NEW.record_type AND d.id = NEW.id;
    IF held.id IS NOT NULL AND NOT held.gone OR held.id IS NULL AND EXISTS (
      SELECT FROM plinth.record r WHERE r.base_id = NEW.base_id AND r.record_type = NEW.record_type AND r.id = NEW.id)
    THEN
      IF TG_TABLE_NAME = 'record_if_free' THEN
        RETURN NULL;
      END IF;
      RAISE unique_violation USING CONSTRAINT = 'record_pkey';
    END IF;
    NEW.row_no := coalesce(held.row_no, nextval('plinth.record_row_no_seq'));
    -- The deletion has counted as well.
    NEW.version := greatest(NEW.version, held.version + 2);
    NEW.valid := coalesce(NEW.valid, true);
    NEW.created_at := coalesce(NEW.created_at, now());
    NEW.updated_at := coalesce(NEW.updated_at, now());
  ELSE
    SELECT * INTO held FROM plinth.draft_record d WHERE d.branch = here AND d.record_type = OLD.record_type AND d.id = OLD.id;
    IF held.id IS NULL THEN
      held.base_version := OLD.version;
      held.base := plinth_draft.content(OLD.data, OLD.cancelled_at, OLD.external_source, OLD.external_id);
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.external_id IS NOT NULL AND (TG_OP = 'INSERT'
      OR (OLD.external_source, OLD.external_id) IS DISTINCT FROM (NEW.external_source, NEW.external_id))
    AND EXISTS (
      SELECT FROM plinth_draft.records(here) r
      WHERE r.base_id = NEW.base_id AND r.record_type = NEW.record_type AND r.external_source = NEW.external_source
        AND r.external_id = NEW.external_id AND r.id <> NEW.id)
  THEN
    IF TG_TABLE_NAME = 'record_if_free' THEN
      RETURN NULL;
    END IF;
    RAISE unique_violation USING CONSTRAINT = 'record_external';
  END IF;
  IF TG_OP = 'DELETE' THEN
    NEW := OLD;
  END IF;
  held := (here, NEW.base_id, NEW.record_type, NEW.id, NEW.row_no, NEW.external_source, NEW.external_id, NEW.data, NEW.version,
    NEW.cancelled_at, NEW.valid, NEW.created_at, NEW.updated_at, TG_OP = 'DELETE', held.base_version, held.base,
    CASE WHEN TG_OP <> 'DELETE' THEN here END)::plinth.draft_record;
  INSERT INTO plinth.draft_record SELECT held.*
  ON CONFLICT (branch, record_type, id) DO UPDATE SET row_no = excluded.row_no, external_source = excluded.external_source,
    external_id = excluded.external_id, data = excluded.data, version = excluded.version, cancelled_at = excluded.cancelled_at,
    valid = excluded.valid, created_at = excluded.created_at, updated_at = excluded.updated_at, gone = excluded.gone,
    base_version = excluded.base_version, base = excluded.base, home = excluded.home;
  PERFORM plinth_draft.enter(held, true);
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.record
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.write_record();
CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.record_if_free
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.write_record();

-- A link that conflicts with a visible one is left out, as the statements that create links have it.
CREATE FUNCTION plinth_draft.write_relationship() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  here text := plinth_draft.here();
  held plinth.draft_relationship;
BEGIN
  SELECT * INTO held FROM plinth.draft_relationship d
  WHERE d.branch = here AND d.id = CASE WHEN TG_OP = 'INSERT' THEN NEW.id ELSE OLD.id END;
  IF TG_OP = 'INSERT' THEN
    IF EXISTS (SELECT FROM plinth_draft.relationships(here) l WHERE l.base_id = NEW.base_id AND l.id = NEW.id)
      OR EXISTS (
        SELECT FROM plinth_draft.relationships(here) l WHERE l.source_row = NEW.source_row AND l.rel_type = NEW.rel_type
          AND (l.target_row = NEW.target_row OR l.one_target AND NEW.one_target))
      OR NEW.one_source AND EXISTS (
        SELECT FROM plinth_draft.relationships(here) l
        WHERE l.target_row = NEW.target_row AND l.rel_type = NEW.rel_type AND l.one_source)
      OR NEW.external_id IS NOT NULL AND EXISTS (
        SELECT FROM plinth_draft.relationships(here) l
        WHERE l.base_id = NEW.base_id AND l.rel_type = NEW.rel_type AND l.external_source = NEW.external_source
          AND l.external_id = NEW.external_id)
    THEN
      RETURN NULL;
    END IF;
    -- The deletion has counted as well.
    NEW.version := greatest(NEW.version, held.version + 2);
    NEW.valid := coalesce(NEW.valid, true);
    NEW.created_at := coalesce(NEW.created_at, now());
    NEW.updated_at := coalesce(NEW.updated_at, now());
  ELSIF held.id IS NULL THEN
    held.base_version := OLD.version;
    held.base := jsonb_build_object('rel_type', OLD.rel_type, 'source_record_type', OLD.source_record_type, 'source_id', OLD.source_id,
      'target_record_type', OLD.target_record_type, 'target_id', OLD.target_id, 'data', OLD.data,
      'external_source', OLD.external_source, 'external_id', OLD.external_id);
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.external_id IS NOT NULL
    AND (OLD.external_source, OLD.external_id) IS DISTINCT FROM (NEW.external_source, NEW.external_id)
    AND EXISTS (
      SELECT FROM plinth_draft.relationships(here) l
      WHERE l.base_id = NEW.base_id AND l.rel_type = NEW.rel_type AND l.external_source = NEW.external_source
        AND l.external_id = NEW.external_id AND l.id <> NEW.id)
  THEN
    RAISE unique_violation USING CONSTRAINT = 'relationship_external';
  END IF;
  IF TG_OP = 'DELETE' THEN
    NEW := OLD;
  END IF;
  INSERT INTO plinth.draft_relationship
  VALUES (here, NEW.base_id, NEW.id, NEW.rel_type, NEW.source_record_type, NEW.source_id, NEW.source_row, NEW.target_record_type,
    NEW.target_id, NEW.target_row, NEW.data, NEW.external_source, NEW.external_id, NEW.version, NEW.valid, NEW.one_target,
    NEW.one_source, NEW.created_at, NEW.updated_at, TG_OP = 'DELETE', held.base_version, held.base,
    CASE WHEN TG_OP <> 'DELETE' THEN here END)
  ON CONFLICT (branch, id) DO UPDATE SET rel_type = excluded.rel_type, source_record_type = excluded.source_record_type,
    source_id = excluded.source_id, source_row = excluded.source_row, target_record_type = excluded.target_record_type,
    target_id = excluded.target_id, target_row = excluded.target_row, data = excluded.data,
    external_source = excluded.external_source, external_id = excluded.external_id, version = excluded.version,
    valid = excluded.valid, one_target = excluded.one_target, one_source = excluded.one_source,
    created_at = excluded.created_at, updated_at = excluded.updated_at, gone = excluded.gone,
    home = excluded.home;
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON plinth_draft.relationship
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.write_relationship();
