-- A change-set shows the links whose ends it shows, by the numbers of their rows. It had the links that production made of a record which
-- the change-set deletes, and its own whose ends production deleted: lists and totals had them, `related` and `expand` no record for them.
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
    AND NOT EXISTS (
      SELECT FROM plinth.draft_record o
      WHERE o.branch = at AND o.record_type = u.source_record_type AND o.id = u.source_id
        AND (o.gone OR o.row_no <> u.source_row))
    AND NOT EXISTS (
      SELECT FROM plinth.draft_record o
      WHERE o.branch = at AND o.record_type = u.target_record_type AND o.id = u.target_id
        AND (o.gone OR o.row_no <> u.target_row))
    AND (NOT u.is_draft OR (
      EXISTS (SELECT FROM plinth.record r WHERE r.row_no = u.source_row)
      OR EXISTS (SELECT FROM plinth.draft_record o WHERE o.row_no = u.source_row AND o.branch = at))
    AND (
      EXISTS (SELECT FROM plinth.record r WHERE r.row_no = u.target_row)
      OR EXISTS (SELECT FROM plinth.draft_record o WHERE o.row_no = u.target_row AND o.branch = at)))
$$;

-- As before, without these links.
CREATE OR REPLACE VIEW plinth_sql.draft_relationship WITH (security_barrier) AS
  SELECT u.base_id, u.id, u.rel_type, u.source_record_type, u.source_id, u.target_record_type, u.target_id,
    u.external_id, u.external_source, u.data, u.version, u.created_at, u.updated_at
  FROM (
    SELECT x.base_id, x.id, x.rel_type, x.source_record_type, x.source_id, x.source_row, x.target_record_type,
      x.target_id, x.target_row, x.external_id, x.external_source, x.data, x.version, x.created_at, x.updated_at, x.base_id AS home, false AS is_draft
    FROM plinth.relationship x
    UNION ALL
    SELECT d.base_id, d.id, d.rel_type, d.source_record_type, d.source_id, d.source_row, d.target_record_type,
      d.target_id, d.target_row, d.external_id, d.external_source, d.data, d.version, d.created_at, d.updated_at, d.home, true
    FROM plinth.draft_relationship d) u
  WHERE u.base_id = split_part((SELECT plinth.sql_change_set()), '--', 1)
    AND (u.is_draft AND u.home = (SELECT plinth.sql_change_set()) OR NOT u.is_draft AND NOT EXISTS (
      SELECT FROM plinth.draft_relationship o WHERE o.branch = (SELECT plinth.sql_change_set()) AND o.id = u.id))
    AND NOT EXISTS (
      SELECT FROM plinth.draft_record o
      WHERE o.branch = (SELECT plinth.sql_change_set()) AND o.record_type = u.source_record_type AND o.id = u.source_id
        AND (o.gone OR o.row_no <> u.source_row))
    AND NOT EXISTS (
      SELECT FROM plinth.draft_record o
      WHERE o.branch = (SELECT plinth.sql_change_set()) AND o.record_type = u.target_record_type AND o.id = u.target_id
        AND (o.gone OR o.row_no <> u.target_row))
    AND (NOT u.is_draft OR (
      EXISTS (SELECT FROM plinth.record r WHERE r.row_no = u.source_row)
      OR EXISTS (SELECT FROM plinth.draft_record o WHERE o.row_no = u.source_row AND o.branch = (SELECT plinth.sql_change_set())))
    AND (
      EXISTS (SELECT FROM plinth.record r WHERE r.row_no = u.target_row)
      OR EXISTS (SELECT FROM plinth.draft_record o WHERE o.row_no = u.target_row AND o.branch = (SELECT plinth.sql_change_set()))))
    AND CASE WHEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*' THEN true
      ELSE (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user)
        ?& ARRAY[u.source_record_type, u.target_record_type] END;

-- As before. A deletion takes what production has, also where the change-set had changed it before.
CREATE OR REPLACE FUNCTION plinth_draft.changes(here text) RETURNS SETOF plinth.change LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT d.base_id, NULL::xid8, c.position, c.at, 'record', d.record_type, d.id,
    CASE WHEN d.gone THEN 'delete' WHEN d.base_version IS NULL THEN 'create'
      WHEN jsonb_build_object('data', d.data) <@ d.base AND (d.cancelled_at IS NULL) <> (d.base ->> 'status' = 'active')
      THEN CASE WHEN d.cancelled_at IS NULL THEN 'restore' ELSE 'cancel' END
      ELSE 'update' END,
    d.version + d.gone::int, CASE WHEN d.gone THEN d.base -> 'data' ELSE d.data END,
    CASE WHEN d.gone THEN d.base ->> 'external_source' ELSE d.external_source END,
    CASE WHEN d.gone THEN d.base ->> 'external_id' ELSE d.external_id END,
    CASE WHEN NOT d.gone THEN d.cancelled_at WHEN d.base ->> 'status' = 'cancelled' THEN d.updated_at END,
    c.token_id, c.actor_name, c.via, c.request_id, NULL::text, d.created_at, c.call, c.actor_kind
  FROM plinth.draft_record d JOIN plinth.draft_change c
    ON c.branch = d.branch AND c.kind = 'record' AND c.record_type = d.record_type AND c.id = d.id
  WHERE d.branch = here AND plinth_draft.differs(d)
  UNION ALL
  SELECT d.base_id, NULL, NULL, d.updated_at, 'record', d.record_type, d.id, 'update', d.base_version, d.base -> 'data',
    d.base ->> 'external_source', d.base ->> 'external_id', CASE d.base ->> 'status' WHEN 'cancelled' THEN d.updated_at END,
    NULL, '', '', '', NULL, d.created_at, NULL, NULL
  FROM plinth.draft_record d WHERE d.branch = here AND d.base_version IS NOT NULL
  UNION ALL
  SELECT d.base_id, NULL, c.position, c.at, 'relationship', NULL, d.id,
    CASE WHEN d.gone THEN 'delete' WHEN d.base_version IS NULL THEN 'create' ELSE 'update' END,
    d.version + d.gone::int, CASE WHEN d.gone THEN d.base ELSE plinth_draft.content(d) END, NULL, NULL, NULL,
    c.token_id, c.actor_name, c.via, c.request_id, NULL, NULL, c.call, c.actor_kind
  FROM plinth.draft_relationship d JOIN plinth.draft_change c
    ON c.branch = d.branch AND c.kind = 'relationship' AND c.record_type = '' AND c.id = d.id
  WHERE d.branch = here AND plinth_draft.differs(d)
  UNION ALL
  SELECT d.base_id, NULL, NULL, d.updated_at, 'relationship', NULL, d.id, 'update', d.base_version, d.base, NULL, NULL, NULL,
    NULL, '', '', '', NULL, NULL, NULL, NULL
  FROM plinth.draft_relationship d WHERE d.branch = here AND d.base_version IS NOT NULL
$$;
