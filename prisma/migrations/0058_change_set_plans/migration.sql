-- Both arms of what a change-set shows become plain tables with plain columns, so that a join can look rows up in each of them:
-- with a condition in one arm, PostgreSQL read the whole of both. `home` is the base that shows a row: null for one that is gone.
ALTER TABLE plinth.draft_record ADD COLUMN home text COLLATE "C";
UPDATE plinth.draft_record SET home = branch WHERE NOT gone;
-- One by base would lead to the drafts of all change-sets.
DROP INDEX plinth.draft_record_newest, plinth.draft_record_of_type;
CREATE INDEX draft_record_key ON plinth.draft_record (home, record_type, id);
CREATE INDEX draft_record_number ON plinth.draft_record (home, row_no);
CREATE INDEX draft_record_newest ON plinth.draft_record (home, record_type, created_at, id);
CREATE INDEX draft_record_pair ON plinth.draft_record (home, record_type, external_source, external_id) WHERE external_id IS NOT NULL;

ALTER TABLE plinth.draft_relationship ADD COLUMN home text COLLATE "C";
UPDATE plinth.draft_relationship SET home = branch WHERE NOT gone;
DROP INDEX plinth.draft_relationship_outgoing, plinth.draft_relationship_incoming;
CREATE INDEX draft_relationship_key ON plinth.draft_relationship (home, id);
CREATE INDEX draft_relationship_outgoing ON plinth.draft_relationship (home, source_row, rel_type);
CREATE INDEX draft_relationship_incoming ON plinth.draft_relationship (home, target_row, rel_type);

CREATE OR REPLACE FUNCTION plinth_draft.records(at text) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
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

CREATE OR REPLACE FUNCTION plinth_draft.relationships(at text) RETURNS SETOF plinth.relationship LANGUAGE sql STABLE PARALLEL SAFE AS $$
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

CREATE OR REPLACE FUNCTION plinth_draft.index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
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

CREATE OR REPLACE FUNCTION plinth_draft.texts(at text) RETURNS SETOF plinth.record_text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.field, u.id, u.words
  FROM (
    SELECT x.base_id, x.index_id, x.field, x.id, x.words, x.base_id AS home FROM plinth.record_text x
    UNION ALL
    SELECT d.base_id, d.index_id, d.field, d.id, d.words, d.branch FROM plinth.draft_text d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR NOT EXISTS (
    SELECT FROM plinth.draft_text o WHERE o.branch = at AND o.index_id = u.index_id AND o.field = u.field AND o.id = u.id))
$$;

CREATE OR REPLACE FUNCTION plinth_draft.write_record() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION plinth_draft.write_relationship() RETURNS trigger LANGUAGE plpgsql AS $$
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
