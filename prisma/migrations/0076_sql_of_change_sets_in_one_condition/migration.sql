-- As before, in the form that plinth_draft.records has since migration 70: each arm has a constant in the place of `is_draft`, so each
-- is asked for one base, and whether a draft overrides a row of production alone.
CREATE OR REPLACE VIEW plinth_sql.draft_record WITH (security_barrier) AS
  SELECT u.base_id, u.record_type, u.id, u.external_id, u.external_source,
    CASE WHEN u.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END AS status,
    u.version, u.created_at, u.updated_at, u.data
  FROM (
    SELECT x.base_id, x.record_type, x.id, x.external_source, x.external_id, x.data, x.version, x.cancelled_at, x.created_at,
      x.updated_at, x.base_id AS home, false AS is_draft
    FROM plinth.record x
    UNION ALL
    SELECT d.base_id, d.record_type, d.id, d.external_source, d.external_id, d.data, d.version, d.cancelled_at, d.created_at,
      d.updated_at, d.home, true
    FROM plinth.draft_record d) u
  WHERE u.base_id = split_part((SELECT plinth.sql_change_set()), '--', 1)
    AND (u.is_draft AND u.home = (SELECT plinth.sql_change_set()) OR NOT u.is_draft AND NOT EXISTS (
      SELECT FROM plinth.draft_record o
      WHERE o.branch = (SELECT plinth.sql_change_set()) AND o.record_type = u.record_type AND o.id = u.id))
    AND CASE WHEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*' THEN true
      ELSE (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? u.record_type END;

CREATE OR REPLACE VIEW plinth_sql.draft_relationship WITH (security_barrier) AS
  SELECT u.base_id, u.id, u.rel_type, u.source_record_type, u.source_id, u.target_record_type, u.target_id,
    u.external_id, u.external_source, u.data, u.version, u.created_at, u.updated_at
  FROM (
    SELECT x.base_id, x.id, x.rel_type, x.source_record_type, x.source_id, x.target_record_type, x.target_id,
      x.external_id, x.external_source, x.data, x.version, x.created_at, x.updated_at, x.base_id AS home, false AS is_draft
    FROM plinth.relationship x
    UNION ALL
    SELECT d.base_id, d.id, d.rel_type, d.source_record_type, d.source_id, d.target_record_type, d.target_id,
      d.external_id, d.external_source, d.data, d.version, d.created_at, d.updated_at, d.home, true
    FROM plinth.draft_relationship d) u
  WHERE u.base_id = split_part((SELECT plinth.sql_change_set()), '--', 1)
    AND (u.is_draft AND u.home = (SELECT plinth.sql_change_set()) OR NOT u.is_draft AND NOT EXISTS (
      SELECT FROM plinth.draft_relationship o WHERE o.branch = (SELECT plinth.sql_change_set()) AND o.id = u.id))
    AND CASE WHEN (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user) ? '*' THEN true
      ELSE (SELECT g.record_types FROM plinth.sql_grant g WHERE g.role = session_user)
        ?& ARRAY[u.source_record_type, u.target_record_type] END;
