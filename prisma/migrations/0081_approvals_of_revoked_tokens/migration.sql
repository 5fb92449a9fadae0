-- Who revokes a token that somebody else got hold of takes back what it approved, too. A tab that is closed is no revocation: its token is
-- there. Tokens of an outside issuer have no row, and end by themselves.
CREATE OR REPLACE FUNCTION plinth_draft.approvals(at text) RETURNS TABLE (who text, resources jsonb) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT r.reviewer, r.resources
  FROM plinth.change_set c
  JOIN plinth.base b ON b.id = split_part(at, '--', 1)
  JOIN plinth.change_set_review r ON r.branch = at AND r.revision = c.revision AND r.verdict = 'approve'
  WHERE c.base_id = at
    AND NOT EXISTS (
      SELECT FROM plinth.change_set_review l
      WHERE l.branch = at AND l.revision = c.revision AND l.id > r.id AND l.verdict IN ('request_changes', 'reject')
        AND l.reviewer = r.reviewer)
    AND (r.own_token LIKE 'oauth:%' OR EXISTS (SELECT FROM plinth.token t WHERE t.id = r.own_token))
    AND (coalesce((b.settings #>> '{change_sets,self_approval}')::boolean, true) OR NOT c.writers && ARRAY[r.own_token, r.reviewer])
$$;
