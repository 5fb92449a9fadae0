-- An entry of production is hidden by the key of its record, as the record is. It was hidden by the number of its row, which a draft has
-- in common with production unless the record came to be on both sides: then a page of an index had its entry, but no record for it,
-- so that the page was short and the list ended there. Counts of entries had it as well.
CREATE OR REPLACE FUNCTION plinth_draft.index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, at AS home, false AS is_draft
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, d.row_no, d.branch, true
    FROM plinth.draft_index d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR NOT EXISTS (
    SELECT FROM plinth.draft_record o
    JOIN plinth.record_type_index t ON t.base_id = o.base_id AND t.record_type = o.record_type
    WHERE o.branch = at AND o.id = u.id AND t.id = u.index_id))
$$;

-- For a page of entries of one record type, in their order. Those of drafts have negative numbers, which `record_of_entry` takes, so
-- whether a draft overrides a record is asked once.
CREATE FUNCTION plinth_draft.few_index_entries(at text, type text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, at AS home, false AS is_draft
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, -d.row_no, d.branch, true
    FROM plinth.draft_index d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR (
    SELECT true FROM plinth.draft_record o WHERE o.branch = at AND o.record_type = type AND o.id = u.id LIMIT 1) IS NULL)
$$;

CREATE FUNCTION plinth_draft.record_of_entry(at text, place bigint) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT x.base_id, x.record_type, x.id, x.external_source, x.external_id, x.data, x.version, x.cancelled_at, x.valid, x.created_at,
    x.updated_at, x.row_no
  FROM plinth.record x WHERE x.row_no = place
  UNION ALL
  SELECT d.base_id, d.record_type, d.id, d.external_source, d.external_id, d.data, d.version, d.cancelled_at, d.valid, d.created_at,
    d.updated_at, d.row_no
  FROM plinth.draft_record d WHERE d.row_no = -place AND d.branch = at
$$;

-- As before, with these entries.
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
      SELECT FROM plinth_draft.few_index_entries(r.branch, r.record_type) x
      WHERE x.base_id = r.base_id AND x.index_id = w.index_id AND x.k1 = w.k1 AND x.k2 = w.k2 AND x.k3 = w.k3
        AND x.is_unique AND x.id <> r.id);
    IF taken IS NOT NULL THEN
      RAISE unique_violation USING CONSTRAINT = 'record_index_unique',
        MESSAGE = 'duplicate key value violates unique constraint "record_index_unique"',
        DETAIL = format('Key (base_id, index_id, k1, k2, k3)=(%s, %s, …) already exists.', r.base_id, taken);
    END IF;
  END IF;
END $$;

DROP FUNCTION plinth_draft.few_index_entries(text);
