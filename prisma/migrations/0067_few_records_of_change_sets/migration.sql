-- `records` for statements that read few records, each by its key or its row number: asks for each whether the change-set
-- overrides it. `records` asks once for all, which a hash answers: PostgreSQL takes it wherever the average change-set is small,
-- and would then read all that a large one holds to find one record.
CREATE FUNCTION plinth_draft.few_records(at text) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
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
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR (
    SELECT true FROM plinth.draft_record o WHERE o.branch = at AND o.record_type = u.record_type AND o.id = u.id LIMIT 1) IS NULL)
$$;

-- Writes name the records that they change.
CREATE OR REPLACE VIEW plinth_draft.record AS SELECT * FROM plinth_draft.few_records(plinth_draft.here());
CREATE OR REPLACE VIEW plinth_draft.record_if_free AS SELECT * FROM plinth_draft.few_records(plinth_draft.here());

-- The same of the entries of an index, for a page of them in their order.
CREATE FUNCTION plinth_draft.few_index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, x.base_id AS home
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, d.row_no, d.branch
    FROM plinth.draft_index d) u
  WHERE u.home = ANY (ARRAY[split_part(at, '--', 1), at]) AND (u.home = at OR (
    SELECT true FROM plinth.draft_record o WHERE o.branch = at AND o.row_no = u.row_no LIMIT 1) IS NULL)
$$;
