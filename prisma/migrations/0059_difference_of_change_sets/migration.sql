-- The difference of a change-set as entries of the change log: of each draft the last write, in the order of positions, and what
-- production had at the first touch, as an entry before it that has no number. So the statements that read the log read it too.
CREATE FUNCTION plinth_draft.changes(here text) RETURNS SETOF plinth.change LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT d.base_id, NULL::xid8, c.position, c.at, 'record', d.record_type, d.id,
    CASE WHEN d.gone THEN 'delete' WHEN d.base_version IS NULL THEN 'create'
      WHEN jsonb_build_object('data', d.data) <@ d.base AND (d.cancelled_at IS NULL) <> (d.base ->> 'status' = 'active')
      THEN CASE WHEN d.cancelled_at IS NULL THEN 'restore' ELSE 'cancel' END
      ELSE 'update' END,
    d.version + d.gone::int, CASE WHEN d.gone THEN d.base -> 'data' ELSE d.data END, d.external_source, d.external_id, d.cancelled_at,
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
