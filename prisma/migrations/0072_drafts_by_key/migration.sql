-- What writes a draft finds what it needs by whole keys. Of the entries of a draft only those that are no more are deleted, one by
-- one: PostgreSQL looked for them among all entries of the change-set, wherever the average one is small.
CREATE OR REPLACE FUNCTION plinth_draft.enter(r plinth.draft_record, is_checked boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  has_keys boolean;
  has_texts boolean;
  uniques plinth.draft_index[];
  bare bigint[];
  taken bigint;
BEGIN
  SELECT bool_or(d.kind <> 'text'), bool_or(d.kind = 'text') INTO has_keys, has_texts
  FROM plinth.record_type_index d WHERE d.base_id = r.base_id AND d.record_type = r.record_type;
  IF has_texts THEN
    INSERT INTO plinth.draft_text AS x (branch, base_id, index_id, field, id, words)
    SELECT r.branch, r.base_id, d.id, f.position - 1, r.id,
      CASE WHEN r.gone THEN '' ELSE coalesce(plinth.search_fold(plinth.search_text(CASE WHEN f.field ? 'without'
        THEN r.data - ARRAY(SELECT jsonb_array_elements_text(f.field -> 'without'))
        ELSE plinth.search_value(r.data, f.field -> 'path', 0) END)), '') END
    FROM plinth.record_type_index d CROSS JOIN LATERAL jsonb_array_elements(d.fields) WITH ORDINALITY AS f (field, position)
    WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind = 'text' AND d.status <> 'failed'
    ON CONFLICT (branch, index_id, field, id) DO UPDATE SET words = excluded.words WHERE x.words <> excluded.words;
  END IF;
  IF has_keys THEN
    WITH wanted AS MATERIALIZED (
      SELECT r.branch, r.base_id, d.id AS index_id, e.k1, e.k2, e.k3, r.id, r.created_at, d.kind = 'unique' AND e.is_whole AS is_unique,
        r.row_no
      FROM plinth.record_type_index d CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source,
        r.version, r.data, r.cancelled_at, r.created_at, r.updated_at) e
      WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind <> 'text' AND d.status <> 'failed' AND NOT r.gone),
    entered AS (
      INSERT INTO plinth.draft_index AS x (branch, base_id, index_id, k1, k2, k3, id, created_at, is_unique, row_no)
      SELECT * FROM wanted
      ON CONFLICT (branch, index_id, id) DO UPDATE SET k1 = excluded.k1, k2 = excluded.k2, k3 = excluded.k3,
        created_at = excluded.created_at, is_unique = excluded.is_unique, row_no = excluded.row_no
      WHERE (x.k1, x.k2, x.k3, x.created_at, x.is_unique, x.row_no)
        IS DISTINCT FROM (excluded.k1, excluded.k2, excluded.k3, excluded.created_at, excluded.is_unique, excluded.row_no))
    SELECT (SELECT array_agg(w::plinth.draft_index) FROM wanted w WHERE w.is_unique),
      ARRAY(SELECT d.id FROM plinth.record_type_index d
        WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind <> 'text'
          AND d.id NOT IN (SELECT w.index_id FROM wanted w))
    INTO uniques, bare;
    FOR n IN 1 .. cardinality(bare) LOOP
      DELETE FROM plinth.draft_index WHERE branch = r.branch AND index_id = bare[n] AND id = r.id;
    END LOOP;
  END IF;
  IF is_checked AND uniques IS NOT NULL THEN
    SELECT w.index_id INTO taken FROM unnest(uniques) w WHERE EXISTS (
      SELECT FROM plinth_draft.few_index_entries(r.branch) x
      WHERE x.base_id = r.base_id AND x.index_id = w.index_id AND x.k1 = w.k1 AND x.k2 = w.k2 AND x.k3 = w.k3
        AND x.is_unique AND x.id <> r.id);
    IF taken IS NOT NULL THEN
      RAISE unique_violation USING CONSTRAINT = 'record_index_unique',
        MESSAGE = 'duplicate key value violates unique constraint "record_index_unique"',
        DETAIL = format('Key (base_id, index_id, k1, k2, k3)=(%s, %s, …) already exists.', r.base_id, taken);
    END IF;
  END IF;
END $$;

-- As before, and asks for the pair only where it has changed: the whole condition was planned anew for each row.
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
  THEN
    IF EXISTS (
      SELECT FROM plinth_draft.few_records(here) r
      WHERE r.base_id = NEW.base_id AND r.record_type = NEW.record_type AND r.external_source = NEW.external_source
        AND r.external_id = NEW.external_id AND r.id <> NEW.id)
    THEN
      IF TG_TABLE_NAME = 'record_if_free' THEN
        RETURN NULL;
      END IF;
      RAISE unique_violation USING CONSTRAINT = 'record_external';
    END IF;
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
