-- Records of a change-set that are written together may exchange unique values: what they hold is checked when all are written.
CREATE FUNCTION plinth_draft.require_unique(at text, base text, type text, entries plinth.draft_index[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  taken bigint;
BEGIN
  SELECT w.index_id INTO taken FROM unnest(entries) w WHERE EXISTS (
    SELECT FROM plinth_draft.few_index_entries(at, type) x
    WHERE x.base_id = base AND x.index_id = w.index_id AND x.k1 = w.k1 AND x.k2 = w.k2 AND x.k3 = w.k3
      AND x.is_unique AND x.id <> w.id)
  LIMIT 1;
  IF taken IS NOT NULL THEN
    RAISE unique_violation USING CONSTRAINT = 'record_index_unique',
      MESSAGE = 'duplicate key value violates unique constraint "record_index_unique"',
      DETAIL = format('Key (base_id, index_id, k1, k2, k3)=(%s, %s, …) already exists.', base, taken);
  END IF;
END $$;

-- Ends what `plinth.draft_together` began.
CREATE FUNCTION plinth_draft.check_together(base text, type text, written text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('plinth.draft_together', '', true);
  PERFORM plinth_draft.require_unique(plinth_draft.here(), base, type, ARRAY(
    SELECT e FROM plinth.record_type_index d, unnest(written) AS i (id), LATERAL (
      SELECT x FROM plinth.draft_index x
      WHERE x.branch = plinth_draft.here() AND x.index_id = d.id AND x.id = i.id COLLATE "C" AND x.is_unique LIMIT 1) AS f (e)
    WHERE d.base_id = base AND d.record_type = type AND d.kind = 'unique'));
END $$;

CREATE OR REPLACE FUNCTION plinth_draft.enter(r plinth.draft_record, is_checked boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  has_keys boolean;
  has_texts boolean;
  uniques plinth.draft_index[];
  bare bigint[];
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
  IF is_checked AND uniques IS NOT NULL AND coalesce(current_setting('plinth.draft_together', true), '') = '' THEN
    PERFORM plinth_draft.require_unique(r.branch, r.base_id, r.record_type, uniques);
  END IF;
END $$;
