-- The life of a change-set: it is submitted, reviewed, sent back, merged, rejected or expired.
ALTER TABLE plinth.change_set
  DROP CONSTRAINT change_set_status,
  ADD CONSTRAINT change_set_status
    CHECK (status IN ('open', 'submitted', 'approved', 'changes_requested', 'merged', 'rejected', 'expired')),
  -- The tokens that wrote in it.
  ADD COLUMN writers text[] NOT NULL DEFAULT '{}',
  -- How many entries of the log of production are about it.
  ADD COLUMN steps integer NOT NULL DEFAULT 0,
  ADD COLUMN closed_at timestamptz(3);
UPDATE plinth.change_set c SET closed_at = now() WHERE status = 'merged';
UPDATE plinth.change_set c SET writers = ARRAY(
  SELECT DISTINCT d.token_id FROM plinth.draft_change d WHERE d.branch = c.base_id AND d.token_id IS NOT NULL);
UPDATE plinth.change_set c SET status = 'submitted' WHERE status = 'open' AND EXISTS (
  SELECT FROM plinth.review_request q WHERE q.from_base = c.base_id AND q.state = 'open');

CREATE TABLE plinth.change_set_review (
  branch     text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  verdict    text NOT NULL,
  revision   integer NOT NULL,
  resources  jsonb,
  -- The record types of these.
  types      text[] NOT NULL DEFAULT '{}',
  text       text,
  token_id   text,
  actor_name text NOT NULL,
  via        text NOT NULL,
  actor_kind text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT change_set_review_pkey PRIMARY KEY (branch, id),
  CONSTRAINT change_set_review_branch FOREIGN KEY (branch) REFERENCES plinth.change_set (base_id) ON DELETE CASCADE,
  CONSTRAINT change_set_review_verdict CHECK (verdict IN ('comment', 'approve', 'request_changes', 'reject'))
);
CREATE INDEX change_set_review_newest ON plinth.change_set_review (branch, created_at, id);
ALTER TABLE plinth.review_request ADD COLUMN revision integer;

-- Keeps the last writer of a draft. The first write of a transaction raises the revision, which no approval is of, and opens
-- again what was submitted.
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
  RETURN NEW;
END $$;

-- How many approvals a promotion of the change-set needs.
CREATE FUNCTION plinth_draft.approvals_needed(at text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((b.settings #>> '{change_sets,approvals}')::int, 0) FROM plinth.base b WHERE b.id = split_part(at, '--', 1)
$$;
-- The approvals that count: of the present revision, not taken back by the same reviewer, and of nobody who wrote in it where
-- the base says so. A token and the tabs of its browser are one reviewer. Without `resources` it is of the whole.
CREATE FUNCTION plinth_draft.approvals(at text) RETURNS TABLE (who text, resources jsonb) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT v.who, v.resources
  FROM plinth.change_set c
  JOIN plinth.base b ON b.id = split_part(at, '--', 1)
  JOIN LATERAL (
    SELECT r.*, coalesce(t.signed_in_by, r.token_id, r.actor_name) AS who
    FROM plinth.change_set_review r LEFT JOIN plinth.token t ON t.id = r.token_id
    WHERE r.branch = at AND r.revision = c.revision AND r.verdict <> 'comment') v ON v.verdict = 'approve'
  WHERE c.base_id = at
    AND NOT EXISTS (
      SELECT FROM plinth.change_set_review l LEFT JOIN plinth.token t ON t.id = l.token_id
      WHERE l.branch = at AND l.revision = c.revision AND l.id > v.id AND l.verdict IN ('request_changes', 'reject')
        AND coalesce(t.signed_in_by, l.token_id, l.actor_name) = v.who)
    AND (coalesce((b.settings #>> '{change_sets,self_approval}')::boolean, true) OR NOT EXISTS (
      SELECT FROM unnest(c.writers || c.token_id) w (id) LEFT JOIN plinth.token t ON t.id = w.id
      WHERE coalesce(t.signed_in_by, w.id) = v.who))
$$;
