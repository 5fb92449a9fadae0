-- A person and the clients that the person has allowed are one reviewer. A client approves nothing that the person wrote, as
-- it would for the person; the person may approve what a client wrote.
CREATE OR REPLACE FUNCTION plinth_draft.approvals(at text) RETURNS TABLE (who text, resources jsonb) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT v.who, v.resources
  FROM plinth.change_set c
  JOIN plinth.base b ON b.id = split_part(at, '--', 1)
  JOIN LATERAL (
    SELECT r.*, a.granted_by, coalesce(t.signed_in_by, r.token_id, r.actor_name) AS own,
      coalesce(t.signed_in_by, a.granted_by, r.token_id, r.actor_name) AS who
    FROM plinth.change_set_review r LEFT JOIN plinth.token t ON t.id = r.token_id
      LEFT JOIN plinth.oauth_authorization a ON a.token_id = r.token_id
    WHERE r.branch = at AND r.revision = c.revision AND r.verdict <> 'comment') v ON v.verdict = 'approve'
  WHERE c.base_id = at
    AND NOT EXISTS (
      SELECT FROM plinth.change_set_review l LEFT JOIN plinth.token t ON t.id = l.token_id
        LEFT JOIN plinth.oauth_authorization a ON a.token_id = l.token_id
      WHERE l.branch = at AND l.revision = c.revision AND l.id > v.id AND l.verdict IN ('request_changes', 'reject')
        AND coalesce(t.signed_in_by, a.granted_by, l.token_id, l.actor_name) = v.who)
    AND (coalesce((b.settings #>> '{change_sets,self_approval}')::boolean, true) OR NOT EXISTS (
      SELECT FROM unnest(c.writers || c.token_id) w (id) LEFT JOIN plinth.token t ON t.id = w.id
      WHERE coalesce(t.signed_in_by, w.id) IN (v.own, v.granted_by)))
$$;
