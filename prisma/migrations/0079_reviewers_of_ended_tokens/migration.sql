-- Who wrote, asked or reviewed is known when they do it. The row of the token is gone once a tab is closed or a client is revoked: read
-- only then, a tab would be a reviewer besides its token.

-- The token that a tab was opened with, or the token itself.
CREATE FUNCTION plinth.own_token(token text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT t.signed_in_by FROM plinth.token t WHERE t.id = token), token)
$$;

ALTER TABLE plinth.review_request ADD COLUMN own_token text;
ALTER TABLE plinth.change_set_review
  ADD COLUMN own_token text,
  -- The token of the person: of a client, the one that allowed it.
  ADD COLUMN reviewer text;

CREATE FUNCTION plinth.keep_own_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.own_token := plinth.own_token(NEW.token_id);
  RETURN NEW;
END $$;
CREATE TRIGGER keep_own_token BEFORE INSERT ON plinth.review_request FOR EACH ROW EXECUTE FUNCTION plinth.keep_own_token();

CREATE FUNCTION plinth.keep_reviewer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.own_token := coalesce(plinth.own_token(NEW.token_id), NEW.actor_name);
  NEW.reviewer := coalesce((SELECT a.granted_by FROM plinth.oauth_authorization a WHERE a.token_id = NEW.own_token), NEW.own_token);
  RETURN NEW;
END $$;
CREATE TRIGGER keep_reviewer BEFORE INSERT ON plinth.change_set_review FOR EACH ROW EXECUTE FUNCTION plinth.keep_reviewer();

UPDATE plinth.review_request SET own_token = plinth.own_token(token_id);
UPDATE plinth.change_set_review SET own_token = coalesce(plinth.own_token(token_id), actor_name);
UPDATE plinth.change_set_review r SET reviewer = coalesce(
  (SELECT a.granted_by FROM plinth.oauth_authorization a WHERE a.token_id = r.own_token), r.own_token);
UPDATE plinth.change_set SET writers = ARRAY(
  SELECT DISTINCT plinth.own_token(w.id) FROM unnest(writers || token_id) w (id) WHERE w.id IS NOT NULL);

CREATE OR REPLACE FUNCTION plinth_draft.keep_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.seq := nextval('plinth.draft_position');
  INSERT INTO plinth.draft_change AS c (branch, kind, record_type, id, position, at, token_id, actor_name, via, actor_kind, request_id, call)
  VALUES (plinth_draft.here(), NEW.kind, coalesce(NEW.record_type, ''), NEW.id, NEW.seq, now(), NEW.token_id, NEW.actor_name,
    NEW.via, NEW.actor_kind, NEW.request_id, NEW.call)
  ON CONFLICT (branch, kind, record_type, id) DO UPDATE SET position = excluded.position, at = excluded.at,
    token_id = excluded.token_id, actor_name = excluded.actor_name, via = excluded.via, actor_kind = excluded.actor_kind,
    request_id = excluded.request_id, call = excluded.call;
  UPDATE plinth.change_set c SET revision = revision + 1, status = 'open', written_at = now(), written_by = pg_current_xact_id(),
    writers = CASE WHEN o.id IS NULL OR o.id = ANY (writers) THEN writers ELSE writers || o.id END
  FROM plinth.own_token(NEW.token_id) o (id)
  WHERE base_id = plinth_draft.here() AND written_by IS DISTINCT FROM pg_current_xact_id();
  PERFORM set_config('plinth.drafted', (plinth_draft.drafted() + 1)::text, true),
    set_config('plinth.drafted_bytes', (plinth_draft.drafted_bytes() + coalesce(pg_column_size(NEW.data), 0))::text, true);
  RETURN NEW;
END $$;

-- The approvals that count: of the present revision, not taken back by the same reviewer, and of nobody who opened it or wrote in it
-- where the base says so. A client approves nothing that its person wrote; the person may approve what a client wrote.
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
    AND (coalesce((b.settings #>> '{change_sets,self_approval}')::boolean, true) OR NOT c.writers && ARRAY[r.own_token, r.reviewer])
$$;
