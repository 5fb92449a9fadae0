-- What a change-set shows, in the order of indexes, by plans that are kept. Each arm has a constant in the place of `is_draft`, and
-- production the change-set in that of `home`, so PostgreSQL reduces the conditions in each arm, which remains a plain table: drafts
-- come in the order of an index that begins with their home, and whether a draft overrides a row is asked of production alone. A plan
-- for all change-sets now costs as much as one for this, so PostgreSQL keeps it. It planned each list anew.

CREATE OR REPLACE FUNCTION plinth_draft.records(at text) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.record_type, u.id, u.external_source, u.external_id, u.data, u.version, u.cancelled_at, u.valid, u.created_at,
    u.updated_at, u.row_no
  FROM (
    SELECT x.base_id, x.record_type, x.id, x.external_source, x.external_id, x.data, x.version, x.cancelled_at, x.valid, x.created_at,
      x.updated_at, x.row_no, at AS home, false AS is_draft
    FROM plinth.record x
    UNION ALL
    SELECT d.base_id, d.record_type, d.id, d.external_source, d.external_id, d.data, d.version, d.cancelled_at, d.valid, d.created_at,
      d.updated_at, d.row_no, d.home, true
    FROM plinth.draft_record d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR NOT EXISTS (
    SELECT FROM plinth.draft_record o WHERE o.branch = at AND o.record_type = u.record_type AND o.id = u.id))
$$;

CREATE OR REPLACE FUNCTION plinth_draft.few_records(at text) RETURNS SETOF plinth.record LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.record_type, u.id, u.external_source, u.external_id, u.data, u.version, u.cancelled_at, u.valid, u.created_at,
    u.updated_at, u.row_no
  FROM (
    SELECT x.base_id, x.record_type, x.id, x.external_source, x.external_id, x.data, x.version, x.cancelled_at, x.valid, x.created_at,
      x.updated_at, x.row_no, at AS home, false AS is_draft
    FROM plinth.record x
    UNION ALL
    SELECT d.base_id, d.record_type, d.id, d.external_source, d.external_id, d.data, d.version, d.cancelled_at, d.valid, d.created_at,
      d.updated_at, d.row_no, d.home, true
    FROM plinth.draft_record d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR (
    SELECT true FROM plinth.draft_record o WHERE o.branch = at AND o.record_type = u.record_type AND o.id = u.id LIMIT 1) IS NULL)
$$;

CREATE OR REPLACE FUNCTION plinth_draft.relationships(at text) RETURNS SETOF plinth.relationship LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.id, u.rel_type, u.source_record_type, u.source_id, u.source_row, u.target_record_type, u.target_id,
    u.target_row, u.data, u.external_source, u.external_id, u.version, u.valid, u.one_target, u.one_source, u.created_at, u.updated_at
  FROM (
    SELECT x.base_id, x.id, x.rel_type, x.source_record_type, x.source_id, x.source_row, x.target_record_type, x.target_id,
      x.target_row, x.data, x.external_source, x.external_id, x.version, x.valid, x.one_target, x.one_source, x.created_at,
      x.updated_at, at AS home, false AS is_draft
    FROM plinth.relationship x
    UNION ALL
    SELECT d.base_id, d.id, d.rel_type, d.source_record_type, d.source_id, d.source_row, d.target_record_type, d.target_id,
      d.target_row, d.data, d.external_source, d.external_id, d.version, d.valid, d.one_target, d.one_source, d.created_at,
      d.updated_at, d.home, true
    FROM plinth.draft_relationship d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR NOT EXISTS (
    SELECT FROM plinth.draft_relationship o WHERE o.branch = at AND o.id = u.id))
$$;

CREATE OR REPLACE FUNCTION plinth_draft.index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, at AS home, false AS is_draft
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, d.row_no, d.branch, true
    FROM plinth.draft_index d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR NOT EXISTS (
    SELECT FROM plinth.draft_record o WHERE o.branch = at AND o.row_no = u.row_no))
$$;

CREATE OR REPLACE FUNCTION plinth_draft.few_index_entries(at text) RETURNS SETOF plinth.record_index LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.k1, u.k2, u.k3, u.id, u.created_at, u.is_unique, u.row_no
  FROM (
    SELECT x.base_id, x.index_id, x.k1, x.k2, x.k3, x.id, x.created_at, x.is_unique, x.row_no, at AS home, false AS is_draft
    FROM plinth.record_index x
    UNION ALL
    SELECT d.base_id, d.index_id, d.k1, d.k2, d.k3, d.id, d.created_at, d.is_unique, d.row_no, d.branch, true
    FROM plinth.draft_index d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR (
    SELECT true FROM plinth.draft_record o WHERE o.branch = at AND o.row_no = u.row_no LIMIT 1) IS NULL)
$$;

CREATE OR REPLACE FUNCTION plinth_draft.texts(at text) RETURNS SETOF plinth.record_text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.base_id, u.index_id, u.field, u.id, u.words
  FROM (
    SELECT x.base_id, x.index_id, x.field, x.id, x.words, at AS home, false AS is_draft
    FROM plinth.record_text x
    UNION ALL
    SELECT d.base_id, d.index_id, d.field, d.id, d.words, d.branch, true
    FROM plinth.draft_text d) u
  WHERE u.home = at AND u.base_id = split_part(at, '--', 1) AND (u.is_draft OR NOT EXISTS (
    SELECT FROM plinth.draft_text o WHERE o.branch = at AND o.index_id = u.index_id AND o.field = u.field AND o.id = u.id))
$$;
