-- How much a change-set holds at most, beside it: each transaction adds what it has written, at its end. Only where that passes the
-- bound are the drafts counted. Every write counted them, which took longer with each draft.
ALTER TABLE plinth.change_set ADD COLUMN most_rows integer NOT NULL DEFAULT 0, ADD COLUMN most_bytes bigint NOT NULL DEFAULT 0;

CREATE FUNCTION plinth_draft.size(at text, OUT rows integer, OUT bytes bigint) LANGUAGE sql STABLE AS $$
  SELECT count(*)::int, coalesce(sum(d.bytes), 0)::bigint FROM (
    SELECT pg_column_size(r.data) AS bytes FROM plinth.draft_record r WHERE r.branch = at
    UNION ALL
    SELECT pg_column_size(l.data) FROM plinth.draft_relationship l WHERE l.branch = at) d
$$;
UPDATE plinth.change_set c SET (most_rows, most_bytes) = (SELECT s.rows, s.bytes FROM plinth_draft.size(c.base_id) s);

-- The data that the transaction has written in drafts. Stored, it may be smaller.
CREATE FUNCTION plinth_draft.drafted_bytes() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('plinth.drafted_bytes', true), '')::bigint, 0)
$$;

-- As before, and adds up the data.
CREATE OR REPLACE FUNCTION plinth_draft.keep_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.seq := nextval('plinth.draft_position');
  INSERT INTO plinth.draft_change AS c (branch, kind, record_type, id, position, at, token_id, actor_name, via, actor_kind, request_id, call)
  VALUES (plinth_draft.here(), NEW.kind, coalesce(NEW.record_type, ''), NEW.id, NEW.seq, now(), NEW.token_id, NEW.actor_name,
    NEW.via, NEW.actor_kind, NEW.request_id, NEW.call)
  ON CONFLICT (branch, kind, record_type, id) DO UPDATE SET position = excluded.position, at = excluded.at,
    token_id = excluded.token_id, actor_name = excluded.actor_name, via = excluded.via, actor_kind = excluded.actor_kind,
    request_id = excluded.request_id, call = excluded.call;
  UPDATE plinth.change_set SET revision = revision + 1, status = 'open', written_at = now(), written_by = pg_current_xact_id(),
    writers = CASE WHEN NEW.token_id IS NULL OR NEW.token_id = ANY (writers) THEN writers ELSE writers || NEW.token_id END
  WHERE base_id = plinth_draft.here() AND written_by IS DISTINCT FROM pg_current_xact_id();
  PERFORM set_config('plinth.drafted', (plinth_draft.drafted() + 1)::text, true),
    set_config('plinth.drafted_bytes', (plinth_draft.drafted_bytes() + coalesce(pg_column_size(NEW.data), 0))::text, true);
  RETURN NEW;
END $$;

-- Refuses what is too much, when the transaction that wrote drafts ends. It holds the change-set.
CREATE FUNCTION plinth_draft.require_room() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  held plinth.change_set;
BEGIN
  UPDATE plinth.change_set SET most_rows = most_rows + plinth_draft.drafted(), most_bytes = most_bytes + plinth_draft.drafted_bytes()
  WHERE base_id = NEW.base_id RETURNING * INTO held;
  IF held.most_rows > 10000 OR held.most_bytes > 64 * 1024 * 1024 THEN
    UPDATE plinth.change_set SET (most_rows, most_bytes) = (SELECT s.rows, s.bytes FROM plinth_draft.size(NEW.base_id) s)
    WHERE base_id = NEW.base_id RETURNING * INTO held;
    IF held.most_rows > 10000 OR held.most_bytes > 64 * 1024 * 1024 THEN
      RAISE check_violation USING CONSTRAINT = 'change_set_room', MESSAGE = 'the change-set holds too much';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER change_set_room AFTER UPDATE OF written_by ON plinth.change_set DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION plinth_draft.require_room();

-- As before, with a statement for all entries of a draft, and none for texts where the type has no index of them.
CREATE OR REPLACE FUNCTION plinth_draft.enter(r plinth.draft_record, is_checked boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  has_keys boolean;
  has_texts boolean;
  uniques plinth.draft_index[];
  taken bigint;
BEGIN
  SELECT bool_or(d.kind <> 'text'), bool_or(d.kind = 'text') INTO has_keys, has_texts
  FROM plinth.record_type_index d WHERE d.base_id = r.base_id AND d.record_type = r.record_type;
  IF has_texts THEN
    DELETE FROM plinth.draft_text WHERE branch = r.branch AND id = r.id AND index_id IN (
      SELECT d.id FROM plinth.record_type_index d WHERE d.base_id = r.base_id AND d.record_type = r.record_type);
    INSERT INTO plinth.draft_text (branch, base_id, index_id, field, id, words)
    SELECT r.branch, r.base_id, d.id, f.position - 1, r.id,
      CASE WHEN r.gone THEN '' ELSE coalesce(plinth.search_fold(plinth.search_text(CASE WHEN f.field ? 'without'
        THEN r.data - ARRAY(SELECT jsonb_array_elements_text(f.field -> 'without'))
        ELSE plinth.search_value(r.data, f.field -> 'path', 0) END)), '') END
    FROM plinth.record_type_index d CROSS JOIN LATERAL jsonb_array_elements(d.fields) WITH ORDINALITY AS f (field, position)
    WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind = 'text' AND d.status <> 'failed';
  END IF;
  IF has_keys THEN
    WITH wanted AS MATERIALIZED (
      SELECT r.branch, r.base_id, d.id AS index_id, e.k1, e.k2, e.k3, r.id, r.created_at, d.kind = 'unique' AND e.is_whole AS is_unique,
        r.row_no
      FROM plinth.record_type_index d CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source,
        r.version, r.data, r.cancelled_at, r.created_at, r.updated_at) e
      WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind <> 'text' AND d.status <> 'failed' AND NOT r.gone),
    dropped AS (
      DELETE FROM plinth.draft_index x USING plinth.record_type_index d
      WHERE d.base_id = r.base_id AND d.record_type = r.record_type AND x.branch = r.branch AND x.index_id = d.id AND x.id = r.id
        AND x.index_id NOT IN (SELECT w.index_id FROM wanted w)),
    entered AS (
      INSERT INTO plinth.draft_index AS x (branch, base_id, index_id, k1, k2, k3, id, created_at, is_unique, row_no)
      SELECT * FROM wanted
      ON CONFLICT (branch, index_id, id) DO UPDATE SET k1 = excluded.k1, k2 = excluded.k2, k3 = excluded.k3,
        created_at = excluded.created_at, is_unique = excluded.is_unique, row_no = excluded.row_no
      WHERE (x.k1, x.k2, x.k3, x.created_at, x.is_unique, x.row_no)
        IS DISTINCT FROM (excluded.k1, excluded.k2, excluded.k3, excluded.created_at, excluded.is_unique, excluded.row_no))
    SELECT array_agg(w::plinth.draft_index) INTO uniques FROM wanted w WHERE w.is_unique;
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
