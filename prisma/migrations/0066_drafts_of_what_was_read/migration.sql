-- A draft keeps what production had when its writer read it. Production is not locked, so it may move between the reading and the
-- first write of a draft. Such a write is done again, on what production has then.

-- Holds a change-set for a transaction, names it to the triggers, and keeps what the transaction sees from now on.
CREATE FUNCTION plinth_draft.hold(at text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  held text;
BEGIN
  SELECT status INTO held FROM plinth.change_set WHERE base_id = at FOR NO KEY UPDATE;
  PERFORM set_config('plinth.change_set', at, true);
  IF coalesce(current_setting('plinth.change_set_seen', true), '') = '' THEN
    PERFORM set_config('plinth.change_set_seen', pg_current_snapshot()::text, true);
  END IF;
  RETURN held;
END $$;

-- Whether the transaction that wrote a row of production had ended before this one began to read.
CREATE FUNCTION plinth_draft.require_seen(writer xid8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_visible_in_snapshot(writer, nullif(current_setting('plinth.change_set_seen', true), '')::pg_snapshot) THEN
    RAISE serialization_failure USING MESSAGE = 'production has changed since the transaction read it';
  END IF;
END $$;

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
      PERFORM plinth_draft.require_seen(c.xid) FROM plinth.change c
      WHERE c.base_id = OLD.base_id AND c.kind = 'record' AND c.record_type = OLD.record_type AND c.id = OLD.id AND c.version = OLD.version;
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
    PERFORM plinth_draft.require_seen(c.xid) FROM plinth.change c
    WHERE c.base_id = OLD.base_id AND c.kind = 'relationship' AND c.id = OLD.id AND c.version = OLD.version;
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
